/** The same of what stands in it, and where it leads. */
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
