import type { App } from '../app.ts'
import { listOutcomes } from '../db/own-reports.ts'
import { type Db, inTransaction } from '../db/pool.ts'
import { listOpenRequests } from '../db/original-requests.ts'
import {
  claimNews,
  findNewsReader,
  insertNews,
  type LetterReader,
  listDueReaders,
  listNewsReaders,
  type ReporterNews,
} from '../db/reporter-news.ts'
import { listReportsByIds, type Report } from '../db/reports.ts'
import { listSuppressed } from '../db/suppressions.ts'
import { HOUR_MS } from '../durations.ts'
import { domainOf } from '../mail/address.ts'
import type { KeyedLink } from '../mail/keys.ts'
import { type AnswerKind, lettersOffLink } from '../mail/verp.ts'
import { isAsking } from '../verdict/consequences.ts'
import { type Language, type Texts, textsIn } from '../texts/messages.ts'
import { plainLine } from './advice-letters.ts'
import { composeBody, type LetterBody, type LetterPart } from './letter-body.ts'
import { queueLetter } from './send-letter.ts'

/** Questions and thanks are often read on the page that shows them; a letter waits so long. */
const QUESTION_DELAY_MS = HOUR_MS
/** Time between two letters with news to one reporter: at most three a day. */
const PAUSE_MS = 8 * HOUR_MS
/** Maximum number of reporters written to in one run; the next run reaches the others. */
const READERS_MAX = 2_000

/** Stores the answer of a desk for the reporters of the reports to which it applies. */
export async function noteAnswer(
  tx: Db,
  { reportIds, address, answer }: NotedAnswer,
  now: Date,
): Promise<void> {
  const readers = await listNewsReaders(tx, reportIds)
  const desk = domainOf(address) ?? address
  await insertNews(
    tx,
    readers.map(({ reportId, reporterId, wantsNews }) => ({
      ...{ reporterId, reportId, kind: answer, desk, at: now },
      dueAt: wantsNews ? now : null,
    })),
  )
}

/** An abuse desk's answer, and the reports that it applies to. */
type NotedAnswer = { reportIds: readonly string[]; address: string; answer: AnswerKind }

/** Stores that reports ask their reporters a question, or that reporters are thanked. */
export async function noteForReporters(
  tx: Db,
  kinds: ReadonlyMap<string, 'question' | 'simulation'>,
  now: Date,
): Promise<void> {
  if (kinds.size === 0) return
  const readers = await listNewsReaders(tx, [...kinds.keys()])
  const dueAt = new Date(now.getTime() + QUESTION_DELAY_MS)
  await insertNews(
    tx,
    readers.flatMap(({ reportId, reporterId, wantsNews }) => {
      const kind = kinds.get(reportId)
      return wantsNews && kind ? [{ reporterId, reportId, kind, desk: '', at: now, dueAt }] : []
    }),
  )
}

type Needs = Pick<App, 'pool' | 'boss' | 'clock' | 'config'>

/**
 * Writes one letter with all due news to each reporter who has some, at most every eight hours.
 * News about retracted reports and about questions that are no longer open is left out.
 */
export async function runSendNews(app: Needs): Promise<void> {
  const now = app.clock()
  const mailedBefore = new Date(now.getTime() - PAUSE_MS)
  const due = await listDueReaders(app.pool, { now, mailedBefore, limit: READERS_MAX })
  for (const reporterId of due) {
    await inTransaction(app.pool, (tx) => writeTo(tx, reporterId, app, now))
  }
}

async function writeTo(tx: Db, reporterId: string, app: Needs, now: Date): Promise<void> {
  const news = await claimNews(tx, reporterId, now)
  const reader = await findNewsReader(tx, reporterId)
  if (news.length === 0 || !reader) return
  if ((await listSuppressed(tx, [reader.email], now)).size > 0) return
  const current = await stillTrue(tx, news, now)
  if (current.length > 0) await queueNewsLetter(tx, reader, current, app, now)
}

type ReportNews = ReporterNews & { report: Pick<Report, 'id' | 'subject' | 'receivedAt'> }

async function stillTrue(tx: Db, news: readonly ReporterNews[], now: Date): Promise<ReportNews[]> {
  const reports = await listReportsByIds(tx, [...new Set(news.map(({ reportId }) => reportId))])
  const outcomes = await listOutcomes(tx, reports)
  const requested = news.flatMap((one) => (one.kind === 'original' ? [one.reportId] : []))
  const open = await listOpenRequests(tx, requested, now)
  return news.flatMap((one) => {
    const report = reports.find(({ id }) => id === one.reportId)
    if (!report || report.state === 'retracted') return []
    const isOpen =
      one.kind === 'original'
        ? open.has(report.id)
        : one.kind !== 'question' ||
          (report.state === 'kept' && isAsking(outcomes.get(report.id)?.action))
    return isOpen ? [{ ...one, report }] : []
  })
}

async function queueNewsLetter(
  tx: Db,
  { id: reporterId, email, language }: LetterReader,
  news: readonly ReportNews[],
  app: Needs,
  now: Date,
): Promise<void> {
  const { publicUrl, secret } = app.config
  const unsubscribe = lettersOffLink(reporterId, 'news', { publicUrl, secret })
  const its = { language: language ?? 'en', publicUrl, offUrl: unsubscribe }
  const about = { kind: 'news', reporterId, to: email, unsubscribe } as const
  const letter = { ...about, ...composeNews(news, its), language: its.language } as const
  await queueLetter(tx, { ...letter, autoSubmitted: 'generated' }, app, now)
}

/** Maximum number of answers, and of questions, that a letter lists. */
const LISTED_MAX = 10
const SUBJECT_CHARS_MAX = 100

/**
 * Composes a letter with answers and questions. Omits the desks' own words, which are untrusted;
 * the page of the report shows and labels them.
 */
export function composeNews(
  news: readonly ReportNews[],
  { language, publicUrl, offUrl }: { language: Language; publicUrl: string; offUrl: KeyedLink },
): LetterBody & { subject: string } {
  const texts = textsIn(language)
  const questions = news.filter(({ kind }) => kind === 'question')
  const originals = news.filter(({ kind }) => kind === 'original')
  const thanks = news.filter(({ kind }) => kind === 'simulation')
  const others: readonly ReporterNews['kind'][] = ['question', 'original', 'simulation']
  const answers = news.filter(({ kind }) => !others.includes(kind))
  const itemOf = (one: ReportNews) => ({
    text: lineOf(one, texts),
    url: `${publicUrl}/reports/${one.reportId}${one.kind === 'original' ? '/original' : ''}`,
  })
  const listed = (some: readonly ReportNews[]) => some.slice(0, LISTED_MAX).map(itemOf)
  const shown = [answers, questions, originals, thanks].map((some) => listed(some).length)
  const more = news.length - shown.reduce((sum, one) => sum + one, 0)
  const parts: LetterPart[] = [
    texts('newsLetters.greeting'),
    ...(questions.length > 0
      ? [texts('newsLetters.questions', { n: questions.length }), { items: listed(questions) }]
      : []),
    ...(originals.length > 0
      ? [texts('newsLetters.originals', { n: originals.length }), { items: listed(originals) }]
      : []),
    ...(answers.length > 0 ? [texts('newsLetters.answers'), { items: listed(answers) }] : []),
    ...(thanks.length > 0
      ? [texts('newsLetters.thanks', { n: thanks.length }), { items: listed(thanks) }]
      : []),
    ...(more > 0 ? [texts('newsLetters.more', { n: more })] : []),
    { action: texts('newsLetters.action'), url: `${publicUrl}/reports` },
    { small: texts('newsLetters.off'), url: offUrl },
  ]
  const asking = questions.length + originals.length
  const about = subjectOf({ asking, answers: answers.length, thanks: thanks.length })
  const subject = texts(`newsLetters.subjects.${about}`, { n: news.length })
  return { subject, ...composeBody(parts, language) }
}

/** The name of the subject line: of the only kind of news, or of several. */
function subjectOf(counts: Readonly<Record<'asking' | 'answers' | 'thanks', number>>) {
  const { asking, answers, thanks } = counts
  if (answers + thanks === 0) return 'questions'
  if (asking + thanks === 0) return 'answers'
  return asking + answers === 0 ? 'thanks' : 'both'
}

function lineOf({ kind, desk, report }: ReportNews, texts: Texts): string {
  const subject = plainLine(report.subject ?? '', SUBJECT_CHARS_MAX)
  const day = report.receivedAt
  const message =
    subject === ''
      ? texts('newsLetters.untitled', { day })
      : texts('newsLetters.message', { subject, day })
  if (kind === 'question' || kind === 'simulation') return message
  return texts('newsLetters.answer', { message, says: texts(`newsLetters.says.${kind}`, { desk }) })
}
