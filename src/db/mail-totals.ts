import type { Db } from './pool.ts'

/** Mail to abuse desks, or to people. */
export type MailKind = 'feedback' | 'letter'

/** How mail ends that is counted. */
export type MailOutcome = 'sent' | 'refused' | 'bounced'

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
