/** What the shipped rules say of a message, in Russian: of its way and its header. */
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
