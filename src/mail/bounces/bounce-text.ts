// Where the message that comes back begins; what follows was not written by the mail system.
const announcements = [
  'original message|returned message|unsent message|message header|included is',
  'below this line|copy of|the (?:header|message) (?:was|of|follows)',
].join('|')
const opening = '[-=_*> ]{0,40}(?:this is (?:a|the) |below (?:is|this line is) )?'
const returnedMessage = new RegExp(
  `^(?:${opening}(?:${announcements}).{0,80}|(?:received|return-path): .{0,200})$`,
  'im',
)
const bracketed = /<([^\s<>@:;"()]{1,64}@[A-Za-z0-9.-]{1,253})>/g
const bare = /(?<![\w.+-])([A-Za-z0-9][\w.+=/-]{0,63}@[A-Za-z0-9][A-Za-z0-9.-]{0,252}[A-Za-z0-9])/g
const recipientsMax = 50

/**
 * The addresses that the text of a bounce names as its recipients: those in angle brackets, else
 * bare ones, before the returned message begins. Those of mail systems are left out.
 */
export function recipientsInText(text: string): string[] {
  const own = systemText(text)
  const found = [...own.matchAll(bracketed)].map(([, address = '']) => address)
  const named =
    found.length > 0 ? found : [...own.matchAll(bare)].map(([, address = '']) => address)
  const recipients = named.filter((address) => !/^(?:mailer-daemon|postmaster)@/i.test(address))
  return [...new Set(recipients)].slice(0, recipientsMax)
}

/** The text of a bounce up to where the returned message begins. */
export function systemText(text: string): string {
  return text.slice(0, returnedMessage.exec(text)?.index ?? text.length)
}
