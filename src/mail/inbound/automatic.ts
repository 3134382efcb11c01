import { decodeHeaderText } from '../encoded-word.ts'
import { fieldValue } from '../header.ts'
import type { HeaderField } from '../header.ts'

const valueCharsMax = 1000

/** Fields that only answering machines write, and what must stand in them. */
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
 * Subjects of vacation notes, at their start, in the words mail systems use. All are forms that a
 * machine puts before or in place of the subject it answers.
 */
const awaySubjects: readonly RegExp[] = [
  /^(?:re: ?)?\[?\(?(?:auto(?:matic|mated|matically)?[- ]?(?:reply|response|responder|answer)|autoreply)\b/i,
  /^(?:re: ?)?(?:out of (?:the )?office|on vacation|vacation (?:reply|message)|away from)/i,
  /^(?:re: ?)?i am (?:currently )?(?:away|out of|on (?:leave|vacation|holiday))/i,
  /^(?:re ?: ?)?(?:réponse automatique|absence du bureau|message d'absence|je suis absent|absen(?:t|ce)\b)/i,
  /^(?:aw: ?)?(?:automatische (?:antwort|abwesenheits)|abwesenheits(?:notiz|meldung)|autom\. antwort)/i,
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
 * Whether a machine answered for somebody (RFC 3834 §5 and what was used before it): by a field
 * that only such machines write, else by a subject that begins as theirs do.
 */
export function isAutomaticReply(fields: readonly HeaderField[]): boolean {
  return fields.some(isMachineField) || hasAwaySubject(fields)
}

/** Whether it says that somebody is away, and not only that a machine answered. */
export function isAwayNote(fields: readonly HeaderField[]): boolean {
  const byField = fields.some((field) => awayFields.includes(field.key) && isMachineField(field))
  return byField || hasAwaySubject(fields)
}

function isMachineField({ key, value }: HeaderField): boolean {
  return machineFields.get(key)?.test(value.slice(0, valueCharsMax)) === true
}

/**
 * An answer to a vacation note keeps its subject behind `Re:`; that is not enough where a person's
 * mail program says who it is.
 */
function hasAwaySubject(fields: readonly HeaderField[]): boolean {
  const subject = decodeHeaderText((fieldValue(fields, 'subject') ?? '').slice(0, valueCharsMax))
  const isPersons = fields.some(({ key }) => key === 'user-agent' || key === 'x-mailer')
  const isAnswer = /^\s*re ?:/i.test(subject)
  return !(isPersons && isAnswer) && awaySubjects.some((form) => form.test(subject.trim()))
}

const listFields = ['list-id', 'list-unsubscribe', 'list-post', 'mailing-list', 'x-loop']
const machineAuthor =
  /^(?:[^<]{0,300}<)?\s*(?:mailer-daemon|postmaster|no-?reply|do-?not-?reply|noreply[^@]{0,40}|bounces?|daemon|root|majordomo|listserv)@/i

/**
 * Whether a machine seems to have sent a mail, so that no machine may answer it (RFC 3834 §2): no
 * return path, Auto-Submitted other than `no`, the precedences of lists and bulk, what Microsoft's
 * mail systems write to keep answers away, or an address that only machines write from.
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
