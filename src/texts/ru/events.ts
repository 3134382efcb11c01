/** Parts of sentences, in Russian, in the form that the surrounding sentences need. */
export const partsRu: Readonly<Record<string, string>> = {
  'a machine without a name': 'машина без имени',
  'a machine': 'без имени',
  'the provider': 'ваш провайдер',
  'the receiving provider': 'ваш провайдер',
  'no status given': 'код не указан',
  'the abuse desk of the network': 'службе безопасности этой сети',
  'the abuse desk of {name}': 'службе безопасности сети {name}',
  'the address that its author takes complaints at': 'по адресу, на который автор принимает жалобы',
  'the marketer': 'отправителю рекламы',
  'the desk of the domain that signed it': 'службе домена, который подписал письмо',
  'The abuse desk': 'Служба безопасности',
  'The marketer': 'Отправитель рекламы',
  'The desk of its domain': 'Служба его домена',
  'Who takes complaints for its author': 'Тот, кто принимает жалобы за автора',
  spam: 'спам',
  phishing: 'фишинг',
  malware: 'вредоносные программы',
}

/** Events of a report, and why it was forwarded or not, in Russian. */
export const happenedRu: Readonly<Record<string, string>> = {
  'It came from {ip} ({n} % sure).': 'Письмо пришло с адреса {ip} (уверенность {n}\u00a0%).',
  'The origin could not be found.': 'Источник найти не удалось.',
  'The reporter says that this is not spam.': 'Вы говорите, что это не спам.',
  'A mail system wrote this message: the spammer is not behind the relay that sent it.':
    'Это написала почтовая система: за сервером, который его отправил, спамера нет.',
  'A mail server learned it; nobody reported it.':
    'Об этом сообщил почтовый сервер; никто не жаловался.',
  'It looks like wanted mail.': 'Похоже на нужное письмо.',
  'The verdict is undecided.': 'Мы не смогли решить, что это.',
  'Hardly more than its content speaks against it, and on that alone nobody is told.':
    'Против письма говорит почти одно содержание, а этого мало, чтобы кому-то сообщать.',
  'It is mail in bulk that says how to unsubscribe.':
    'Это массовая рассылка, в которой сказано, как отписаться.',
  'Nobody is accused.': 'Никого не обвиняем.',
  'The origin is too uncertain to tell its network.':
    'Источник слишком неточен, чтобы сообщать его сети.',
  'The reporter is asked.': 'Мы задаём вам вопрос.',
  'An administrator said that nobody is to be written to for this network.':
    'Администратор велел никому не писать об этой сети.',
  'An abuse desk enrolled for {name}, where the origin is.':
    'Служба безопасности подписалась на {name}, где находится источник.',
  'The network {ip} answers for the origin and has an abuse contact.':
    'За источник отвечает сеть {ip}, и у неё есть адрес для жалоб.',
  '{name} answers for the origin and has an abuse contact.':
    'За источник отвечает {name}, и там есть адрес для жалоб.',
  'The registries are asked who answers for the origin.':
    'Мы спрашиваем реестры, кто отвечает за источник.',
  'No registry could be asked who answers for the origin.':
    'Ни один реестр не удалось спросить, кто отвечает за источник.',
  'No imported network table knows the origin.': 'Ни в одной нашей таблице сетей источника нет.',
  'The network has no known abuse contact.': 'У этой сети нет известного адреса для жалоб.',
  'No abuse contact is registered for {name}.': 'Для {name} не зарегистрирован адрес для жалоб.',
  'The abuse address of this network is our own, or the reporter’s.':
    'Адрес для жалоб этой сети – наш собственный или ваш.',
  'Every known abuse address of this network bounces.':
    'Со всех известных адресов этой сети для жалоб почта возвращается.',
  'The abuse desk has not enrolled, and only enrolled ones are written to.':
    'Служба безопасности не подписалась, а мы пишем только подписавшимся.',
  'Reports to this abuse desk are stopped.':
    'Отправка отчётов этой службе безопасности прекращена.',
  'The abuse address of this network is not to be written to.':
    'На адрес этой сети для жалоб мы не пишем.',
  'Reports to this abuse desk are paused.':
    'Отправка отчётов этой службе безопасности приостановлена.',
  'The abuse desk takes no reports of {whom}.':
    'Служба безопасности не принимает отчётов такого рода: {whom}.',
  'The message asks for complaints of it, and its signature vouches for that.':
    'Письмо само просит присылать жалобы на него, и подпись это подтверждает.',
  '{name} is told, as it wishes.': 'Мы сообщаем {name}, как там просят.',
  'Who enrolled for mail of {host} is told.': 'Мы сообщаем тому, кто подписался на почту {host}.',
  '{host} signed the message, and the signature verifies: that is how {name} is known.':
    '{host} подписал письмо, и подпись верна: так мы узнаём {name}.',
  '{host} signed the message, and the signature verifies, {rest}: that is how {name} is known.':
    '{host} подписал письмо, и подпись верна: так мы узнаём {name}.',
  'The message came from {ip}, in the range {rest}: that is how {name} is known.':
    'Письмо пришло с адреса {ip}: так мы узнаём {name}.',
  'Reports to this consumer are stopped.': 'Отправка отчётов этому получателю прекращена.',
  'The address is not to be written to.': 'На этот адрес мы не пишем.',
  'The consumer is paused.': 'Отправка отчётов этому получателю приостановлена.',
  'Mail to the consumer comes back.': 'Почта получателю возвращается.',
  'It was handed over on {day}, more than {n} hours before it was reported.':
    'Письмо передано {day}, более чем за {n} ч до жалобы.',
  'No trusted line tells a believable time, so its age is unknown.':
    'Ни одна надёжная строка не содержит правдоподобного времени: возраст письма неизвестен.',
  'Nobody is told, and it counts for nothing.': 'Мы никому не сообщаем, и жалоба не учитывается.',
  'The report was taken back.': 'Жалоба отозвана.',
  'Only who enrolled is told.': 'Мы сообщаем только подписавшимся.',
  'The feedback report was called back before it left.': 'Отчёт отозван до отправки.',
  'A feedback report for {whom} is written and held: sending is switched off.':
    'Отчёт {whom} готов и ждёт: отправка выключена.',
  'A report that takes the complaint back for {whom} is written and held: sending is switched off.':
    'Отчёт об отзыве жалобы {whom} готов и ждёт: отправка выключена.',
  'A feedback report was sent to {whom}.': 'Отчёт отправлен {whom}.',
  'A report that takes the complaint back was sent to {whom}.':
    'Отчёт об отзыве жалобы отправлен {whom}.',
  'Our mail server refused the feedback report for {whom}.':
    'Наш почтовый сервер не принял отчёт {whom}.',
  'Our mail server refused a report that takes the complaint back for {whom}.':
    'Наш почтовый сервер не принял отчёт об отзыве жалобы {whom}.',
  'It tells of this message together with others.':
    'В нём говорится об этом письме вместе с другими.',
  'It is told together with others in one mail.':
    'О нём сообщается вместе с другими в одном письме.',
  'Another report of the same campaign is told as its sample, and counts this one.':
    'Как образец отправлена другая жалоба на ту же рассылку; эта в ней учтена.',
  'The feedback report came back undelivered ({maybe}).':
    'Отчёт вернулся недоставленным ({maybe}).',
  'Who was to be told wants no more of them: the feedback report was called back.':
    'Тот, кому мы хотели сообщить, больше их не хочет: отчёт отозван.',
  '{speaker} says that it has dealt with it.': '{speaker} говорит, что проблема решена.',
  '{speaker} says that the address is not in its network.':
    '{speaker} говорит, что адрес не в его сети.',
  '{speaker} says that the report is wrong.': '{speaker} говорит, что жалоба ошибочна.',
  '{speaker} asked for no more feedback reports.': '{speaker} больше не хочет отчётов.',
  'The next abuse address of the network is told.':
    'Мы сообщаем по следующему адресу сети для жалоб.',
  'The desk says that it is not its network: the registries are asked.':
    'Служба говорит, что это не её сеть: мы спрашиваем реестры.',
  'The reporter wants {host} to be asked, once.': 'Вы хотите, чтобы мы один раз попросили {host}.',
  'A letter says how to unsubscribe.': 'В письме к вам сказано, как отписаться.',
  'More is known of the reporter’s mail servers: it is looked at again.':
    'Мы узнали больше о ваших почтовых серверах и изучаем письмо заново.',
  'The reporter does not know which of the machines belong to the mail provider.':
    'Вы не знаете, какие из машин принадлежат вашему провайдеру.',
  'The reporter says of {n} of the machines that they belong to the mail provider.':
    'По вашим словам, машин вашего провайдера среди них: {n}.',
  'The reporter says that none of the machines belongs to the mail provider.':
    'По вашим словам, ни одна из машин не принадлежит вашему провайдеру.',
  'The reporter now says that this is spam.': 'Теперь вы говорите, что это спам.',
  'The reporter now says that this is phishing.': 'Теперь вы говорите, что это фишинг.',
  'The reporter now says that this is not spam.': 'Теперь вы говорите, что это не спам.',
  'The reporter took it back.': 'Вы её отозвали.',
  'An administrator took it back.': 'Её отозвал администратор.',
  'Feedback that had not left was called back.': 'Отчёты, которые ещё не ушли, отозваны.',
  'The analysis failed for good.': 'Изучить письмо не удалось.',
  'Looking for a contact failed for good.': 'Найти, кому сообщить, не удалось.',
  'Operators find it among the dead letters.': 'Операторы об этом узнают.',
  '{host} could not be looked up: {rest}': 'Не удалось найти {host}.',
  '{host} has no address.': 'У {host} нет адреса.',
  '{host} leads to an address that is not on the Internet.':
    '{host} ведёт на адрес не из Интернета.',
  '{host} has taken the request ({n}).': '{host} принял просьбу ({n}).',
  '{host} sent us on to another page ({n}), where we do not follow.':
    '{host} отправил нас на другую страницу ({n}), туда мы не идём.',
  '{host} did not take the request ({n}).': '{host} не принял просьбу ({n}).',
  'The link is no longer kept.': 'Ссылка больше не хранится.',
  'The link cannot be read.': 'Ссылку нельзя прочесть.',
  'The link is not secure (https).': 'Ссылка незащищённая (не https).',
  'The link carries a name or a password.': 'В ссылке есть имя или пароль.',
  'The link leads to an unusual port.': 'Ссылка ведёт на необычный порт.',
  'The link leads to no public name.': 'Ссылка не ведёт на общедоступное имя.',
  'We may have asked, and cannot tell what became of it.':
    'Возможно, мы попросили, но не знаем, чем это кончилось.',
  'We do not ask twice.': 'Дважды мы не просим.',
}

/** Sentences about the route of a message, in Russian. */
export const wayRu: Readonly<Record<string, string>> = {
  'The message has no Received line, so nothing tells where it came from.':
    'В письме нет ни одной строки Received: ничто не говорит, откуда оно пришло.',
  'Every line was written inside the provider: the message seems to have begun there.':
    'Все строки написаны внутри вашего провайдера: похоже, письмо там и началось.',
  'Line {n} cannot be read.': 'Строку {n} нельзя прочесть.',
  'Line {n} tells that the mail was fetched.': 'Строка {n} говорит, что почту забрали из ящика.',
  '{ip} is a given trusted relay.': '{ip} – один из ваших почтовых серверов.',
  '{ip} brought nearly all that the reporter reported so far.':
    'Через {ip} пришло почти всё, на что вы до сих пор жаловались.',
  '{ip} is the receiving machine itself.': '{ip} – это сама принимающая машина.',
  '{host} belongs to {maybe}.': '{host} принадлежит: {maybe}.',
  '{host} calls itself a machine of {name}.': '{host} называет себя машиной, принадлежащей {name}.',
  '{ip} cannot be reached from the Internet.': 'Адрес {ip} недоступен из Интернета.',
  'The message seems to have begun inside an internal network.':
    'Похоже, письмо началось внутри внутренней сети.',
  'The message seems to have begun inside {name}.': 'Похоже, письмо началось внутри {name}.',
  'Line {n} should be written by {name}, but is not.':
    'Строку {n} должен был написать {name}, но это не так.',
  "{ip} is one of {name}'s own machines.": '{ip} – одна из машин {name}.',
  'Line {n} names nobody who handed the message over.':
    'Строка {n} не называет никого, кто передал письмо.',
  'Line {n}: a program or user of {maybe} handed it in.':
    'Строка {n}: письмо подала программа или пользователь машины {maybe}.',
  'Line {n}: a user handed the message in.': 'Строка {n}: письмо сдал пользователь.',
  'Line {n} is a hand-over inside the same organization.':
    'Строка {n} – передача внутри одной организации.',
  'Line {n} is a hand-over inside {maybe}.': 'Строка {n} – передача внутри машины {maybe}.',
  'Line {n} is a hand-over to a mailbox.': 'Строка {n} – передача в почтовый ящик.',
  'Line {n} is a hand-over on the same machine.': 'Строка {n} – передача на той же машине.',
  'Line {n} gives no address for the peer.': 'В строке {n} нет адреса передавшей машины.',
  '{ip} is an address of an internal network.': '{ip} – адрес внутренней сети.',
  'The topmost lines were written by {name}, where the message was received.':
    'Верхние строки написал {name}, где письмо получено.',
  'The topmost line was written by the provider where the message was received.':
    'Верхнюю строку написал провайдер, получивший письмо.',
  'Line {n}: {maybe} saw {ip} ({peer}) hand the message over, one of those it sends from.':
    'Строка {n}: {maybe} видел, как письмо передала машина {ip} ({peer}), одна из тех, с которых ' +
    'он сам отправляет почту.',
  'Line {n}: {maybe} saw {ip} ({peer}) hand the message over, a machine that it does not run.':
    'Строка {n}: {maybe} видел, как письмо передала машина {ip} ({peer}), которая ему не ' +
    'принадлежит.',
  ['The Received lines stand below what the author wrote, where no receiver puts them: they may ' +
  'be invented.']:
    'Строки Received стоят ниже того, что написал автор; ни один сервер их туда не ставит: ' +
    'они могут быть выдуманы.',
  '{host} says that {ip} may send its mail (SPF).':
    '{host} говорит, что {ip} может отправлять его почту (SPF).',
  '{host} lists {ip}: {rest}': 'Адрес {ip} есть в списке {host}.',
  'Line {n}: {name} took the message from its customer at {ip}.':
    'Строка {n}: {name} принял письмо от своего клиента с адреса {ip}.',
  'Line {n}: {name} took the message from its customer at {ip}, and sealed that.':
    'Строка {n}: {name} принял письмо от своего клиента с адреса {ip} и поставил печать.',
  'Line {n}: {name} saw the message handed over by {ip}.':
    'Строка {n}: {name} видел, как письмо передал {ip}.',
  'Line {n}: {name} saw the message handed over by {ip}, and sealed that.':
    'Строка {n}: {name} видел, как письмо передал {ip}, и поставил печать.',
  'A seal of {name} names {ip} as the client.': 'Печать {name} называет клиентом {ip}.',
  'The field {host}, which {name} writes, names {ip}.':
    'Поле {host}, которое пишет {name}, называет {ip}.',
  'This line cannot be read.': 'Эту строку нельзя прочесть.',
  'It stands below a line that was invented.': 'Она стоит под выдуманной строкой.',
  '{name} handed the message over, and wrote this line about itself.':
    '{name} передал письмо и написал эту строку о себе.',
  '{name} took the message for the receiver and handed it on.':
    '{name} принял письмо за получателя и передал дальше.',
  '{name} took the message for the reporter and forwarded it.':
    '{name} принял письмо за вас и переслал его.',
  'The mailing list {host} handed the message on, and sealed whom it came from.':
    'Рассылка {host} передала письмо дальше и заверила печатью, от кого оно.',
  'It says {name} wrote it, but it did not come from there.':
    'В ней сказано, что её написал {name}, но она не оттуда.',
  'Its writer is not the machine that the line above names.':
    'Её написала не та машина, которую называет строка выше.',
  'Its time is later than that of the line above it.': 'Её время позже, чем у строки над ней.',
  'No machine can have the address {ip}.': 'Адреса {ip} не может быть ни у одной машины.',
  'The peer called itself {ip}, which is not its address.':
    'Машина назвалась {ip}, но это не её адрес.',
  'It gives a date where the address of the peer belongs.':
    'На месте адреса машины в ней стоит дата.',
  'Only machines of {name} write "with {name2}".': 'Только машины {name} пишут «with {name2}».',
  'It has no identifier, and its writer has nothing to do with this message.':
    'В ней нет номера, а её автор не имеет отношения к этому письму.',
}
