import { decodeHeaderText } from '../encoded-word.ts'
import { fieldValue, type HeaderField } from '../header.ts'

const subjectCharsMax = 1_000
const textCharsMax = 2_000
const labels = 'ticket|case|incident|request|reference|ref|issue|complaint|tracking|vorgang|dossier'

/** The ways in which ticket systems write the number of a case, the most reliable first. */
const inSubject: readonly RegExp[] = [
  // Request Tracker, Zendesk, osTicket, Jira and similar: [name #123], [#ABC-12-34], [ABC-123].
  /\[[^[\]\n]{0,60}?#\s?([A-Z0-9][A-Z0-9-]{1,39})\]/i,
  /\[([A-Z]{2,10}-\d{1,12})\]/,
  // OTRS and Znuny: [Ticket#2026112210000012].
  /\[(?:ticket|case)\s?#\s?:?\s?([A-Z0-9-]{2,40})\]/i,
]
const label = `\\b(?:${labels})`
const noun = '[ -]?(?:number|no|nr|id)'
const digits = '#?([A-Z0-9-]{0,30}\\d[A-Z0-9-]{0,12})\\b'
const labeled = new RegExp(`${label}(?:${noun})?\\.?[ ]?(?:is[ ])?[:#][ ]?${digits}`, 'i')
const spoken = new RegExp(`${label}${noun}\\.?[ ](?:is[ ])?${digits}`, 'i')

/**
 * Finds the number that a ticket system gave to our mail, in the subject of its acknowledgment,
 * else in its text. Undefined when no number is unambiguous.
 */
export function ticketNumber(subject: string | null, text: string): string | undefined {
  const line = (subject ?? '').slice(0, subjectCharsMax)
  const body = text.slice(0, textCharsMax)
  for (const shape of [...inSubject, labeled, spoken]) {
    const found = shape.exec(line)?.[1]
    if (found !== undefined) return found
  }
  return labeled.exec(body)?.[1] ?? spoken.exec(body)?.[1]
}

const valueCharsMax = 1000
const textCharsRead = 4000

/** Fields that ticket systems write into their mail. */
const systemFields = new Set([
  'rt-ticket',
  'rt-originator',
  'managed-by',
  'x-rt-loop-prevention',
  'x-rt-original-encoding',
  'x-otrs-loop',
  'x-otrs-autoresponse',
  'x-znuny-loop',
  'x-powered-by-otrs',
  'x-zendesk-from-account-id',
  'x-mailer-zendesk',
  'x-jira-fingerprint',
  'x-atlassian-token',
  'x-freshdesk-ticket-id',
  'x-fd-ticket-id',
  'x-freshservice-ticket-id',
  'x-kayako-mailer',
  'x-helpscout-conversation-id',
  'x-hubspot-ticket-id',
  'x-osticket-version',
  'x-osticket-vars',
  'x-redmine-host',
  'x-redmine-project',
  'x-mantis-id',
  'x-bugzilla-url',
  'x-servicenow-generated',
  'x-servicenow-source',
  'x-zammad-ticket-id',
  'x-abusehq-ticket',
  'x-abuseio-ticket',
  'x-whmcs-ticket',
  'x-ticket-id',
  'x-ticket-number',
  'x-request-tracker',
])
const systemMailers = new RegExp(
  [
    '\\b(?:request tracker|rt \\d|otrs|znuny|zendesk|freshdesk|freshservice|jira|atlassian|kayako',
    'osticket|zammad|redmine|servicenow|help ?scout|whmcs|abuseio|abusehq|topdesk|supportpal)\\b',
  ].join('|'),
  'i',
)

const numberNouns = 'ticket|case|request|incident|vorgang|anfrage|dossier|demande|обращение|заявка'
const numberWords = 'id|number|no\\.?|nummer|nr\\.?|n°|номер'
const bracketNouns = 'ticket|case|request|incident|abuse|issue|id|ref'
const ticketSubjects: readonly RegExp[] = [
  new RegExp(`\\[(?:${bracketNouns})?\\s{0,2}[:#-]?\\s{0,2}#?[\\w-]{0,30}\\d{3,20}\\]`, 'i'),
  /\[[\w. -]{1,40} #\d{2,20}\]|\((?:ticket|case|request) ?[:#]? ?[\w-]{0,20}\d{3,}\)/i,
  new RegExp(
    `\\b(?:${numberNouns})(?: (?:${numberWords}))?\\s{0,2}[:#№]?\\s{0,2}#?[\\w-]{0,10}\\d{3,20}`,
    'i',
  ),
  /(?:##|tt|inc|req|cas-)\d{4,20}/i,
]

const sentNouns =
  'request|report|complaint|message|e-?mail|ticket|enquiry|inquiry|case|abuse report'
const takenVerbs = 'received|registered|created|logged|opened|assigned|recorded|accepted'
const frenchNouns = 'demande|message|signalement|plainte|courriel|e-?mail|ticket'
const frenchVerbs = 'reçue?|enregistrée?|prise? en compte|créée?'
const germanNouns = 'anfrage|nachricht|meldung|e-?mail|beschwerde'
const germanVerbs = 'eingegangen|erhalten|erfasst|registriert'
const russianNouns = 'заявка|обращение|запрос|сообщение|письмо|жалоба'
const receiptTexts: readonly RegExp[] = [
  new RegExp(
    `(?:your|this) (?:\\w+ ){0,3}(?:${sentNouns})(?: \\(?#?[\\w-]{1,30}\\)?)? ` +
      `(?:has been|was|is) (?:\\w+ )?(?:${takenVerbs})`,
    'i',
  ),
  /we (?:have )?received your|thank(?:s| you) for contacting/i,
  new RegExp(`thank(?:s| you) for your (?:${sentNouns}|submission)`, 'i'),
  new RegExp(
    `(?:ticket|case|request|incident) (?:id |number |#)?(?:[\\w#[\\]-]{1,30} )?` +
      '(?:has been|was) (?:\\w+ )?(?:created|opened|registered|assigned)',
    'i',
  ),
  /(?:automatic|automated|auto-?generated) (?:\w+ )?(?:confirmation|acknowledge?ment)/i,
  /(?:automatic|automated|auto-?generated) (?:\w+ )?(?:response|reply|message|notification)/i,
  new RegExp(`votre (?:${frenchNouns}) a (?:bien )?été (?:${frenchVerbs})`, 'i'),
  /nous avons bien reçu (?:votre|ton)|accusé de réception/i,
  new RegExp(
    `(?:ihre|deine) (?:\\w+ ){0,2}(?:${germanNouns}) (?:ist|wurde)[^.]{0,60}(?:${germanVerbs})`,
    'i',
  ),
  /wir haben ihre|eingangsbestätigung|empfangsbestätigung/i,
  new RegExp(`ваш[аеи]? (?:${russianNouns})[^.]{0,60}(?:принят|получен|зарегистр|создан)`, 'i'),
  /su (?:solicitud|mensaje|reporte|queja) (?:ha sido|fue) (?:recibid|registrad)/i,
]

/**
 * Whether a mail is the acknowledgment that a ticket system sends for incoming mail. That is the
 * case in two situations:
 *
 * - the mail says that our mail was received, and either a ticket system or a machine wrote it, or
 *   its subject contains a new case number
 * - the mail is automatic, comes from a ticket system and contains a case number
 *
 * A person's answer through a ticket system does not count, because it is not automatic and does
 * not say that our mail was received.
 */
export function isAcknowledgment(
  fields: readonly HeaderField[],
  text: string,
  { isAutomatic, isAway }: { isAutomatic: boolean; isAway: boolean },
): boolean {
  const value = (key: string) => (fieldValue(fields, key) ?? '').slice(0, valueCharsMax)
  const isFromTicketSystem =
    fields.some(({ key }) => systemFields.has(key) || key.startsWith('x-otrs-')) ||
    systemMailers.test(`${value('x-mailer')} ${value('user-agent')} ${value('x-generated-by')}`)
  const subject = decodeHeaderText(value('subject'))
  const hasNumber = ticketSubjects.some((form) => form.test(subject))
  const start = text.slice(0, textCharsRead).replace(/\s+/g, ' ')
  const saysReceived = receiptTexts.some((form) => form.test(`${subject} ${start}`))
  const isFirst = !/^\s*(?:re|aw|sv|antw)\s*:/i.test(subject)
  if (saysReceived)
    return isFromTicketSystem || (isAutomatic && !isAway) || (hasNumber && (isAutomatic || isFirst))
  return isAutomatic && isFromTicketSystem && hasNumber
}
