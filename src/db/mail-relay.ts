import sql from 'sql-template-tag'
import { afterCommit } from './nodes.ts'
import type { Db } from './pool.ts'
import { prepared } from './prepared.ts'
import { changesAny, rowOf, rowsOf } from './rows.ts'

/** The state of our own mail server (the relay), shared by all processes. */
export type MailRelay = {
  /**
   * The start of the period in which it has refused our mail or been unreachable; null when it
   * accepts mail.
   */
  refusedSince: Date | null
  /** The last error of the relay. */
  reply: string | null
  /** The earliest time of the next attempt; null: sending is not paused. */
  nextTryAt: Date | null
  acceptedAt: Date | null
  /**
   * When sending last resumed after a refusal, or an operator had all mail tried again: what failed
   * before may succeed now.
   */
  resumedAt: Date | null
}

const columns = sql`refused_since as "refusedSince", reply, next_try_at as "nextTryAt",
  accepted_at as "acceptedAt", resumed_at as "resumedAt"`

const healthy: MailRelay = {
  ...{ refusedSince: null, reply: null, nextTryAt: null },
  ...{ acceptedAt: null, resumedAt: null },
}

export async function findMailRelay(db: Db): Promise<MailRelay> {
  return (await rowOf(db)<MailRelay>`select ${columns} from mail_relay`) ?? healthy
}

/**
 * Stores that the relay accepted a mail, which ends a pause. Ignores mail handed over before the
 * latest refusal, because it does not show that the relay accepts mail again. Returns since when
 * the relay had refused mail, if this ends a refusal.
 */
export async function noteAccepted(
  tx: Db,
  { at, handedOverAt }: { at: Date; handedOverAt: Date },
): Promise<Date | undefined> {
  const { refusedSince } = await findMailRelay(tx)
  const { rowCount } = await tx.query(sql`
    update mail_relay set accepted_at = ${at}, refused_since = null, reply = null, failures = 0,
      next_try_at = null,
      resumed_at = case when refused_since is null then resumed_at else ${at}::timestamptz end
    where refused_at is null or refused_at <= ${handedOverAt}`)
  return (rowCount ?? 0) > 0 ? (refusedSince ?? undefined) : undefined
}

/** Stores that the relay answers again while no mail waits that could be tried. */
export async function noteReachable(db: Db, at: Date): Promise<void> {
  await db.query(sql`
    update mail_relay set refused_since = null, reply = null, failures = 0, next_try_at = null,
      resumed_at = ${at}`)
}

/**
 * Times in milliseconds for which sending pauses: after the first failure, and at most. The pause
 * doubles with each failure.
 */
export type RelayPauses = { firstMs: number; maxMs: number }

/** A failure of the relay. `since`: when it began, if it was noticed later. */
type RelayFailure = { at: Date; reply: string; handedOverAt: Date; since?: Date }

/**
 * Stores a failure of the relay. With `pauses` it also pauses sending; failures of attempts that
 * ran concurrently count as one.
 */
export async function noteRefused(
  db: Db,
  { at, reply, handedOverAt, since = at }: RelayFailure,
  pauses: RelayPauses | undefined,
): Promise<void> {
  const { firstMs, maxMs } = pauses ?? {}
  const isNext = sql`${firstMs}::float8 is not null
    and (next_try_at is null or refused_at is null or refused_at < ${handedOverAt})`
  await db.query(sql`
    update mail_relay set refused_since = coalesce(refused_since, ${since}), refused_at = ${at},
      reply = ${reply}, failures = case when ${isNext} then failures + 1 else failures end,
      next_try_at = case when ${isNext}
        then ${at}::timestamptz + interval '1 millisecond'
          * least(${maxMs}::float8, ${firstMs}::float8 * 2 ^ least(failures, 20))
        else next_try_at end`)
}

/**
 * Claims the right to try the paused relay with one mail, until an instant; false when another
 * process has claimed it.
 */
export function claimTrial(db: Db, now: Date, until: Date): Promise<boolean> {
  return changesAny(db)`
    update mail_relay set next_try_at = ${until} where next_try_at <= ${now}`
}

/** Ends the pause of sending, so that the next mail tries the relay. */
export async function endPause(tx: Db, now: Date): Promise<void> {
  await tx.query(sql`update mail_relay set next_try_at = ${now} where next_try_at > ${now}`)
}

/** Makes all processes forget failures before an instant, as when sending resumes. */
export async function noteResumed(tx: Db, at: Date): Promise<void> {
  await tx.query(sql`update mail_relay set resumed_at = ${at}`)
}

/** `feedback`: mail to abuse desks; `letter`: mail to people. */
export type MailKind = 'feedback' | 'letter'

type MailOutcome = 'sent' | 'refused' | 'bounced'

export type MailTotal = { kind: MailKind; outcome: MailOutcome; total: number }

export async function countMails(
  tx: Db,
  kind: MailKind,
  outcomes: readonly string[],
): Promise<void> {
  for (const outcome of ['bounced', 'refused', 'sent'] as const) {
    const count = outcomes.filter((one) => one === outcome).length
    if (count === 0) continue
    const added = prepared`
      insert into mail_totals (kind, outcome, total) values (${kind}, ${outcome}, ${count})
      on conflict (kind, outcome) do update set total = mail_totals.total + excluded.total`
    await afterCommit(tx, (db) => db.query(added))
  }
}

export function listMailTotals(db: Db): Promise<MailTotal[]> {
  return rowsOf(db)`
    select kind, outcome, total::float8 as total from mail_totals order by kind, outcome`
}

export type WaitingMail = { kind: MailKind; state: 'queued' | 'waiting' | 'held'; mails: number }

/** Counts unsent mails, and refused mails that can be sent again. */
export async function countWaitingMail(
  db: Db,
): Promise<{ waiting: WaitingMail[]; refused: Record<MailKind, number> }> {
  const { rows } = await db.query<{ kind: MailKind; state: string; mails: number }>(prepared`
    select 'feedback' as kind, state, count(*)::int as mails from feedback_reports
    where state in ('queued', 'waiting', 'held', 'refused') group by state
    union all
    select 'letter', state, count(*)::int from letters
    where state in ('queued', 'held', 'refused') group by state`)
  const refused = { feedback: 0, letter: 0 }
  const waiting: WaitingMail[] = []
  for (const { kind, state, mails } of rows) {
    if (state === 'refused') refused[kind] = mails
    else waiting.push({ kind, state: state as WaitingMail['state'], mails })
  }
  return { waiting, refused }
}
