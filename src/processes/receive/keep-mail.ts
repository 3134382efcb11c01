import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import type { App } from '../../app.ts'
import { claimInboundKey, insertInboundMail } from '../../db/inbox.ts'
import { inTransaction } from '../../db/pool.ts'
import { pack } from '../../db/rows.ts'
import { handleInbound } from '../../feedback/handle-inbound.ts'
import { send } from '../../queue/boss.ts'
import { takeMailed } from '../../reports/take-mailed.ts'
import { uuidv7 } from '../../world.ts'
import type { Recipient } from './recipients.ts'

/**
 * An SMTP refusal: a reply code, and a text that starts with an enhanced status code (RFC 3463).
 */
export type SmtpReply = Error & { responseCode: number }

export function smtpReply(responseCode: number, text: string, cause?: unknown): SmtpReply {
  return Object.assign(new Error(text, { cause }), { responseCode })
}

/** Whether a thrown value is a refusal for the client. */
export function isSmtpReply(error: unknown): error is SmtpReply {
  return error instanceof Error && 'responseCode' in error
}

/** The memory for mails that are being received or stored. */
export type Spool = {
  /**
   * Reads a mail completely and passes it to `keep`; its memory is released afterwards. Reads and
   * discards a mail above `bytesMax` or above the free memory, then refuses it.
   *
   * @throws SmtpReply if the mail is too large or incomplete, or if memory is full
   */
  read: <T>(stream: Readable, bytesMax: number, keep: (raw: Buffer) => Promise<T>) => Promise<T>
}

/** Creates a spool that holds at most `heldMax` bytes of mail. */
export function createSpool(heldMax: number): Spool {
  let held = 0
  return {
    async read(stream, bytesMax, keep) {
      let own = 0
      const hold = (bytes: number) => {
        const refusal = own + bytes > bytesMax ? tooBig(bytesMax) : noRoom(held + bytes, heldMax)
        const change = refusal ? -own : bytes
        own += change
        held += change
        return refusal
      }
      try {
        return await keep(await collect(stream, hold))
      } finally {
        held -= own
      }
    },
  }
}

async function collect(
  stream: Readable,
  hold: (bytes: number) => SmtpReply | undefined,
): Promise<Buffer> {
  const chunks: Buffer[] = []
  let refusal: SmtpReply | undefined
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      refusal ??= hold(chunk.length)
      if (refusal) chunks.length = 0
      else chunks.push(chunk)
    }
  } catch (error) {
    throw isSmtpReply(error) ? error : smtpReply(451, '4.4.2 The message is incomplete', error)
  }
  if (refusal) throw refusal
  return Buffer.concat(chunks)
}

function tooBig(bytesMax: number): SmtpReply {
  return smtpReply(552, `5.3.4 The maximum size is ${bytesMax} bytes`)
}

function noRoom(held: number, heldMax: number): SmtpReply | undefined {
  if (held <= heldMax) return undefined
  return smtpReply(452, '4.3.1 No space for more mail, try again later')
}

/** A mail as received from a client. */
export type Arrival = {
  mailFrom: string
  /** Null for a mail from standard input. */
  peerIp: string | null
  raw: Buffer
}

type Needs = Pick<App, 'pool' | 'boss' | 'clock'>

/** More hops than any legitimate route has (RFC 5321 §6.3 suggests 100). */
const HOPS_MAX = 100
const HEADER_BYTES = 200_000

/**
 * Stores a mail and a job for each of its recipients, all or none. A mail already stored for the
 * same recipient with the same bytes is not stored again; a client that sends it again, because it
 * did not receive our reply, gets the same reply.
 *
 * @throws SmtpReply if the mail loops
 */
export async function keepMail(
  arrival: Arrival,
  recipients: readonly Recipient[],
  app: Needs,
): Promise<void> {
  const { mailFrom, peerIp, raw } = arrival
  if (hops(raw) > HOPS_MAX) throw smtpReply(554, '5.4.6 Mail loop detected')
  const now = app.clock()
  const content = createHash('sha256').update(raw).digest()
  const packed = await pack(raw)
  const mails = recipients
    .map((recipient) => ({ recipient, key: keyOf(recipient, content) }))
    .sort((a, b) => Buffer.compare(a.key, b.key))
  await inTransaction(app.pool, async (tx) => {
    for (const { recipient, key } of mails) {
      const id = uuidv7(now)
      if (!(await claimInboundKey(tx, { keyHash: key, mailId: id, now }))) continue
      await insertInboundMail(tx, {
        id,
        receivedAt: now,
        mailFrom,
        peerIp,
        ...recipient,
        ...packed,
      })
      const queue = recipient.purpose === 'mail-in' ? takeMailed : handleInbound
      await send(app.boss, queue, [{ mailId: id }], tx)
    }
  })
}

/**
 * Hashes the recipient and the content. The recipient is in lower case, because relays may change
 * the case of addresses.
 */
function keyOf({ rcptTo }: Recipient, content: Buffer): Buffer {
  return createHash('sha256').update(`${rcptTo.toLowerCase()}\0`).update(content).digest()
}

function hops(raw: Buffer): number {
  const head = raw.toString('latin1', 0, HEADER_BYTES)
  const end = /\r?\n\r?\n/.exec(head)?.index ?? head.length
  return head.slice(0, end).match(/^received:/gim)?.length ?? 0
}
