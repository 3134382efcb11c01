import { decodeHeaderText } from '../encoded-word.ts'
import { fieldValue } from '../header.ts'
import type { HeaderField } from '../header.ts'

const valueCharsMax = 1000
const textCharsRead = 4000

/** Fields that ticket systems write into what they send. */
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
const systemMailers =
  /\b(?:request tracker|rt \d|otrs|znuny|zendesk|freshdesk|freshservice|jira|atlassian|kayako|osticket|zammad|redmine|servicenow|help ?scout|whmcs|abuseio|abusehq|topdesk|supportpal)\b/i

const ticketSubjects: readonly RegExp[] = [
  /\[(?:ticket|case|request|incident|abuse|issue|id|ref)?\s{0,2}[:#-]?\s{0,2}#?[\w-]{0,30}\d{3,20}\]/i,
  /\[[\w. -]{1,40} #\d{2,20}\]|\((?:ticket|case|request) ?[:#]? ?[\w-]{0,20}\d{3,}\)/i,
  /\b(?:ticket|case|request|incident|vorgang|anfrage|dossier|demande|обращение|заявка)(?: (?:id|number|no\.?|nummer|nr\.?|n°|номер))?\s{0,2}[:#№]?\s{0,2}#?[\w-]{0,10}\d{3,20}/i,
  /(?:##|tt|inc|req|cas-)\d{4,20}/i,
]

const receiptTexts: readonly RegExp[] = [
  /(?:your|this) (?:\w+ ){0,3}(?:request|report|complaint|message|e-?mail|ticket|enquiry|inquiry|case|abuse report)(?: \(?#?[\w-]{1,30}\)?)? (?:has been|was|is) (?:\w+ )?(?:received|registered|created|logged|opened|assigned|recorded|accepted)/i,
  /(?:we (?:have )?received your|thank(?:s| you) for (?:contacting|your (?:report|e-?mail|message|complaint|submission|request)))/i,
  /(?:ticket|case|request|incident) (?:id |number |#)?(?:[\w#[\]-]{1,30} )?(?:has been|was) (?:\w+ )?(?:created|opened|registered|assigned)/i,
  /(?:this is an? )?(?:automatic|automated|auto-?generated) (?:\w+ )?(?:confirmation|acknowledge?ment|response|reply|message|notification)/i,
  /votre (?:demande|message|signalement|plainte|courriel|e-?mail|ticket) a (?:bien )?été (?:reçue?|enregistrée?|prise? en compte|créée?)/i,
  /nous avons bien reçu (?:votre|ton)|accusé de réception/i,
  /(?:ihre|deine) (?:\w+ ){0,2}(?:anfrage|nachricht|meldung|e-?mail|beschwerde) (?:ist|wurde)[^.]{0,60}(?:eingegangen|erhalten|erfasst|registriert)/i,
  /(?:wir haben ihre|eingangsbestätigung|empfangsbestätigung)/i,
  /ваш[аеи]? (?:заявка|обращение|запрос|сообщение|письмо|жалоба)[^.]{0,60}(?:принят|получен|зарегистрирован|создан)/i,
  /su (?:solicitud|mensaje|reporte|queja) (?:ha sido|fue) (?:recibid|registrad)/i,
]

/**
 * Whether a mail is what a ticket system sends when something comes in: such a system wrote it and
 * it gives a number or says that it was received, or a machine wrote it and it says so. What a
 * person writes through a ticket system is none: it neither comes by itself nor says so.
 */
export function isAcknowledgment(
  fields: readonly HeaderField[],
  text: string,
  { isAutomatic, isAway }: { isAutomatic: boolean; isAway: boolean },
): boolean {
  const value = (key: string) => (fieldValue(fields, key) ?? '').slice(0, valueCharsMax)
  const isSystems =
    fields.some(({ key }) => systemFields.has(key) || key.startsWith('x-otrs-')) ||
    systemMailers.test(`${value('x-mailer')} ${value('user-agent')} ${value('x-generated-by')}`)
  const subject = decodeHeaderText(value('subject'))
  const hasNumber = ticketSubjects.some((form) => form.test(subject))
  const start = text.slice(0, textCharsRead).replace(/\s+/g, ' ')
  const saysReceived = receiptTexts.some((form) => form.test(`${subject} ${start}`))
  const isFirst = !/^\s*(?:re|aw|sv|antw)\s*:/i.test(subject)
  if (saysReceived)
    return isSystems || (isAutomatic && !isAway) || (hasNumber && (isAutomatic || isFirst))
  return isAutomatic && isSystems && hasNumber
}
