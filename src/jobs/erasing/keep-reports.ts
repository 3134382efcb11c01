import { listPackedAnalyses } from '../../db/analyses.ts'
import {
  anonymizeReport,
  type ReportToErase,
  removeMessages,
  replaceAnalysis,
} from '../../db/erased-reports.ts'
import { withdrawFeedback } from '../../db/feedback-waiting.ts'
import { pack, unpack } from '../../db/packed.ts'
import type { Db } from '../../db/pool.ts'
import { listRawMessages } from '../../db/raw-messages.ts'
import { type AddressRedactor, createAddressRedactor } from '../../mail/address-redactor.ts'
import { readMessage } from '../../mail/message.ts'
import { recipientsIn } from '../../mail/redact-fields.ts'
import { reporterNames } from '../../mail/reporter-names.ts'
import { systemRandom } from '../../world.ts'
import type { ErasingWork } from './drop-reports.ts'

/** Addresses that the provider wrote into one message. */
const DELIVERED_MAX = 10
const KEY_BYTES = 32

/**
 * Lets reports stay without the person: a nameless reporter, no comment, no message, and in what
 * was found each address and name of the person replaced. Counters, evidence and what others were
 * told stay as they are: the person is in none of them. Returns how many are done.
 */
export async function keepReports(
  tx: Db,
  reports: readonly ReportToErase[],
  { erasure, account, isPatient, now }: ErasingWork,
): Promise<number> {
  const ready = reports.filter((report) => !isPatient || !isStillNeeded(report))
  if (ready.length === 0) return 0
  for (const { id, isTold } of ready) if (isTold) await withdrawFeedback(tx, id, now)
  const ids = ready.map(({ id }) => id)
  const messages = new Map((await listRawMessages(tx, ids)).map((one) => [one.id, one]))
  const analyses = new Map((await listPackedAnalyses(tx, ids)).map((one) => [one.id, one]))
  for (const { id, author, subject } of ready) {
    const message = messages.get(id)
    const people = redactorOf(account.email, message && (await unpack(message)))
    const plain = (text: string | null) => (text === null ? null : people.redact(text))
    const { anonymousId } = erasure
    await anonymizeReport(tx, id, { anonymousId, author: plain(author), subject: plain(subject) })
    const analysis = analyses.get(id)
    if (!analysis) continue
    const found: unknown = JSON.parse((await unpack(analysis)).toString())
    const packed = await pack(Buffer.from(JSON.stringify(redacted(found, people))))
    await replaceAnalysis(tx, id, { packed, judgment: redacted(analysis.judgment, people) })
  }
  await removeMessages(tx, ids)
  return ids.length
}

/** Its message is still to be looked at, or to be told to somebody. */
function isStillNeeded({ state, isTold, isLeaving }: ReportToErase): boolean {
  return state === 'received' || isLeaving || (state === 'analyzed' && !isTold)
}

/** Codes made with a key that nobody keeps: they can be told from each other, and no more. */
function redactorOf(email: string, raw: Buffer | undefined): AddressRedactor {
  const fields = raw ? readMessage(raw).header.fields : []
  const { delivered, claimed } = recipientsIn(fields)
  const own = [email, ...delivered.slice(0, DELIVERED_MAX), ...claimed]
  return createAddressRedactor(own, systemRandom(KEY_BYTES), reporterNames(fields, own))
}

/** The same with every text redacted, however deep it stands. */
function redacted(value: unknown, people: AddressRedactor): unknown {
  if (typeof value === 'string') return people.redact(value)
  if (Array.isArray(value)) return value.map((one) => redacted(one, people))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, redacted(one, people)]))
}
