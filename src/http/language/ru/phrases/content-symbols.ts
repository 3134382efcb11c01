/** The same of what stands in it, and where it leads. */
export const contentSymbolsRu: Readonly<Record<string, string>> = {
  'The author’s free mailbox has five digits and more.':
    'В адресе бесплатного ящика автора пять цифр или больше.',
  'The author’s domain has many hyphens, digits or labels.':
    'В домене автора много дефисов, цифр или частей.',
  'A link leads to an address instead of a name.': 'Ссылка ведёт на числовой адрес вместо имени.',
  'A link names an unusual port.': 'В ссылке указан необычный порт.',
  'A link has an @ before its host.': 'В ссылке перед именем узла стоит @.',
  'The host of a link has letters that look like others.':
    'В имени узла ссылки есть буквы, похожие на другие.',
  'A link shows the address of an organization and leads to another, and nobody unsubscribes.':
    'Ссылка показывает адрес одной организации, а ведёт к другой, и отписаться нельзя.',
  'A link hides where it leads, and there are few others.':
    'Ссылка скрывает, куда ведёт, а других ссылок мало.',
  'A link leads to where anybody puts pages for nothing, and there are few others.':
    'Ссылка ведёт туда, где кто угодно бесплатно размещает страницы, а других ссылок мало.',
  'A link leads into the inner folders of a site that is not the author’s.':
    'Ссылка ведёт во внутренние папки сайта, который не принадлежит автору.',
  'A link leads to a program or an archive, and it is no answer.':
    'Ссылка ведёт на программу или архив, и это не ответ.',
  'A link runs a script or carries a page.': 'Ссылка запускает скрипт или несёт в себе страницу.',
  'The host of a link has many labels, digits or hyphens.':
    'В имени узла ссылки много частей, цифр или дефисов.',
  'A link to somebody else than the author has the recipient’s address in it.':
    'В ссылке не к автору стоит адрес получателя.',
  'It has a form to fill, and is of no list.':
    'В письме есть форма для заполнения, и оно не из рассылки.',
  'A program or a script is attached.': 'К письму приложена программа или скрипт.',
  'A shortcut is attached.': 'К письму приложен ярлык.',
  'A disk image is attached.': 'К письму приложен образ диска.',
  'An attached file looks like a document and is none.':
    'Вложенный файл похож на документ, но это не документ.',
  'An attached archive has a password.': 'Вложенный архив закрыт паролем.',
  'An attached document can run macros.': 'Вложенный документ может запускать макросы.',
  'A web page is attached, and it is no answer.': 'Вложена веб-страница, и это не ответ.',
  'A web page is attached, and accounts or passwords are spoken of.':
    'Вложена веб-страница, и речь идёт об учётных записях или паролях.',
  'The name of an attached file hides what it ends in.':
    'Имя вложенного файла скрывает своё окончание.',
  'An attached file is something else than it says.': 'Вложенный файл – не то, чем назван.',
  'It shows neither word nor picture, and nothing is attached.':
    'В письме не видно ни слова, ни картинки, и ничего не вложено.',
  'It shows pictures and hardly a word, and links elsewhere.':
    'В письме картинки и почти нет слов, а ссылки ведут в другое место.',
  'There are over a hundred characters of HTML for one that is shown.':
    'На один видимый знак приходится больше ста знаков HTML.',
  'Its parts say different things, and it is no bulk mail.':
    'Части письма говорят разное, и это не массовая рассылка.',
  'It hides much text by its style, and is no bulk mail.':
    'Письмо прячет много текста оформлением, и это не массовая рассылка.',
  'It has many characters that show nothing, and is no bulk mail.':
    'В письме много невидимых знаков, и это не массовая рассылка.',
  'Letters of other alphabets pose as Latin ones.':
    'Буквы других алфавитов выдают себя за латинские.',
  'It has a script or embeds another page, and is of no list.':
    'В письме есть скрипт или чужая страница, и оно не из рассылки.',
  'More than half of the letters are capitals.': 'Больше половины букв заглавные.',
  'It has more than one exclamation mark for 30 words.':
    'На 30 слов приходится больше одного восклицательного знака.',
  'It speaks of accounts and haste or threats, and leads away from the author.':
    'Речь идёт об учётных записях, торопят или угрожают, а ссылки ведут не к автору.',
  'It speaks of accounts, and leads to a page that anybody may put there.':
    'Речь идёт об учётных записях, а ссылка ведёт на страницу, которую мог создать кто угодно.',
  'It threatens, and gives an address to pay to.': 'В письме угрожают и дают адрес для оплаты.',
  'It speaks much of money, and answers go to a free mailbox of somebody else.':
    'Много говорится о деньгах, а ответы уходят в бесплатный ящик кого-то другого.',
  'It speaks of winning, and leads away from the author; one cannot unsubscribe.':
    'Говорится о выигрыше, а ссылки ведут не к автору; отписаться нельзя.',
  'It greets nobody by name, and speaks of accounts or money.':
    'Никого не называют по имени, а говорят об учётных записях или деньгах.',
  'One request is enough to unsubscribe, and the author’s domain signed.':
    'Отписаться можно одним запросом, и домен автора подписал письмо.',
  'One unsubscribes where a verified signer is at home.':
    'Отписаться можно у проверенного подписавшего.',
  'It says that many get it, how to unsubscribe, and the author’s domain stands behind it.':
    'Письмо говорит, что его получают многие и как отписаться, и домен автора ручается за него.',
  'One unsubscribes at the author’s, and nobody looked up whether it is the author’s.':
    'Отписаться можно у автора, но никто не проверил, что это действительно он.',
  'It names an address for complaints, and somebody signed it.':
    'В письме назван адрес для жалоб, и кто-то его подписал.',
  'Most links lead to the author, whose domain stands behind it.':
    'Большинство ссылок ведут к автору, чей домен ручается за письмо.',
  'The origin is a customer of the receiver, and proved it.':
    'Источник – клиент вашего провайдера и доказал это.',
}
