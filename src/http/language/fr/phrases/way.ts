/** What is said of the way of a message, in French. */
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
