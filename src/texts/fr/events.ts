/** Parts of sentences, in French, in the form that the surrounding sentences need. */
export const partsFr: Readonly<Record<string, string>> = {
  'a machine without a name': 'une machine sans nom',
  'a machine': 'une machine',
  'the provider': 'votre fournisseur',
  'the receiving provider': 'votre fournisseur',
  'no status given': 'sans code d’état',
  'the abuse desk of the network': 'au service abuse du réseau',
  'the abuse desk of {name}': 'au service abuse de {name}',
  'the address that its author takes complaints at':
    'à l’adresse où son auteur reçoit les plaintes',
  'the marketer': 'à l’annonceur',
  'the desk of the domain that signed it': 'au service du domaine qui l’a signé',
  'The abuse desk': 'Le service abuse',
  'The marketer': 'L’annonceur',
  'The desk of its domain': 'Le service de son domaine',
  'Who takes complaints for its author': 'Celui qui reçoit les plaintes pour son auteur',
  spam: 'spam',
  phishing: 'hameçonnage',
  malware: 'logiciels malveillants',
}

/** Events of a report, and why it was forwarded or not, in French. */
export const happenedFr: Readonly<Record<string, string>> = {
  'It came from {ip} ({n} % sure).': 'Il vient de {ip} (sûr à {n}\u00a0%).',
  'The origin could not be found.': 'L’origine n’a pas pu être trouvée.',
  'The reporter says that this is not spam.': 'Vous dites que ce n’est pas un spam.',
  'A mail system wrote this message: the spammer is not behind the relay that sent it.':
    'Un système de messagerie a écrit ce message\u00a0: le spammeur n’est pas derrière la ' +
    'machine qui l’a envoyé.',
  'A mail server learned it; nobody reported it.':
    'Un serveur de messagerie l’a appris\u00a0; personne ne l’a signalé.',
  'It looks like wanted mail.': 'Il ressemble à un courrier souhaité.',
  'The verdict is undecided.': 'Nous n’avons pas pu nous décider.',
  'Hardly more than its content speaks against it, and on that alone nobody is told.':
    'Presque rien d’autre que son contenu ne parle contre lui, et cela seul ne suffit pas ' +
    'pour prévenir quelqu’un.',
  'It is mail in bulk that says how to unsubscribe.':
    'C’est un envoi en nombre qui dit comment se désabonner.',
  'Nobody is accused.': 'Personne n’est accusé.',
  'The origin is too uncertain to tell its network.':
    'L’origine est trop incertaine pour prévenir son réseau.',
  'The reporter is asked.': 'Nous vous posons une question.',
  'An administrator said that nobody is to be written to for this network.':
    'Un administrateur a demandé de n’écrire à personne pour ce réseau.',
  'An abuse desk enrolled for {name}, where the origin is.':
    'Un service abuse s’est inscrit pour {name}, où se trouve l’origine.',
  'The network {ip} answers for the origin and has an abuse contact.':
    'Le réseau {ip} répond de l’origine et a un contact pour les abus.',
  '{name} answers for the origin and has an abuse contact.':
    '{name} répond de l’origine et a un contact pour les abus.',
  'The registries are asked who answers for the origin.':
    'Nous demandons aux registres qui répond de l’origine.',
  'No registry could be asked who answers for the origin.':
    'Aucun registre n’a pu nous dire qui répond de l’origine.',
  'No imported network table knows the origin.':
    'Aucune de nos tables de réseaux ne connaît l’origine.',
  'The network has no known abuse contact.':
    'On ne connaît à ce réseau aucun contact pour les abus.',
  'No abuse contact is registered for {name}.':
    'Aucun contact pour les abus n’est enregistré pour {name}.',
  'The abuse address of this network is our own, or the reporter’s.':
    'L’adresse pour les abus de ce réseau est la nôtre, ou la vôtre.',
  'Every known abuse address of this network bounces.':
    'Toutes les adresses connues de ce réseau pour les abus refusent le courrier.',
  'The abuse desk has not enrolled, and only enrolled ones are written to.':
    'Le service abuse ne s’est pas inscrit, et nous n’écrivons qu’aux inscrits.',
  'Reports to this abuse desk are stopped.': 'Les rapports à ce service abuse sont arrêtés.',
  'The abuse address of this network is not to be written to.':
    'Nous n’écrivons pas à l’adresse de ce réseau pour les abus.',
  'Reports to this abuse desk are paused.': 'Les rapports à ce service abuse sont en pause.',
  'The abuse desk takes no reports of {whom}.':
    'Le service abuse ne prend pas de rapports de {whom}.',
  'The message asks for complaints of it, and its signature vouches for that.':
    'Le message demande lui-même qu’on lui envoie les plaintes, et sa signature le confirme.',
  '{name} is told, as it wishes.': '{name} est prévenu, comme il le souhaite.',
  'Who enrolled for mail of {host} is told.':
    'Celui qui s’est inscrit pour le courrier de {host} est prévenu.',
  '{host} signed the message, and the signature verifies: that is how {name} is known.':
    '{host} a signé le message, et la signature est valable\u00a0: c’est ainsi que nous ' +
    'reconnaissons {name}.',
  '{host} signed the message, and the signature verifies, {rest}: that is how {name} is known.':
    '{host} a signé le message, et la signature est valable\u00a0: c’est ainsi que nous ' +
    'reconnaissons {name}.',
  'The message came from {ip}, in the range {rest}: that is how {name} is known.':
    'Le message vient de {ip}\u00a0: c’est ainsi que nous reconnaissons {name}.',
  'Reports to this consumer are stopped.': 'Les rapports à ce destinataire sont arrêtés.',
  'The address is not to be written to.': 'Nous n’écrivons pas à cette adresse.',
  'The consumer is paused.': 'Les rapports à ce destinataire sont en pause.',
  'Mail to the consumer comes back.': 'Le courrier au destinataire revient.',
  'It was handed over on {day}, more than {n} hours before it was reported.':
    'Il a été remis le {day}, plus de {n} heures avant d’être signalé.',
  'No trusted line tells a believable time, so its age is unknown.':
    'Aucune ligne fiable ne donne une heure vraisemblable\u00a0: son âge est inconnu.',
  'Nobody is told, and it counts for nothing.': 'Personne n’est prévenu, et rien n’est compté.',
  'The report was taken back.': 'Le signalement a été retiré.',
  'Only who enrolled is told.': 'Seuls les inscrits sont prévenus.',
  'The feedback report was called back before it left.':
    'Le rapport a été rappelé avant son départ.',
  'A feedback report for {whom} is written and held: sending is switched off.':
    'Un rapport destiné {whom} est prêt et attend\u00a0: l’envoi est désactivé.',
  'A report that takes the complaint back for {whom} is written and held: sending is switched off.':
    'Un rapport qui retire la plainte, destiné {whom}, est prêt et attend\u00a0: l’envoi est ' +
    'désactivé.',
  'A feedback report was sent to {whom}.': 'Un rapport a été envoyé {whom}.',
  'A report that takes the complaint back was sent to {whom}.':
    'Un rapport qui retire la plainte a été envoyé {whom}.',
  'Our mail server refused the feedback report for {whom}.':
    'Notre serveur de messagerie a refusé le rapport destiné {whom}.',
  'Our mail server refused a report that takes the complaint back for {whom}.':
    'Notre serveur de messagerie a refusé le rapport qui retire la plainte, destiné {whom}.',
  'It tells of this message together with others.': 'Il parle de ce message et d’autres à la fois.',
  'It is told together with others in one mail.':
    'Il est signalé avec d’autres dans un même courrier.',
  'Another report of the same campaign is told as its sample, and counts this one.':
    'Un autre signalement de la même campagne est envoyé comme exemple, et compte celui-ci.',
  'The feedback report came back undelivered ({maybe}).':
    'Le rapport est revenu sans avoir été remis ({maybe}).',
  'Who was to be told wants no more of them: the feedback report was called back.':
    'Celui qui devait être prévenu n’en veut plus\u00a0: le rapport a été rappelé.',
  '{speaker} says that it has dealt with it.': '{speaker} dit avoir traité le problème.',
  '{speaker} says that the address is not in its network.':
    '{speaker} dit que l’adresse n’est pas dans son réseau.',
  '{speaker} says that the report is wrong.': '{speaker} dit que le signalement est erroné.',
  '{speaker} asked for no more feedback reports.': '{speaker} ne veut plus de rapports.',
  'The next abuse address of the network is told.':
    'L’adresse suivante du réseau pour les abus est prévenue.',
  'The desk says that it is not its network: the registries are asked.':
    'Le service dit que ce n’est pas son réseau\u00a0: nous interrogeons les registres.',
  'The reporter wants {host} to be asked, once.':
    'Vous voulez que nous le demandions à {host}, une seule fois.',
  'A letter says how to unsubscribe.': 'Un courrier vous dit comment vous désabonner.',
  'More is known of the reporter’s mail servers: it is looked at again.':
    'Nous en savons plus sur vos serveurs de messagerie\u00a0: il est examiné de nouveau.',
  'The reporter does not know which of the machines belong to the mail provider.':
    'Vous ne savez pas lesquelles des machines appartiennent à votre fournisseur.',
  'The reporter says of {n} of the machines that they belong to the mail provider.':
    'Vous dites de {n} des machines qu’elles appartiennent à votre fournisseur.',
  'The reporter says that none of the machines belongs to the mail provider.':
    'Vous dites qu’aucune des machines n’appartient à votre fournisseur.',
  'The reporter now says that this is spam.': 'Vous dites maintenant que c’est un spam.',
  'The reporter now says that this is phishing.':
    'Vous dites maintenant que c’est de l’hameçonnage.',
  'The reporter now says that this is not spam.': 'Vous dites maintenant que ce n’est pas un spam.',
  'The reporter took it back.': 'Vous l’avez retiré.',
  'An administrator took it back.': 'Un administrateur l’a retiré.',
  'Feedback that had not left was called back.':
    'Les rapports qui n’étaient pas partis ont été rappelés.',
  'The analysis failed for good.': 'L’examen a échoué.',
  'Looking for a contact failed for good.': 'La recherche d’un contact a échoué.',
  'Operators find it among the dead letters.': 'Les exploitants en sont avertis.',
  '{host} could not be looked up: {rest}': '{host} n’a pas pu être trouvé.',
  '{host} has no address.': '{host} n’a pas d’adresse.',
  '{host} leads to an address that is not on the Internet.':
    '{host} mène à une adresse qui n’est pas sur Internet.',
  '{host} has taken the request ({n}).': '{host} a accepté la demande ({n}).',
  '{host} sent us on to another page ({n}), where we do not follow.':
    '{host} nous renvoie vers une autre page ({n}), où nous n’allons pas.',
  '{host} did not take the request ({n}).': '{host} n’a pas accepté la demande ({n}).',
  'The link is no longer kept.': 'Le lien n’est plus conservé.',
  'The link cannot be read.': 'Le lien est illisible.',
  'The link is not secure (https).': 'Le lien n’est pas sécurisé (https).',
  'The link carries a name or a password.': 'Le lien contient un nom ou un mot de passe.',
  'The link leads to an unusual port.': 'Le lien mène à un port inhabituel.',
  'The link leads to no public name.': 'Le lien ne mène à aucun nom public.',
  'We may have asked, and cannot tell what became of it.':
    'Nous l’avons peut-être demandé, sans savoir ce qu’il en est advenu.',
  'We do not ask twice.': 'Nous ne demandons pas deux fois.',
}

/** Sentences about the route of a message, in French. */
export const wayFr: Readonly<Record<string, string>> = {
  'The message has no Received line, so nothing tells where it came from.':
    'Le message n’a aucune ligne Received\u00a0: rien ne dit d’où il vient.',
  'Every line was written inside the provider: the message seems to have begun there.':
    'Toutes les lignes ont été écrites chez votre fournisseur\u00a0: le message semble y ' +
    'être né.',
  'Line {n} cannot be read.': 'La ligne {n} est illisible.',
  'Line {n} tells that the mail was fetched.': 'La ligne {n} dit que le courrier a été relevé.',
  '{ip} is a given trusted relay.': '{ip} est un de vos serveurs de messagerie.',
  '{ip} brought nearly all that the reporter reported so far.':
    '{ip} a apporté presque tout ce que vous avez signalé jusqu’ici.',
  '{ip} is the receiving machine itself.': '{ip} est la machine de réception elle-même.',
  '{host} belongs to {maybe}.': '{host} appartient à {maybe}.',
  '{host} calls itself a machine of {name}.': '{host} se présente comme une machine de {name}.',
  '{ip} cannot be reached from the Internet.': '{ip} n’est pas joignable depuis Internet.',
  'The message seems to have begun inside an internal network.':
    'Le message semble être né dans un réseau interne.',
  'The message seems to have begun inside {name}.': 'Le message semble être né chez {name}.',
  'Line {n} should be written by {name}, but is not.':
    'La ligne {n} devrait être écrite par {name}, mais ne l’est pas.',
  "{ip} is one of {name}'s own machines.": '{ip} est une des machines de {name}.',
  'Line {n} names nobody who handed the message over.':
    'La ligne {n} ne nomme personne qui aurait remis le message.',
  'Line {n}: a program or user of {maybe} handed it in.':
    'Ligne {n}\u00a0: un programme ou un utilisateur de {maybe} l’a déposé.',
  'Line {n}: a user handed the message in.': 'Ligne {n}\u00a0: un utilisateur a déposé le message.',
  'Line {n} is a hand-over inside the same organization.':
    'La ligne {n} est une remise au sein de la même structure.',
  'Line {n} is a hand-over inside {maybe}.':
    'La ligne {n} est une remise à l’intérieur de {maybe}.',
  'Line {n} is a hand-over to a mailbox.': 'La ligne {n} est la remise à une boîte aux lettres.',
  'Line {n} is a hand-over on the same machine.':
    'La ligne {n} est une remise sur la même machine.',
  'Line {n} gives no address for the peer.':
    'La ligne {n} ne donne pas l’adresse de la machine en face.',
  '{ip} is an address of an internal network.': '{ip} est une adresse de réseau interne.',
  'The topmost lines were written by {name}, where the message was received.':
    'Les lignes du haut ont été écrites par {name}, où le message a été reçu.',
  'The topmost line was written by the provider where the message was received.':
    'La ligne du haut a été écrite par le fournisseur qui a reçu le message.',
  'Line {n}: {maybe} saw {ip} ({peer}) hand the message over, one of those it sends from.':
    'Ligne {n}\u00a0: {maybe} a vu {ip} ({peer}) remettre le message, une des machines dont il ' +
    'envoie lui-même.',
  'Line {n}: {maybe} saw {ip} ({peer}) hand the message over, a machine that it does not run.':
    'Ligne {n}\u00a0: {maybe} a vu {ip} ({peer}) remettre le message, une machine qui n’est ' +
    'pas la sienne.',
  ['The Received lines stand below what the author wrote, where no receiver puts them: they may ' +
  'be invented.']:
    'Les lignes Received sont placées sous ce que l’auteur a écrit, là où aucun serveur ne ' +
    'les met\u00a0: elles peuvent être inventées.',
  '{host} says that {ip} may send its mail (SPF).':
    '{host} dit que {ip} a le droit d’envoyer son courrier (SPF).',
  '{host} lists {ip}: {rest}': 'La liste {host} contient {ip}.',
  'Line {n}: {name} took the message from its customer at {ip}.':
    'Ligne {n}\u00a0: {name} a pris le message de son client à l’adresse {ip}.',
  'Line {n}: {name} took the message from its customer at {ip}, and sealed that.':
    'Ligne {n}\u00a0: {name} a pris le message de son client à l’adresse {ip}, et y a mis ' +
    'son sceau.',
  'Line {n}: {name} saw the message handed over by {ip}.':
    'Ligne {n}\u00a0: {name} a vu {ip} remettre le message.',
  'Line {n}: {name} saw the message handed over by {ip}, and sealed that.':
    'Ligne {n}\u00a0: {name} a vu {ip} remettre le message, et y a mis son sceau.',
  'A seal of {name} names {ip} as the client.': 'Un sceau de {name} nomme {ip} comme client.',
  'The field {host}, which {name} writes, names {ip}.':
    'Le champ {host}, écrit par {name}, nomme {ip}.',
  'This line cannot be read.': 'Cette ligne est illisible.',
  'It stands below a line that was invented.': 'Elle se trouve sous une ligne inventée.',
  '{name} handed the message over, and wrote this line about itself.':
    '{name} a remis le message, et a écrit cette ligne sur lui-même.',
  '{name} took the message for the receiver and handed it on.':
    '{name} a pris le message pour le destinataire et l’a transmis.',
  '{name} took the message for the reporter and forwarded it.':
    '{name} a pris le message pour vous et vous l’a fait suivre.',
  'The mailing list {host} handed the message on, and sealed whom it came from.':
    'La liste de diffusion {host} a transmis le message, et a scellé de qui il venait.',
  'It says {name} wrote it, but it did not come from there.':
    'Elle dit que {name} l’a écrite, mais elle ne vient pas de là.',
  'Its writer is not the machine that the line above names.':
    'Celui qui l’a écrite n’est pas la machine que nomme la ligne du dessus.',
  'Its time is later than that of the line above it.':
    'Son heure est plus tardive que celle de la ligne du dessus.',
  'No machine can have the address {ip}.': 'Aucune machine ne peut avoir l’adresse {ip}.',
  'The peer called itself {ip}, which is not its address.':
    'La machine en face s’est présentée comme {ip}, qui n’est pas son adresse.',
  'It gives a date where the address of the peer belongs.':
    'Elle donne une date là où devrait être l’adresse de la machine.',
  'Only machines of {name} write "with {name2}".':
    'Seules les machines de {name} écrivent «\u00a0with {name2}\u00a0».',
  'It has no identifier, and its writer has nothing to do with this message.':
    'Elle n’a pas d’identifiant, et celui qui l’a écrite n’a rien à voir avec ce message.',
}
