/** Meanings of the shipped rules about route and header, in French. */
export const symbolsFr: Readonly<Record<string, string>> = {
  'A mail system wrote this: a bounce, an automatic reply or a feedback report.':
    'Un système de messagerie l’a écrit\u00a0: un rebond, une réponse automatique ou un ' +
    'rapport.',
  'A DNS blacklist knows the origin as a source of spam or as taken over.':
    'Une liste noire DNS connaît l’origine comme source de spam ou comme machine piratée.',
  'A DNS welcome list vouches for the origin.':
    'Une liste blanche DNS se porte garante de l’origine.',
  'A DNS blacklist knows a domain in the message for phishing or malware.':
    'Une liste noire DNS connaît un domaine du message pour de l’hameçonnage ou des ' +
    'logiciels malveillants.',
  'A DNS blacklist knows a domain in the message for spam.':
    'Une liste noire DNS connaît un domaine du message pour du spam.',
  'A DNS blacklist knows a domain in the message as taken over.':
    'Une liste noire DNS connaît un domaine du message comme piraté.',
  'A DNS blacklist knows the origin as a line, and it is no customer of the receiver.':
    'Une liste noire DNS connaît l’origine comme une simple ligne d’abonné, et ce n’est pas ' +
    'un client de votre fournisseur.',
  'Three DNS blacklists and more know the origin or a domain as bad.':
    'Au moins trois listes noires DNS tiennent l’origine ou un domaine pour mauvais.',
  'A Received line below the hand-over was invented.':
    'Une ligne Received située sous la remise a été inventée.',
  'A Received line is later than the one above it.':
    'Une ligne Received est plus tardive que celle du dessus.',
  'A Received line names an address that no machine can have.':
    'Une ligne Received nomme une adresse qu’aucune machine ne peut avoir.',
  'A machine called itself by an address that it does not have.':
    'Une machine s’est présentée avec une adresse qui n’est pas la sienne.',
  'A Received line says that a known provider wrote it, and none did.':
    'Une ligne Received prétend être d’un fournisseur connu, et ce n’est pas le cas.',
  'The origin has the name of a line, not of a mail server, and is nobody’s customer.':
    'L’origine porte le nom d’une ligne d’abonné, pas d’un serveur de messagerie, et n’est ' +
    'cliente de personne.',
  'The origin called itself by an address.':
    'L’origine s’est présentée par une adresse au lieu d’un nom.',
  'The origin called itself by a name without a dot.':
    'L’origine s’est présentée par un nom sans point.',
  'The client of the mail server has no name of the Internet for itself.':
    'Le client du serveur de messagerie n’a pas de nom valable sur Internet.',
  'The return path is that of a bounce, but no mail system wrote it.':
    'L’adresse de retour est celle d’un rebond, mais aucun système de messagerie n’a écrit ' +
    'ce message.',
  'The domain of the return path says that the origin may not send its mail.':
    'Le domaine de l’adresse de retour dit que l’origine n’a pas le droit d’envoyer son ' +
    'courrier.',
  'The domain of the return path thinks that the origin should not send its mail.':
    'Le domaine de l’adresse de retour pense que l’origine ne devrait pas envoyer son courrier.',
  'The author’s domain does not stand behind it, and asks to refuse such mail.':
    'Le domaine de l’auteur ne se porte pas garant du message, et demande de refuser ce ' +
    'genre de courrier.',
  'The author’s domain does not stand behind it, and asks to suspect such mail.':
    'Le domaine de l’auteur ne se porte pas garant du message, et demande de s’en méfier.',
  'The author claims a free mailbox whose provider does not stand behind it.':
    'L’auteur prétend écrire d’une boîte gratuite dont le fournisseur ne se porte pas garant.',
  'It was checked, and neither a signature nor SPF speaks for anybody.':
    'C’est vérifié\u00a0: ni signature ni SPF ne parlent pour qui que ce soit.',
  'The author’s domain stands behind it, and is no free mail provider.':
    'Le domaine de l’auteur se porte garant du message, et n’est pas un fournisseur de ' +
    'boîtes gratuites.',
  'Those who passed it on vouch for what they saw, and their seals are whole.':
    'Ceux qui l’ont transmis se portent garants de ce qu’ils ont vu, et leurs sceaux sont ' +
    'intacts.',
  'There is no Date field.': 'Il n’y a pas de date.',
  'The Date field names no date.': 'Le champ Date ne contient pas de date.',
  'It is dated half a day and more after it was received.':
    'Il est daté d’au moins une demi-journée après sa réception.',
  'It is dated four days and more before it was received, and is of no list.':
    'Il est daté d’au moins quatre jours avant sa réception, et ne vient d’aucune liste.',
  'There is no From field, or no address with a domain in it.':
    'Il n’y a pas de champ From, ou pas d’adresse avec un domaine.',
  'There is more than one From field, or more than one author.':
    'Il y a plusieurs champs From, ou plusieurs auteurs.',
  'A field that stands once in honest mail stands twice.':
    'Un champ qui n’apparaît qu’une fois dans un courrier honnête apparaît deux fois.',
  'There is no Message-ID.': 'Il n’y a pas de Message-ID.',
  'The Message-ID is not of the usual form.': 'Le Message-ID n’a pas la forme habituelle.',
  'The Message-ID names no domain of the Internet, and it is of no list.':
    'Le Message-ID ne nomme aucun domaine d’Internet, et le message ne vient d’aucune liste.',
  'Most letters of a longer subject are capitals.':
    'La plupart des lettres d’un objet assez long sont des majuscules.',
  'The subject has three exclamation marks and more.':
    'L’objet contient au moins trois points d’exclamation.',
  'The subject is disguised from programs.': 'L’objet est déguisé pour tromper les programmes.',
  'The subject calls the recipient by the mail address, and the author is no list.':
    'L’objet appelle le destinataire par son adresse, et l’auteur n’est pas une liste.',
  'The subject says that it is a reply, and it is to nothing.':
    'L’objet dit que c’est une réponse, mais elle ne répond à rien.',
  'The subject hides its end behind blanks.': 'L’objet cache sa fin derrière des espaces.',
  'It names no recipient, and is of no list.':
    'Il ne nomme aucun destinataire, et ne vient d’aucune liste.',
  'It is addressed to its author, and to nobody else.':
    'Il est adressé à son auteur, et à personne d’autre.',
  'A message of several parts has no MIME-Version or no boundary.':
    'Un message en plusieurs parties n’a ni MIME-Version ni séparateur.',
  'Subject or From is in base64, though it is plain ASCII.':
    'L’objet ou l’auteur est codé en base64 sans nécessité.',
  'Subject or From has bytes that have to be encoded.':
    'L’objet ou l’auteur contient des octets qui devraient être codés.',
  'Answers go to a free mailbox of somebody else than the author.':
    'Les réponses vont à une boîte gratuite de quelqu’un d’autre que l’auteur.',
  'The program it names does not write such messages, and it is of no list.':
    'Le programme qu’il nomme n’écrit pas de tels messages, et il ne vient d’aucune liste.',
  'A script on a web site wrote it, and one cannot unsubscribe.':
    'Un script sur un site web l’a écrit, et on ne peut pas se désabonner.',
  'It says of itself that it is urgent.': 'Il dit de lui-même qu’il est urgent.',
  'It says that many get it, and not how to unsubscribe.':
    'Il dit que beaucoup le reçoivent, mais pas comment se désabonner.',
  'The author’s domain cannot be on the Internet.':
    'Le domaine de l’auteur ne peut pas exister sur Internet.',
  'The author’s domain has letters that look like others.':
    'Le domaine de l’auteur contient des lettres qui en imitent d’autres.',
  'The display name is the address of another organization.':
    'Le nom affiché est l’adresse d’une autre structure.',
  'The display name has the domain of another organization.':
    'Le nom affiché contient le domaine d’une autre structure.',
  'The display name is disguised from programs.':
    'Le nom affiché est déguisé pour tromper les programmes.',
  'An office writes from a free mailbox.':
    'Un «\u00a0service\u00a0» écrit depuis une boîte gratuite.',
  'The author calls themselves as the recipient’s organization.':
    'L’auteur se fait appeler comme l’structure du destinataire.',
  'The author’s address looks as if made by chance, and it is no list.':
    'L’adresse de l’auteur semble faite au hasard, et ce n’est pas une liste.',
}

/** Meanings of the shipped rules about content and links, in French. */
export const contentSymbolsFr: Readonly<Record<string, string>> = {
  'The author’s free mailbox has five digits and more.':
    'La boîte gratuite de l’auteur contient au moins cinq chiffres.',
  'The author’s domain has many hyphens, digits or labels.':
    'Le domaine de l’auteur contient beaucoup de tirets, de chiffres ou de parties.',
  'A link leads to an address instead of a name.':
    'Un lien mène à une adresse numérique au lieu d’un nom.',
  'A link names an unusual port.': 'Un lien utilise un port inhabituel.',
  'A link has an @ before its host.': 'Un lien contient un @ devant son hôte.',
  'The host of a link has letters that look like others.':
    'L’hôte d’un lien contient des lettres qui en imitent d’autres.',
  'A link shows the address of an organization and leads to another, and nobody unsubscribes.':
    'Un lien montre l’adresse d’une structure et mène à une autre, et on ne peut pas se ' +
    'désabonner.',
  'A link hides where it leads, and there are few others.':
    'Un lien cache où il mène, et il y en a peu d’autres.',
  'A link leads to where anybody puts pages for nothing, and there are few others.':
    'Un lien mène à un endroit où n’importe qui dépose des pages gratuitement, et il y en a ' +
    'peu d’autres.',
  'A link leads into the inner folders of a site that is not the author’s.':
    'Un lien mène dans les dossiers internes d’un site qui n’est pas celui de l’auteur.',
  'A link leads to a program or an archive, and it is no answer.':
    'Un lien mène à un programme ou à une archive, et ce n’est pas une réponse.',
  'A link runs a script or carries a page.': 'Un lien exécute un script ou contient une page.',
  'The host of a link has many labels, digits or hyphens.':
    'L’hôte d’un lien a beaucoup de parties, de chiffres ou de tirets.',
  'A link to somebody else than the author has the recipient’s address in it.':
    'Un lien vers quelqu’un d’autre que l’auteur contient l’adresse du destinataire.',
  'It has a form to fill, and is of no list.':
    'Il contient un formulaire à remplir, et ne vient d’aucune liste.',
  'A program or a script is attached.': 'Un programme ou un script est joint.',
  'A shortcut is attached.': 'Un raccourci est joint.',
  'A disk image is attached.': 'Une image disque est jointe.',
  'An attached file looks like a document and is none.':
    'Un fichier joint ressemble à un document et n’en est pas un.',
  'An attached archive has a password.': 'Une archive jointe est protégée par un mot de passe.',
  'An attached document can run macros.': 'Un document joint peut exécuter des macros.',
  'A web page is attached, and it is no answer.':
    'Une page web est jointe, et ce n’est pas une réponse.',
  'A web page is attached, and accounts or passwords are spoken of.':
    'Une page web est jointe, et il est question de comptes ou de mots de passe.',
  'The name of an attached file hides what it ends in.': 'Le nom d’un fichier joint cache sa fin.',
  'An attached file is something else than it says.':
    'Un fichier joint est autre chose que ce qu’il prétend.',
  'It shows neither word nor picture, and nothing is attached.':
    'Il ne montre ni mot ni image, et rien n’est joint.',
  'It shows pictures and hardly a word, and links elsewhere.':
    'Il montre des images et presque aucun mot, et ses liens mènent ailleurs.',
  'There are over a hundred characters of HTML for one that is shown.':
    'Il y a plus de cent caractères de HTML pour un seul affiché.',
  'Its parts say different things, and it is no bulk mail.':
    'Ses parties disent des choses différentes, et ce n’est pas un envoi en nombre.',
  'It hides much text by its style, and is no bulk mail.':
    'Il cache beaucoup de texte par son style, et ce n’est pas un envoi en nombre.',
  'It has many characters that show nothing, and is no bulk mail.':
    'Il contient beaucoup de caractères invisibles, et ce n’est pas un envoi en nombre.',
  'Letters of other alphabets pose as Latin ones.':
    'Des lettres d’autres alphabets se font passer pour des lettres latines.',
  'It has a script or embeds another page, and is of no list.':
    'Il contient un script ou une autre page, et ne vient d’aucune liste.',
  'More than half of the letters are capitals.':
    'Plus de la moitié des lettres sont des majuscules.',
  'It has more than one exclamation mark for 30 words.':
    'Il contient plus d’un point d’exclamation pour 30 mots.',
  'It speaks of accounts and haste or threats, and leads away from the author.':
    'Il parle de comptes, presse ou menace, et mène ailleurs que chez l’auteur.',
  'It speaks of accounts, and leads to a page that anybody may put there.':
    'Il parle de comptes, et mène à une page que n’importe qui peut déposer là.',
  'It threatens, and gives an address to pay to.': 'Il menace, et donne une adresse où payer.',
  'It speaks much of money, and answers go to a free mailbox of somebody else.':
    'Il parle beaucoup d’argent, et les réponses vont à une boîte gratuite de quelqu’un ' +
    'd’autre.',
  'It speaks of winning, and leads away from the author; one cannot unsubscribe.':
    'Il parle de gains, et mène ailleurs que chez l’auteur\u00a0; on ne peut pas se désabonner.',
  'It greets nobody by name, and speaks of accounts or money.':
    'Il ne salue personne par son nom, et parle de comptes ou d’argent.',
  'One request is enough to unsubscribe, and the author’s domain signed.':
    'Une seule requête suffit pour se désabonner, et le domaine de l’auteur a signé.',
  'One unsubscribes where a verified signer is at home.':
    'On se désabonne chez un signataire vérifié.',
  'It says that many get it, how to unsubscribe, and the author’s domain stands behind it.':
    'Il dit que beaucoup le reçoivent, comment se désabonner, et le domaine de l’auteur s’en ' +
    'porte garant.',
  'One unsubscribes at the author’s, and nobody looked up whether it is the author’s.':
    'On se désabonne chez l’auteur, mais personne n’a vérifié que c’est bien lui.',
  'It names an address for complaints, and somebody signed it.':
    'Il donne une adresse pour les plaintes, et quelqu’un l’a signé.',
  'Most links lead to the author, whose domain stands behind it.':
    'La plupart des liens mènent chez l’auteur, dont le domaine se porte garant.',
  'The origin is a customer of the receiver, and proved it.':
    'L’origine est cliente de votre fournisseur, et l’a prouvé.',
}
