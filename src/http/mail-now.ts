import { findMailRelay, type MailRelay } from '../db/mail-relay.ts'
import {
  countWaitingMail,
  listMailTotals,
  type MailKind,
  type MailTotal,
  type WaitingMail,
} from '../db/mail-totals.ts'
import type { Pool } from '../db/pool.ts'

/** How mail leaves. */
export type MailNow = {
  relay: MailRelay
  totals: readonly MailTotal[]
  waiting: readonly WaitingMail[]
  /** What can be sent again. */
  refused: Readonly<Record<MailKind, number>>
}

/** Reads how mail leaves. */
export type ReadMail = () => Promise<MailNow>

/** Reads from the database at each call. */
export function createReadMail({ pool }: { pool: Pool }): ReadMail {
  return async () => {
    const [relay, totals, waiting] = await Promise.all([
      findMailRelay(pool),
      listMailTotals(pool),
      countWaitingMail(pool),
    ])
    return { relay, totals, ...waiting }
  }
}
