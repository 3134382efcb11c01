/** Meanings of the shipped rules about route and header, in Russian. */
export const symbolsRu: Readonly<Record<string, string>> = {
  'A mail system wrote this: a bounce, an automatic reply or a feedback report.':
    'Это написала почтовая система: уведомление о недоставке, автоответ или отчёт.',
  'A DNS blacklist knows the origin as a source of spam or as taken over.':
    'Чёрный список DNS знает источник как рассылающий спам или взломанный.',
  'A DNS welcome list vouches for the origin.': 'Белый список DNS ручается за источник.',
  'A DNS blacklist knows a domain in the message for phishing or malware.':
    'Чёрный список DNS знает один из доменов в письме по фишингу или вредоносным программам.',
  'A DNS blacklist knows a domain in the message for spam.':
    'Чёрный список DNS знает один из доменов в письме по спаму.',
  'A DNS blacklist knows a domain in the message as taken over.':
    'Чёрный список DNS знает один из доменов в письме как взломанный.',
  'A DNS blacklist knows the origin as a line, and it is no customer of the receiver.':
    'Чёрный список DNS знает источник как обычную абонентскую линию, и это не клиент вашего ' +
    'провайдера.',
  'Three DNS blacklists and more know the origin or a domain as bad.':
    'Не меньше трёх чёрных списков DNS считают источник или домен плохим.',
  'A Received line below the hand-over was invented.':
    'Одна из строк Received ниже места передачи выдумана.',
  'A Received line is later than the one above it.':
    'Одна из строк Received позже той, что стоит над ней.',
  'A Received line names an address that no machine can have.':
    'Строка Received называет адрес, которого не может быть ни у одной машины.',
  'A machine called itself by an address that it does not have.':
    'Машина назвалась адресом, который ей не принадлежит.',
  'A Received line says that a known provider wrote it, and none did.':
    'Строка Received утверждает, что её написал известный провайдер, но это не так.',
  'The origin has the name of a line, not of a mail server, and is nobody’s customer.':
    'У источника имя абонентской линии, а не почтового сервера, и он ничей не клиент.',
  'The origin called itself by an address.': 'Источник назвался адресом вместо имени.',
  'The origin called itself by a name without a dot.': 'Источник назвался именем без точки.',
  'The client of the mail server has no name of the Internet for itself.':
    'У клиента почтового сервера нет имени, годного для Интернета.',
  'The return path is that of a bounce, but no mail system wrote it.':
    'Обратный адрес как у уведомления о недоставке, но письмо написала не почтовая система.',
  'The domain of the return path says that the origin may not send its mail.':
    'Домен обратного адреса говорит, что источнику нельзя отправлять его почту.',
  'The domain of the return path thinks that the origin should not send its mail.':
    'Домен обратного адреса считает, что источнику не стоит отправлять его почту.',
  'The author’s domain does not stand behind it, and asks to refuse such mail.':
    'Домен автора не ручается за письмо и просит отклонять такую почту.',
  'The author’s domain does not stand behind it, and asks to suspect such mail.':
    'Домен автора не ручается за письмо и просит относиться к такой почте с подозрением.',
  'The author claims a free mailbox whose provider does not stand behind it.':
    'Автор выдаёт себя за владельца бесплатного ящика, но служба этого ящика за него не ' +
    'ручается.',
  'It was checked, and neither a signature nor SPF speaks for anybody.':
    'Проверено: ни подпись, ни SPF ни за кого не ручаются.',
  'The author’s domain stands behind it, and is no free mail provider.':
    'Домен автора ручается за письмо, и это не служба бесплатной почты.',
  'Those who passed it on vouch for what they saw, and their seals are whole.':
    'Те, кто передал письмо дальше, ручаются за то, что видели, и их печати целы.',
  'There is no Date field.': 'Нет поля Date.',
  'The Date field names no date.': 'В поле Date нет даты.',
  'It is dated half a day and more after it was received.':
    'Дата письма не меньше чем на полдня позже его получения.',
  'It is dated four days and more before it was received, and is of no list.':
    'Дата письма не меньше чем на четыре дня раньше его получения, и оно не из рассылки.',
  'There is no From field, or no address with a domain in it.':
    'Нет поля From или в нём нет адреса с доменом.',
  'There is more than one From field, or more than one author.':
    'Полей From или авторов больше одного.',
  'A field that stands once in honest mail stands twice.':
    'Поле, которое в честных письмах стоит один раз, стоит дважды.',
  'There is no Message-ID.': 'Нет Message-ID.',
  'The Message-ID is not of the usual form.': 'У Message-ID необычный вид.',
  'The Message-ID names no domain of the Internet, and it is of no list.':
    'Message-ID не называет домена в Интернете, и письмо не из рассылки.',
  'Most letters of a longer subject are capitals.': 'В длинной теме большинство букв заглавные.',
  'The subject has three exclamation marks and more.':
    'В теме три восклицательных знака или больше.',
  'The subject is disguised from programs.': 'Тема замаскирована от программ.',
  'The subject calls the recipient by the mail address, and the author is no list.':
    'Тема обращается к получателю по адресу почты, и автор не рассылка.',
  'The subject says that it is a reply, and it is to nothing.':
    'Тема говорит, что это ответ, но отвечать было не на что.',
  'The subject hides its end behind blanks.': 'Тема прячет свой конец за пробелами.',
  'It names no recipient, and is of no list.':
    'В письме не назван получатель, и оно не из рассылки.',
  'It is addressed to its author, and to nobody else.':
    'Письмо адресовано своему же автору и больше никому.',
  'A message of several parts has no MIME-Version or no boundary.':
    'У письма из нескольких частей нет MIME-Version или разделителя.',
  'Subject or From is in base64, though it is plain ASCII.':
    'Тема или автор записаны в base64 без нужды.',
  'Subject or From has bytes that have to be encoded.':
    'В теме или в имени автора есть байты, которые нужно кодировать.',
  'Answers go to a free mailbox of somebody else than the author.':
    'Ответы уходят в бесплатный ящик кого-то другого, а не автора.',
  'The program it names does not write such messages, and it is of no list.':
    'Названная в письме программа таких писем не пишет, и оно не из рассылки.',
  'A script on a web site wrote it, and one cannot unsubscribe.':
    'Письмо написал скрипт на сайте, и отписаться нельзя.',
  'It says of itself that it is urgent.': 'Письмо само называет себя срочным.',
  'It says that many get it, and not how to unsubscribe.':
    'Письмо говорит, что его получают многие, но не говорит, как отписаться.',
  'The author’s domain cannot be on the Internet.':
    'Домен автора не может существовать в Интернете.',
  'The author’s domain has letters that look like others.':
    'В домене автора есть буквы, похожие на другие.',
  'The display name is the address of another organization.':
    'Показанное имя – адрес другой организации.',
  'The display name has the domain of another organization.':
    'В показанном имени есть домен другой организации.',
  'The display name is disguised from programs.': 'Показанное имя замаскировано от программ.',
  'An office writes from a free mailbox.': '«Учреждение» пишет из бесплатного ящика.',
  'The author calls themselves as the recipient’s organization.':
    'Автор называет себя так же, как организация получателя.',
  'The author’s address looks as if made by chance, and it is no list.':
    'Адрес автора выглядит случайным, и это не рассылка.',
}

/** Meanings of the shipped rules about content and links, in Russian. */
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
