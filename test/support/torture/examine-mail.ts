import type { Pool } from '../../../src/db/pool.ts'
import { type Packed, unpack } from '../../../src/db/rows.ts'
import type { SunkMail } from '../smtp-sink.ts'
import type { Ledger } from './reporters.ts'

/** The number of feedback reports that were sent, and of the mails that arrived more than once. */
export type ExaminedMail = { sent: number; repeats: number; faults: string[] }

type Row = Packed & { reportId: string; number: number; state: string; messageId: string | null }

/**
 * Checks that each feedback report was sent, that its copy is what arrived, and that a mail that
 * arrived again had the same bytes: a process may end after sending and before recording it. For
 * the same reason, the mail of a withdrawn feedback report may have arrived before the retraction.
 */
export async function examineMail(
  pool: Pool,
  mails: readonly SunkMail[],
  { told }: Ledger,
): Promise<ExaminedMail> {
  const { rows } = await pool.query<Row>(
    `select report_id as "reportId", number, state, message_id as "messageId", encoding, content
     from feedback_reports left join feedback_messages using (report_id, number, shard)`,
  )
  const arrived = Map.groupBy(mails, ({ raw }) => messageIdOf(raw))
  const faults: string[] = []
  for (const { reportId, number, state, messageId, encoding, content } of rows) {
    const name = `feedback report ${reportId} ${number}`
    if (state !== 'sent') {
      if (state !== 'withdrawn') faults.push(`${name} ended as ${state}`)
      continue
    }
    const its = arrived.get(messageId ?? '') ?? []
    arrived.delete(messageId ?? '')
    if (its.length === 0) faults.push(`${name} is sent, and did not arrive`)
    const copy = await unpack({ encoding, content })
    if (its.some(({ raw }) => !isCopyOf(copy, raw))) faults.push(`${name} arrived with other bytes`)
  }
  const withdrawn = new Set(rows.filter(({ state }) => state === 'withdrawn').map(nameOf))
  for (const [messageId, its] of arrived) {
    const retractedMs = told.get(messageId.slice(1).split('.')[0] ?? '')?.retractedMs ?? 0
    const isEarly = its.every(({ arrivedMs }) => arrivedMs < retractedMs + SENDING_MS_MAX)
    const isUnknown = isEarly && withdrawn.has(messageId.slice(1).split('@')[0] ?? '')
    if (!isUnknown) faults.push(`${messageId} arrived, and is not sent`)
  }
  const sent = rows.filter(({ state }) => state === 'sent').length
  return { sent, repeats: mails.length - sent, faults }
}

/** How a feedback report is named in its Message-ID. */
function nameOf({ reportId, number }: Row): string {
  return `${reportId}.${number}`
}

/** A mail that was being sent may arrive a moment after the retraction. */
const SENDING_MS_MAX = 5_000

function messageIdOf(raw: Buffer): string {
  return /^Message-ID: (\S+)/m.exec(raw.toString('latin1'))?.[1] ?? ''
}

/** Whether a stored copy is what was sent, except for keys, in whose place it has asterisks. */
function isCopyOf(copy: Buffer, raw: Buffer): boolean {
  const asterisk = 0x2a
  return (
    copy.length === raw.length &&
    copy.every((byte, index) => byte === raw[index] || byte === asterisk)
  )
}
