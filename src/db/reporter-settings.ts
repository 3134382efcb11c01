import type { Db } from './pool.ts'
import { first } from './values.ts'

/** A language that letters are written in. */
export type LetterLanguage = 'en' | 'fr' | 'ru'

/** How a reporter wants to be written to. */
export type ReporterSettings = {
  /** Null: never said; English then. */
  language: LetterLanguage | null
  /** Whether answers of abuse desks come by mail too. */
  wantsAnswers: boolean
  /** Whether letters say how to unsubscribe from what was reported. */
  wantsAdvice: boolean
}

/** What a reporter has set; undefined when there is no such account. */
export async function findReporterSettings(
  db: Db,
  id: string,
): Promise<ReporterSettings | undefined> {
  const answer = await db.query<ReporterSettings>(
    `select language, wants_answers as "wantsAnswers", wants_advice as "wantsAdvice"
     from reporters where id = $1`,
    [id],
  )
  return first(answer)
}

/** Sets it; undefined keeps what is. */
export async function updateReporterSettings(
  db: Db,
  id: string,
  change: { [Name in keyof ReporterSettings]?: NonNullable<ReporterSettings[Name]> | undefined },
): Promise<void> {
  await db.query(
    `update reporters
     set language = coalesce($2, language), wants_answers = coalesce($3, wants_answers),
       wants_advice = coalesce($4, wants_advice)
     where id = $1`,
    [id, change.language ?? null, change.wantsAnswers ?? null, change.wantsAdvice ?? null],
  )
}
