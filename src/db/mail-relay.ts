import type { Db } from './pool.ts'
import { first } from './rows.ts'

/** How our own mail server takes our mail, as all processes know it. */
export type MailRelay = {
  /** Since when it refuses our mail or is away; null: it takes mail. */
  refusedSince: Date | null
  /** What it said last. */
  reply: string | null
  failures: number
  /** Nothing is sent before; null: sending is not paused. */
  nextTryAt: Date | null
  acceptedAt: Date | null
}

const columns = `refused_since as "refusedSince", reply, failures, next_try_at as "nextTryAt",
  accepted_at as "acceptedAt"`

const healthy: MailRelay = {
  ...{ refusedSince: null, reply: null, failures: 0, nextTryAt: null, acceptedAt: null },
}

/** The state of the relay. */
export async function findMailRelay(db: Db): Promise<MailRelay> {
  return first(await db.query<MailRelay>(`select ${columns} from mail_relay`)) ?? healthy
}

/**
 * Keeps that the relay accepted a mail, which ends a pause. Mail that was handed over before the
 * latest refusal says nothing of the time after it.
 */
export async function noteAccepted(
  db: Db,
  { at, handedOverAt }: { at: Date; handedOverAt: Date },
): Promise<void> {
  await db.query(
    `update mail_relay set accepted_at = $1, refused_since = null, reply = null, failures = 0,
       next_try_at = null
     where refused_at is null or refused_at <= $2`,
    [at, handedOverAt],
  )
}

/** How long sending rests after a failure: the first time, and at most; doubled in between. */
export type RelayPauses = { firstMs: number; maxMs: number }

/**
 * Keeps a failure of the relay. With `pauses` sending is paused; several failures at once, which
 * were under way together, count as one.
 */
export async function noteRefused(
  db: Db,
  { at, reply, handedOverAt }: { at: Date; reply: string; handedOverAt: Date },
  pauses: RelayPauses | undefined,
): Promise<void> {
  const isNext = `$4::float8 is not null
    and (next_try_at is null or refused_at is null or refused_at < $3)`
  await db.query(
    `update mail_relay set refused_since = coalesce(refused_since, $1), refused_at = $1, reply = $2,
       failures = case when ${isNext} then failures + 1 else failures end,
       next_try_at = case when ${isNext}
         then $1::timestamptz + interval '1 millisecond'
           * least($5::float8, $4::float8 * 2 ^ least(failures, 20))
         else next_try_at end`,
    [at, reply, handedOverAt, pauses?.firstMs ?? null, pauses?.maxMs ?? null],
  )
}

/** Takes the right to try the paused relay with one mail until an instant; false: it is taken. */
export async function claimTrial(db: Db, now: Date, until: Date): Promise<boolean> {
  const { rowCount } = await db.query(
    `update mail_relay set next_try_at = $2 where next_try_at <= $1`,
    [now, until],
  )
  return rowCount === 1
}

/** Mail to abuse desks, or to people. */
export type MailKind = 'feedback' | 'letter'

/** How mail ends that is counted. */
type MailOutcome = 'sent' | 'refused' | 'bounced'

/** How many mails of a kind. */
export type MailTotal = { kind: MailKind; outcome: MailOutcome; total: number }

/** Counts mails whose end is kept in the same transaction. */
export async function countMails(
  tx: Db,
  kind: MailKind,
  outcomes: readonly string[],
): Promise<void> {
  for (const outcome of ['bounced', 'refused', 'sent'] as const) {
    const count = outcomes.filter((one) => one === outcome).length
    if (count === 0) continue
    await tx.query(
      `insert into mail_totals (kind, outcome, total) values ($1, $2, $3)
       on conflict (kind, outcome) do update set total = mail_totals.total + excluded.total`,
      [kind, outcome, count],
    )
  }
}

/** What became of mail so far. */
export async function listMailTotals(db: Db): Promise<MailTotal[]> {
  const { rows } = await db.query<MailTotal>(
    `select kind, outcome, total::float8 as total from mail_totals order by kind, outcome`,
  )
  return rows
}

/** How many mails have not left, by why. */
export type WaitingMail = { kind: MailKind; state: 'queued' | 'waiting' | 'held'; mails: number }

/** What waits to leave now, and what was refused and can be sent again. */
export async function countWaitingMail(
  db: Db,
): Promise<{ waiting: WaitingMail[]; refused: Record<MailKind, number> }> {
  const { rows } = await db.query<{ kind: MailKind; state: string; mails: number }>(
    `select 'feedback' as kind, state, count(*)::int as mails from feedback_reports
     where state in ('queued', 'waiting', 'held', 'refused') group by state
     union all
     select 'letter', state, count(*)::int from letters
     where state in ('queued', 'held', 'refused') group by state`,
  )
  const refused = { feedback: 0, letter: 0 }
  const waiting: WaitingMail[] = []
  for (const { kind, state, mails } of rows) {
    if (state === 'refused') refused[kind] = mails
    else waiting.push({ kind, state: state as WaitingMail['state'], mails })
  }
  return { waiting, refused }
}
