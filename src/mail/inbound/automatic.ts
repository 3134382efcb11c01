import { parseMailboxes } from '../address.ts'
import { decodeHeaderText } from '../encoded-word.ts'
import { fieldValue, type HeaderField } from '../header.ts'

/**
 * Whether a machine may answer a mail (RFC 3834 §2, RFC 5230 §4.6): a person seems to have sent it,
 * it was not sent through a mailing list, and it is not our own. `ours` are our own addresses, and
 * our domain as `@domain`. False when in doubt.
 */
export function mayBeAnswered(
  fields: readonly HeaderField[],
  mailFrom: string,
  ours: readonly string[],
): boolean {
  const value = (key: string) =>
    (fieldValue(fields, key) ?? '').slice(0, 1_000).trim().toLowerCase()
  const has = (key: string) => fieldValue(fields, key) !== undefined
  if (mailFrom === '' || value('return-path') === '<>') return false
  if (has('auto-submitted') && !/^no\b/.test(value('auto-submitted'))) return false
  if (/\b(?:bulk|list|junk|auto_reply)\b/.test(value('precedence'))) return false
  if (/\b(?:all|autoreply|oof)\b/.test(value('x-auto-response-suppress'))) return false
  if (automaticFields.some(has) || fields.some(({ key }) => key.startsWith('list-'))) return false
  const author = parseMailboxes(fieldValue(fields, 'from') ?? '')[0]?.address ?? ''
  return [mailFrom, author].every((address) => {
    const known = address.toLowerCase()
    const isOurs = ours.some((own) => (own.startsWith('@') ? known.endsWith(own) : known === own))
    return !isOurs && !robots.test(known)
  })
}

const automaticFields = ['x-autoreply', 'x-autorespond', 'x-autoresponder', 'x-loop', 'feedback-id']
const robots =
  /^(?:mailer-daemon|postmaster|listserv|majordomo|no-?reply|do-?not-?reply)@|-request@|^owner-/

const valueCharsMax = 1000

/** Fields that only automatic responders write, and the values they must have. */
const machineFields: ReadonlyMap<string, RegExp> = new Map([
  ['auto-submitted', /^\s*auto-replied\b/i],
  ['x-autoreply', /^(?!\s*no\b)/i],
  ['x-autorespond', /^/],
  ['x-autoresponder', /^/],
  ['x-autoreply-from', /^/],
  ['x-auto-reply', /^/],
  ['x-auto-response', /^/],
  ['x-mail-autoreply', /^/],
  ['x-apple-action', /vacation/i],
  ['x-amazon-auto-reply', /true/i],
  ['x-mimecast-autoreply', /^/],
  ['x-cron-env', /^/],
  ['x-vacation', /^/],
  ['x-ms-exchange-inbox-rules-loop', /^/],
  ['precedence', /^\s*auto[-_]reply\b/i],
  ['delivered-to', /^\s*autoresponder\b/i],
])

/**
 * The beginnings that mail systems give to the subjects of vacation notices. A machine writes them
 * before the subject that it answers, or in place of that subject.
 */
const awaySubjects: readonly RegExp[] = [
  /^(?:re: ?)?\[?\(?auto(?:matic|mated|matically)?[- ]?(?:reply|response|responder|answer)\b/i,
  /^(?:re: ?)?\[?\(?autoreply\b/i,
  /^(?:re: ?)?(?:out of (?:the )?office|on vacation|vacation (?:reply|message)|away from)/i,
  /^(?:re: ?)?i am (?:currently )?(?:away|out of|on (?:leave|vacation|holiday))/i,
  /^(?:re ?: ?)?(?:réponse automatique|absence du bureau|message d'absence)/i,
  /^(?:re ?: ?)?(?:je suis absent|absen(?:t|ce)\b)/i,
  /^(?:aw: ?)?(?:automatische (?:antwort|abwesenheits)|abwesenheits(?:notiz|meldung))/i,
  /^(?:aw: ?)?autom\. antwort/i,
  /^(?:re: ?)?(?:respuesta automática|fuera de la oficina|ausente)/i,
  /^(?:re: ?)?(?:risposta automatica|fuori (?:ufficio|sede))/i,
  /^(?:re: ?)?(?:resposta automática|ausência do escritório|fora do escritório)/i,
  /^(?:re: ?)?(?:автоматический ответ|автоответ|нет на (?:рабочем )?месте|я в отпуске)/i,
  /^(?:re: ?)?(?:automatisch antwoord|afwezig(?:heid)?|niet op kantoor)/i,
  /^(?:re: ?)?(?:automatisk svar|autosvar|frånvar|fravær|poissaolo|automaattinen vastaus)/i,
  /^(?:re: ?)?(?:automatyczna odpowied|autoodpowied|nieobecno|automatická odpov)/i,
  /^(?:re: ?)?(?:自動返信|自動応答|不在(?:通知|のお知らせ)|自动(?:回复|答复)|自動回覆|자동 ?(?:응답|회신))/i,
  /^(?:re: ?)?(?:otomatik yanıt|ofis dışında|automatikus válasz|αυτόματη απάντηση)/i,
]

const awayFields = ['x-apple-action', 'x-vacation', 'x-ms-exchange-inbox-rules-loop']

/**
 * Whether a machine answered on behalf of a person (RFC 3834 §5 and older fields): it has a field
 * that only such machines write, or a subject that begins like those of vacation notices.
 */
export function isAutomaticReply(fields: readonly HeaderField[]): boolean {
  return fields.some(isMachineField) || hasAwaySubject(fields)
}

/** Whether a mail says that a person is away, and not only that a machine answered. */
export function isAwayNote(fields: readonly HeaderField[]): boolean {
  const byField = fields.some((field) => awayFields.includes(field.key) && isMachineField(field))
  return byField || hasAwaySubject(fields)
}

function isMachineField(field: HeaderField): boolean {
  // Reads the value only if it matters, because it is unfolded on demand.
  return machineFields.get(field.key)?.test(field.value.slice(0, valueCharsMax)) === true
}

/**
 * Whether the subject is that of a vacation notice. A person's reply to such a notice keeps its
 * subject after `Re:`, so such a reply does not count if it names the mail program that wrote it.
 */
function hasAwaySubject(fields: readonly HeaderField[]): boolean {
  const subject = decodeHeaderText((fieldValue(fields, 'subject') ?? '').slice(0, valueCharsMax))
  const isByMailProgram = fields.some(({ key }) => key === 'user-agent' || key === 'x-mailer')
  const isAnswer = /^\s*re ?:/i.test(subject)
  return !(isByMailProgram && isAnswer) && awaySubjects.some((form) => form.test(subject.trim()))
}

const listFields = ['list-id', 'list-unsubscribe', 'list-post', 'mailing-list', 'x-loop']
const machineNames = [
  'mailer-daemon|postmaster|no-?reply|do-?not-?reply|noreply[^@]{0,40}',
  'bounces?|daemon|root|majordomo|listserv',
].join('|')
const machineAuthor = new RegExp(`^(?:[^<]{0,300}<)?\\s*(?:${machineNames})@`, 'i')

/**
 * Whether a machine seems to have sent a mail, so that no machine may answer it (RFC 3834 §2): it
 * has no return path, Auto-Submitted other than `no`, the Precedence of lists and bulk mail, the
 * field with which Microsoft's mail systems suppress answers, or an address that only machines use.
 */
export function isFromMachine(fields: readonly HeaderField[], mailFrom: string): boolean {
  if (mailFrom.replace(/[<>\s]/g, '') === '') return true
  const value = (key: string) => (fieldValue(fields, key) ?? '').slice(0, valueCharsMax)
  if (value('return-path').replace(/\s/g, '') === '<>') return true
  const submitted = value('auto-submitted').trim().toLowerCase()
  if (submitted !== '' && !/^no\b/.test(submitted)) return true
  if (/^\s*(?:bulk|junk|list|auto[-_]reply)\b/i.test(value('precedence'))) return true
  if (/all|oof|autoreply|dr|ndr|rn|nrn/i.test(value('x-auto-response-suppress'))) return true
  if (fields.some(({ key }) => listFields.includes(key))) return true
  return machineAuthor.test(value('from')) || isAutomaticReply(fields)
}
