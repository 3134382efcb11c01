import type { Db } from './pool.ts'
import { first } from './values.ts'

/** What is known of whether and how to advise a reporter. */
export type AdvisedReporter = {
  email: string
  language: 'en' | 'fr' | 'ru' | null
  wantsAdvice: boolean
}

/** A reporter as advice is concerned. */
export async function findAdvisedReporter(
  db: Db,
  id: string,
): Promise<AdvisedReporter | undefined> {
  return first(
    await db.query<AdvisedReporter>(
      `select email, language, wants_advice as "wantsAdvice" from reporters where id = $1`,
      [id],
    ),
  )
}

/** Switches the advice of a reporter on or off. */
export async function setWantsAdvice(tx: Db, id: string, wants: 'wanted' | 'off'): Promise<void> {
  await tx.query(`update reporters set wants_advice = $2 where id = $1`, [id, wants === 'wanted'])
}

/**
 * Claims the one letter of a reporter, of what it is about, and of a week: false when there has
 * been one. Of several who claim it at once, one gets it.
 */
export async function insertAdvice(
  tx: Db,
  advice: { reporterId: string; about: string; week: Date; reportId: string; at: Date },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `insert into advices (reporter_id, about, week, report_id, advised_at)
     values ($1, $2, $3, $4, $5) on conflict (reporter_id, about, week) do nothing`,
    [
      ...[advice.reporterId, advice.about, advice.week.toISOString().slice(0, 10)],
      ...[advice.reportId, advice.at],
    ],
  )
  return rowCount === 1
}

/** Forgets the advice of weeks before an instant. */
export async function removeAdvices(db: Db, before: Date): Promise<void> {
  await db.query(`delete from advices where week < $1`, [before.toISOString().slice(0, 10)])
}
