import type { App } from '../app.ts'
import { type Db, inTransaction } from '../db/pool.ts'
import { listReporterDays } from '../db/reporter-days.ts'
import {
  claimSummary,
  type LetterReader,
  listResolvingDesks,
  listUnsummarized,
} from '../db/reporter-news.ts'
import { listSuppressed } from '../db/suppressions.ts'
import { dateOf } from '../durations.ts'
import type { KeyedLink } from '../mail/keys.ts'
import { lettersOffLink } from '../mail/verp.ts'
import { type Language, textsIn } from '../texts/messages.ts'
import { composeBody, type LetterBody, type LetterPart } from './letter-body.ts'
import { queueLetter } from './send-letter.ts'

const READERS_AT_ONCE = 500
const DESKS_LISTED_MAX = 10

type Needs = Pick<App, 'pool' | 'boss' | 'clock' | 'config'>

/** Writes each summary once; a reporter without reports and answers in the month gets none. */
export async function runSendSummaries(app: Needs): Promise<void> {
  const now = app.clock()
  const to = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1))
  const from = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 1))
  const month = dateOf(from)
  for (;;) {
    const readers = await listUnsummarized(app.pool, month, READERS_AT_ONCE)
    for (const id of readers) {
      await inTransaction(app.pool, async (tx) => {
        const reader = await claimSummary(tx, id, month)
        if (reader) await writeTo(tx, reader, { from, to }, app, now)
      })
    }
    if (readers.length < READERS_AT_ONCE) return
  }
}

/** A month, from its first instant to before `to`. */
type Month = { from: Date; to: Date }

async function writeTo(
  tx: Db,
  { id: reporterId, email, language }: LetterReader,
  { from, to }: Month,
  app: Needs,
  now: Date,
): Promise<void> {
  if ((await listSuppressed(tx, [email], now)).size > 0) return
  const days = (await listReporterDays(tx, reporterId, dateOf(from))).filter(
    ({ day }) => day < dateOf(to),
  )
  const sum = (countOf: (day: (typeof days)[number]) => number) =>
    days.reduce((total, day) => total + countOf(day), 0)
  const reports = sum(({ spam, phishing, notSpam }) => spam + phishing + notSpam)
  const desks = await listResolvingDesks(tx, reporterId, { from, to })
  if (reports === 0 && desks.length === 0) return
  const { publicUrl, secret } = app.config
  const offUrl = lettersOffLink(reporterId, 'summary', { publicUrl, secret })
  const spoken = language ?? 'en'
  const counts = { month: from, reports, notified: sum(({ notified }) => notified), desks }
  const letter = composeSummary(counts, { language: spoken, publicUrl, offUrl })
  const about = { kind: 'summary', reporterId, to: email, unsubscribe: offUrl } as const
  const sent = { ...about, ...letter, language: spoken, autoSubmitted: 'generated' } as const
  await queueLetter(tx, sent, app, now)
}

/** What a reporter reported in a month, and the domains of the desks that acted on it. */
export type MonthOfReporter = {
  month: Date
  reports: number
  notified: number
  desks: readonly string[]
}

export function composeSummary(
  { month, reports, notified, desks }: MonthOfReporter,
  { language, publicUrl, offUrl }: { language: Language; publicUrl: string; offUrl: KeyedLink },
): LetterBody & { subject: string } {
  const texts = textsIn(language)
  const names = desks.slice(0, DESKS_LISTED_MAX).join(', ')
  const shown = desks.length > DESKS_LISTED_MAX ? `${names}, …` : names
  const counted = [
    texts('summaryLetters.reported', { month, reports }),
    ...(reports > 0 ? [texts('summaryLetters.told', { told: notified })] : []),
  ]
  const parts: LetterPart[] = [
    texts('newsLetters.greeting'),
    counted.join(' '),
    ...(desks.length > 0
      ? [texts('summaryLetters.acted', { desks: desks.length, names: shown })]
      : []),
    texts('summaryLetters.thanks'),
    { action: texts('summaryLetters.action'), url: `${publicUrl}/reports/statistics` },
    { small: texts('summaryLetters.off'), url: offUrl },
  ]
  return { subject: texts('summaryLetters.subject', { month }), ...composeBody(parts, language) }
}
