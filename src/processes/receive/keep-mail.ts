import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { z } from 'zod'
import type { App } from '../../app.ts'
import { claimInboundKey, type InboundMail, insertInboundMail } from '../../db/inbox.ts'
import { inTransaction } from '../../db/pool.ts'
import { pack } from '../../db/rows.ts'
import { needsDatabase, type Outage } from '../../outage/outage.ts'
import type { Spool, SpoolEntry } from '../../outage/spool.ts'
import { send } from '../../queue/boss.ts'
import { mailQueueOf } from '../../reports/take-mailed.ts'
import { uuidv7 } from '../../world.ts'

/** One of our addresses, and its purpose. */
export type Recipient = Pick<
  InboundMail,
  'rcptTo' | 'purpose' | 'reportId' | 'number' | 'letterId' | 'reporterId'
>

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
export type MailMemory = {
  /**
   * Reads a mail completely and passes it to `keep`; its memory is released afterwards. Reads and
   * discards a mail above `bytesMax` or above the free memory, then refuses it.
   *
   * @throws SmtpReply if the mail is too large or incomplete, or if memory is full
   */
  read: <T>(stream: Readable, bytesMax: number, keep: (raw: Buffer) => Promise<T>) => Promise<T>
}

/** Creates a memory that holds at most `heldMax` bytes of mail. */
export function createMailMemory(heldMax: number): MailMemory {
  let held = 0
  return {
    async read(stream, bytesMax, keep) {
      let own = 0
      const hold = (bytes: number) => {
        const refusal =
          own + bytes > bytesMax
            ? smtpReply(552, `5.3.4 The maximum size is ${bytesMax} bytes`)
            : noRoom(held + bytes, heldMax)
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

function noRoom(held: number, heldMax: number): SmtpReply | undefined {
  if (held <= heldMax) return undefined
  return smtpReply(452, '4.3.1 No space for more mail, try again later')
}

export type Arrival = {
  mailFrom: string
  /** Null for a mail from standard input. */
  peerIp: string | null
  raw: Buffer
}

type Needs = Pick<App, 'pool' | 'boss' | 'clock'>
/** Where mails with reports are stored while the database is away. */
export type Refuge = { outage: Pick<Outage, 'run'>; spool: Pick<Spool, 'append'> }

/** More hops than any legitimate route has (RFC 5321 §6.3 suggests 100). */
const HOPS_MAX = 100
const HEADER_BYTES = 200_000

/**
 * Stores a mail and a job for each of its recipients, all or none. A mail already stored for the
 * same recipient with the same bytes is not stored again; a client that sends it again, because it
 * did not receive our reply, gets the same reply. With a `refuge`, mails from reporters are kept
 * while the database is away.
 *
 * @throws SmtpReply if the mail loops, or if it must wait for the database
 */
export async function keepMail(
  arrival: Arrival,
  recipients: readonly Recipient[],
  app: Needs,
  refuge?: Refuge,
): Promise<void> {
  const { mailFrom, peerIp, raw } = arrival
  if (hops(raw) > HOPS_MAX) throw smtpReply(554, '5.4.6 Mail loop detected')
  const now = app.clock()
  const content = createHash('sha256').update(raw).digest()
  const packed = await pack(raw)
  const mails = recipients
    .map((recipient) => {
      const mail = { id: uuidv7(now), receivedAt: now, mailFrom, peerIp, ...recipient, ...packed }
      return { mail, keyHash: keyOf(recipient, content) }
    })
    .sort((a, b) => Buffer.compare(a.keyHash, b.keyHash))
  const store = () => storeMails(mails, app)
  if (!refuge) return store()
  await refuge.outage.run(store, async () => {
    // Other mail servers keep bounces and answers until the database is back.
    if (recipients.some(({ purpose }) => purpose !== 'mail-in')) throw needsDatabase()
    await Promise.all(mails.map((one) => refuge.spool.append(spooledMail(one))))
  })
}

type KeyedMail = { mail: InboundMail; keyHash: Buffer }

async function storeMails(mails: readonly KeyedMail[], app: Needs): Promise<void> {
  const now = app.clock()
  await inTransaction(app.pool, async (tx) => {
    for (const { mail, keyHash } of mails) {
      if (!(await claimInboundKey(tx, { keyHash, mailId: mail.id, now }))) continue
      await insertInboundMail(tx, mail)
      await send(app.boss, mailQueueOf(mail.purpose), [{ mailId: mail.id }], tx)
    }
  })
}

const spooledSchema = z.object({
  type: z.literal('mail'),
  encoding: z.enum(['identity', 'zstd']),
  keyHash: z.hex(),
  mail: z.object({
    receivedAt: z.iso.datetime().transform((text) => new Date(text)),
    mailFrom: z.string(),
    rcptTo: z.string(),
    peerIp: z.string().nullable(),
    reporterId: z.uuid(),
  }),
})

function spooledMail({ mail, keyHash }: KeyedMail): SpoolEntry {
  const { id, encoding, content, ...its } = mail
  return {
    id,
    values: { type: 'mail', encoding, keyHash: keyHash.toString('hex'), mail: its },
    content,
  }
}

/**
 * Stores the mails from reporters that were accepted while the database was away. May be repeated,
 * because stored mails are known by their keys. Returns the entries that cannot be stored.
 */
export async function takeSpooledMail(
  entries: readonly SpoolEntry[],
  app: Needs,
): Promise<SpoolEntry[]> {
  const refused: SpoolEntry[] = []
  for (const entry of entries) {
    const { success, data } = spooledSchema.safeParse(entry.values)
    if (!success) {
      refused.push(entry)
      continue
    }
    const { encoding, keyHash, mail } = data
    const none = { reportId: null, number: null, letterId: null }
    const its = { ...none, ...mail, purpose: 'mail-in', encoding } as const
    const { id, content } = entry
    await storeMails([{ mail: { id, content, ...its }, keyHash: Buffer.from(keyHash, 'hex') }], app)
  }
  return refused
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
