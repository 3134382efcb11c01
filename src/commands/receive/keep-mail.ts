import { createHash } from 'node:crypto'
import type { App } from '../../app.ts'
import { claimInboundKey } from '../../db/inbound-keys.ts'
import { insertInboundMail } from '../../db/inbound-mails.ts'
import { pack } from '../../db/packed.ts'
import { inTransaction } from '../../db/pool.ts'
import { handleInbound, takeMailed } from '../../queue/queues.ts'
import { send } from '../../queue/send.ts'
import { uuidv7 } from '../../world.ts'
import type { Recipient } from './recipients.ts'
import { smtpReply } from './smtp-reply.ts'

/** A mail as a peer hands it over. */
export type Arrival = {
  mailFrom: string
  /** Null from a pipe. */
  peerIp: string | null
  raw: Buffer
}

type Needs = Pick<App, 'pool' | 'boss' | 'clock'>

/** More relays than any sane way has (RFC 5321 §6.3 names 100). */
const HOPS_MAX = 100
const HEADER_BYTES = 200_000

/**
 * Stores a mail for each of its recipients, with their jobs: all together, or nothing. What was
 * stored before, to the byte and for the same recipient, is not stored again: then its peer lost
 * our word, and hears it once more.
 *
 * @throws SmtpReply when the mail runs in circles
 */
export async function keepMail(
  arrival: Arrival,
  recipients: readonly Recipient[],
  app: Needs,
): Promise<void> {
  const { mailFrom, peerIp, raw } = arrival
  if (hops(raw) > HOPS_MAX) throw smtpReply(554, '5.4.6 This mail runs in circles')
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

/** Relays change the case of addresses. */
function keyOf({ rcptTo }: Recipient, content: Buffer): Buffer {
  return createHash('sha256').update(`${rcptTo.toLowerCase()}\0`).update(content).digest()
}

function hops(raw: Buffer): number {
  const head = raw.toString('latin1', 0, HEADER_BYTES)
  const end = /\r?\n\r?\n/.exec(head)?.index ?? head.length
  return head.slice(0, end).match(/^received:/gim)?.length ?? 0
}
