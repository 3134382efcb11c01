/** What the shipped rules say of a message, in French: of its way and its header. */
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
