import type { IncomingMessage } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createZstdDecompress, zstdDecompressSync } from 'node:zlib'
import type { z } from 'zod'
import type { Checked } from '../../judging/check-message.ts'
import type { CheckedEnvelope } from '../../judging/judge.ts'
import { parseIp, parseIpAndPort } from '../../mail/ip.ts'
import { inEnglish } from '../../texts/phrases.ts'
import {
  type CheckAction,
  checkActionOf,
  type CheckScores,
  type Verdict,
  type VerdictClass,
} from '../../verdict/verdict.ts'
import type { checkAnswerSchema } from '../api/contract/knowledge-schemas.ts'
import { inSlices } from '../bodies/read-body.ts'

/** The header fields of a check by name in lower case, with all their values. */
export type Fields = Readonly<Record<string, readonly string[] | undefined>>

/** The message of a check; `too-big` if it exceeds the limit, or the reason why it is invalid. */
export type CheckedBody = Buffer | 'too-big' | { fault: string }

const VALUE_CHARS_MAX = 1_000
const RECIPIENTS_MAX = 10_000
const BLOCKING_BYTES_MAX = 256_000
const UNPACKED_BLOCKING_BYTES_MAX = 1_000_000
const SLICE_BYTES = 1_000_000

export function fieldsOfRequest(req: IncomingMessage): Fields {
  return req.headersDistinct
}

/**
 * Parses the mail server's information about a message from the header fields of rspamd's protocol.
 * Unreadable values are absent, because an invalid header must not prevent the check.
 */
export function envelopeOf(fields: Fields): CheckedEnvelope {
  const value = (name: string) => textOf(fields[name]?.[0])
  const address = (name: string) => addressOf(fields[name]?.[0])
  return {
    // rspamd's proxy appends the port.
    ip: parseIpAndPort(value('ip') ?? '')?.text,
    helo: value('helo'),
    hostname: named(value('hostname')),
    returnPath: address('from'),
    recipients: (fields['rcpt'] ?? []).slice(0, RECIPIENTS_MAX).flatMap((one) => {
      const recipient = addressOf(one)
      return recipient === undefined || recipient === '' ? [] : [recipient]
    }),
    user: value('user'),
    system: value('mail-system'),
    queueId: value('queue-id'),
  }
}

/**
 * Returns the message in a body: all of it, or its last `Message-Length` bytes after other data.
 * Decompresses the body first if `Compression` is zstd.
 */
export async function messageIn(
  body: Buffer,
  fields: Fields,
  bytesMax: number,
): Promise<CheckedBody> {
  if (fields['file'] && body.length === 0) {
    return { fault: 'Send the message itself. Files on this machine are not read.' }
  }
  const form = fields['compression']?.[0]?.trim().toLowerCase() ?? ''
  if (form !== '' && form !== 'zstd')
    return { fault: `${textOf(form) ?? 'The encoding'} is not supported. Use zstd.` }
  const whole = form === 'zstd' ? await unpacked(body, bytesMax) : body
  if (!Buffer.isBuffer(whole)) return whole
  const length = fields['message-length']?.[0]
  if (length === undefined) return whole
  if (!/^\d{1,15}$/.test(length.trim()) || Number(length) > whole.length) {
    return { fault: 'Message-Length does not match the length of the body.' }
  }
  return whole.subarray(whole.length - Number(length))
}

async function unpacked(body: Buffer, bytesMax: number): Promise<CheckedBody> {
  if (body.length === 0) return body
  try {
    const small = await inSlices(() => unpackedAtOnce(body, bytesMax))
    return small ?? (await inTurn(() => unpackedInSlices(body, bytesMax)))
  } catch {
    return { fault: 'The body is not valid zstd.' }
  }
}

let lastTurn: Promise<unknown> = Promise.resolve()

/** Runs one task at a time, because each task uses up to twice 25 MB of memory. */
function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const made = lastTurn.then(work)
  lastTurn = made.catch(() => undefined)
  return made
}

/**
 * Decompresses a body, and copies one slice per turn of the event loop, because copying everything
 * in one step would block it for long.
 */
async function unpackedInSlices(body: Buffer, bytesMax: number): Promise<Buffer | 'too-big'> {
  const slices: Buffer[] = []
  let length = 0
  const unpacking = createZstdDecompress({ chunkSize: SLICE_BYTES })
  unpacking.end(body)
  for await (const slice of unpacking as AsyncIterable<Buffer>) {
    length += slice.length
    if (length > bytesMax) return 'too-big'
    slices.push(slice)
  }
  const whole = Buffer.allocUnsafeSlow(length)
  let at = 0
  for (const slice of slices) {
    await nextTurn()
    at += slice.copy(whole, at)
  }
  return whole
}

/**
 * Decompresses a body in one step. Undefined if that would block for long: a few bytes may
 * decompress to very many.
 */
function unpackedAtOnce(body: Buffer, bytesMax: number): Buffer | undefined {
  if (body.length > BLOCKING_BYTES_MAX) return undefined
  try {
    const maxOutputLength = Math.min(bytesMax, UNPACKED_BLOCKING_BYTES_MAX)
    return zstdDecompressSync(body, { maxOutputLength })
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/**
 * Parses an address without its angle brackets, which only Exim sends; empty means the null return
 * path.
 */
function addressOf(value: string | undefined): string | undefined {
  if (value === undefined) return undefined
  return cleaned(value.trim().replace(/^<(.*)>$/s, '$1'))
}

function textOf(value: string | undefined): string | undefined {
  const text = cleaned((value ?? '').trim())
  return text === '' ? undefined : text
}

function cleaned(value: string): string {
  return value.replaceAll(/[\p{Cc}]/gu, '').slice(0, VALUE_CHARS_MAX)
}

/**
 * Parses a host name; undefined without one: Postfix sends "unknown" if it found none, and an
 * address is not a name.
 */
function named(name: string | undefined): string | undefined {
  const isNone = name === undefined || name.toLowerCase() === 'unknown' || parseIp(name)
  return isNone ? undefined : name
}

/** The response of rspamd to /checkv2: the fields that its clients read. */
export type CheckAnswer = z.infer<typeof checkAnswerSchema> & { action: CheckAction }

const refusals: Partial<Record<VerdictClass, string>> = {
  phishing: 'This message looks like phishing.',
  malware: 'This message looks like malware.',
}

const noVerdict: Record<'unread' | 'unavailable', string> = {
  unread: 'No verdict: the message is empty, too large or cannot be judged.',
  unavailable: 'No verdict: the service is temporarily unavailable.',
}

/**
 * Composes the response to a check. A message without a verdict gets `no action`, because mail
 * servers and bridges such as rspamd's proxy treat any other response as a refusal. `unavailable`
 * may get a verdict later, `unread` never does.
 */
export function composeAnswer(
  checked: Omit<Extract<Checked, object>, 'by'> | 'unread' | 'unavailable',
  scores: CheckScores,
  seconds: number,
): CheckAnswer {
  const remove = { remove_headers: { 'X-Spam': 0 } }
  const common = { required_score: scores.reject, time_real: rounded(seconds, 6) }
  if (typeof checked === 'string') {
    const symbols = symbolsOf([{ name: 'NO_VERDICT', weight: 0, meaning: noVerdict[checked] }])
    const skipped = { is_skipped: true, score: 0, action: 'no action', symbols } as const
    return { ...skipped, ...common, messages: {}, milter: remove }
  }
  const { verdict, messageId } = checked
  const action = checkActionOf(verdict, scores)
  const add = { 'X-Spam': { value: 'Yes', order: 0 } }
  return {
    is_skipped: false,
    score: rounded(verdict.score, 3),
    ...common,
    action,
    symbols: symbolsOf(verdict.symbols),
    messages:
      action === 'reject'
        ? { smtp_message: refusals[verdict.class] ?? 'This message looks like spam.' }
        : {},
    ...(messageId !== undefined && { 'message-id': messageId }),
    milter: action === 'add header' ? { add_headers: add, ...remove } : remove,
  }
}

/**
 * Composes the response to a check in the older line protocol that Exim reads: `Metric: default;
 * False; 2.00 / 15.00 / 0.0`, the action, then the symbols.
 */
export function composeLines(answer: CheckAnswer): string {
  const isSpam = ['add header', 'rewrite subject', 'reject'].includes(answer.action)
  const flag = answer.is_skipped ? 'Skip' : isSpam ? 'True' : 'False'
  const lines = [
    'RSPAMD/1.3 0 EX_OK',
    `Metric: default; ${flag}; ${shown(answer.score)} / ${shown(answer.required_score)} / 0.0`,
    `Action: ${answer.action}`,
    ...Object.values(answer.symbols).map(({ name, score }) => `Symbol: ${name}(${shown(score)})`),
    `Message-ID: ${answer['message-id']?.replaceAll(/\p{Cc}+/gu, ' ') ?? 'undef'}`,
  ]
  return `${lines.join('\r\n')}\r\n`
}

function symbolsOf(
  symbols: readonly Pick<Verdict['symbols'][number], 'name' | 'weight' | 'meaning'>[],
): CheckAnswer['symbols'] {
  return Object.fromEntries(
    symbols.map(({ name, weight, meaning }) => {
      const score = rounded(weight, 3)
      return [name, { name, score, metric_score: score, description: inEnglish(meaning) }]
    }),
  )
}

function shown(score: number): string {
  return score.toFixed(2)
}

function rounded(value: number, digits: number): number {
  return Number(value.toFixed(digits))
}
