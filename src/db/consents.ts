import type { Db } from './pool.ts'
import type { LetterLanguage } from './reporter-settings.ts'

/** To which text of ours somebody said yes. */
export type Consent = { version: string; language: LetterLanguage; consentedAt: Date }

/** Keeps that a reporter said yes; the first time counts. */
export async function insertConsent(tx: Db, reporterId: string, consent: Consent): Promise<void> {
  await tx.query(
    `insert into consents (reporter_id, version, language, consented_at)
     values ($1, $2, $3, $4) on conflict (reporter_id, version) do nothing`,
    [reporterId, consent.version, consent.language, consent.consentedAt],
  )
}

/** What a reporter said yes to, oldest first. */
export async function listConsents(db: Db, reporterId: string): Promise<Consent[]> {
  const { rows } = await db.query<Consent>(
    `select version, language, consented_at as "consentedAt"
     from consents where reporter_id = $1 order by consented_at, version`,
    [reporterId],
  )
  return rows
}
