/** What is said of the way of a message, in Russian. */
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
