/** Why mail bounced, in terms that bounce parsers share. */
export type BounceReason =
  | 'authfailure'
  | 'badreputation'
  | 'blocked'
  | 'contenterror'
  | 'delivered'
  | 'exceedlimit'
  | 'expired'
  | 'failedstarttls'
  | 'feedback'
  | 'filtered'
  | 'hasmoved'
  | 'hostunknown'
  | 'mailboxfull'
  | 'mailererror'
  | 'mesgtoobig'
  | 'networkerror'
  | 'norelaying'
  | 'notaccept'
  | 'notcompliantrfc'
  | 'onhold'
  | 'policyviolation'
  | 'rejected'
  | 'requireptr'
  | 'securityerror'
  | 'spamdetected'
  | 'speeding'
  | 'suppressed'
  | 'suspend'
  | 'syntaxerror'
  | 'systemerror'
  | 'systemfull'
  | 'toomanyconn'
  | 'undefined'
  | 'userunknown'
  | 'virusdetected'

/** The stage that the SMTP session had reached when the mail was refused. */
export type SmtpStage = 'connect' | 'helo' | 'tls' | 'auth' | 'mail' | 'rcpt' | 'data'

const command = '(ehlo|helo|starttls|auth|mail from|mail|rcpt to|rcpt|data|end of data|bdat)'
const forms: readonly RegExp[] = [
  new RegExp(`in reply to (?:the )?(?:end of )?${command}\\b`),
  new RegExp(`(?:after|response to|reply to|error from) (?:sending )?(?:pipelined )?${command}\\b`),
  new RegExp(`\\((?:smtp )?${command}(?: command)?\\)|smtp command:? ${command}`),
  new RegExp(`command: ${command}|during ${command}\\b|${command} generated`),
]
/** Yahoo writes this after the reply. */
const bracketed = /\[(rcpt|mail)_(?:to|from)\]/
const sent = new RegExp(`>>> ?${command}\\b`, 'g')
const transcript = /<<< ?[45]\d\d/
const forRecipient = /does not like recipient|smtp:rcpt|rcpt to response|\(state 14\)/
const spelled = [
  ['rcpt', /\brcpt to:/],
  ['mail', /\bmail from:/],
] as const

/**
 * Finds the SMTP stage that a mail system's text names. The text must be in lower case. Undefined
 * when it names none.
 */
export function stageIn(text: string): SmtpStage | undefined {
  for (const form of [...forms, bracketed]) {
    const found = form.exec(text)?.slice(1).find(Boolean)
    if (found !== undefined) return stageOf(found)
  }
  if (/refused to talk to me|(?:initial connection|while connecting to|connecting to)/.test(text)) {
    return 'connect'
  }
  if (forRecipient.test(text)) return 'rcpt'
  // The last command sent before the first refusal.
  const refusedAt = transcript.exec(text)?.index ?? text.length
  const commands = [...text.slice(0, refusedAt).matchAll(sent)]
  const last = commands.at(-1)?.[1]
  if (last !== undefined) return stageOf(last)
  if (refusedAt < text.length) return 'helo'
  // A text with both commands describes the envelope of the message, not the stage.
  const spoken = spelled.filter(([, form]) => form.test(text))
  return spoken.length === 1 ? spoken[0]?.[0] : undefined
}

function stageOf(word: string): SmtpStage {
  if (word.startsWith('rcpt')) return 'rcpt'
  if (word.startsWith('mail')) return 'mail'
  if (word === 'starttls') return 'tls'
  if (word === 'auth') return 'auth'
  return word === 'ehlo' || word === 'helo' ? 'helo' : 'data'
}
