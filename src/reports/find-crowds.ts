import type { App } from '../app.ts'
import { countHandOvers } from '../db/mail-exchangers.ts'
import { DAY_MS } from '../durations.ts'
import { domainOf, registrableDomainOf } from '../mail/address.ts'
import { type Phrase, phrase, type PhraseCode } from '../phrase.ts'
import type { ReadReport } from './read-messages.ts'
import type { ReportRelays } from './relays.ts'
import type { Idle } from './take-probes.ts'

type Needs = Pick<App, 'pool' | 'clock' | 'config'>

/**
 * So many author domains behind one machine are rare for a sender: in mail of other installations,
 * they were found within twelve messages behind 82 to 100 % of the borders that were accused.
 */
const AUTHOR_DOMAINS_MIN = 4
/** How long a hand-over is remembered. */
const KEPT_MS = 14 * DAY_MS
/** The confidence of an origin that a crowd makes doubtful: below the usual threshold. */
const CONFIDENCE_MAX = 0.6

/** Findings of the walk that show who received the message; then a crowd says nothing. */
const knownBorders: ReadonlySet<PhraseCode> = new Set<PhraseCode>([
  'received-by',
  'peer-not-in-mx',
  'relay-in-mx',
  'relay-declared',
])

/** A report of which the origin hands over the mail of a crowd. */
export type Crowds = ReadonlyMap<string, Phrase>

/**
 * Finds origins that hand over mail of many unrelated authors to a reporter, where nothing shows
 * who receives for the reporter: such a machine may be the reporter's own border. Their confidence
 * is reduced, so that the reporter is asked, unless the reporter has denied the machine. Spam from
 * one machine under many names looks alike, so a crowd acquits nobody, and what others report does
 * not count. Returns the reports, and why.
 */
export async function findCrowds(
  analyses: readonly ReadReport[],
  { relaysOf, idle }: { relaysOf: (reportId: string) => ReportRelays; idle: Idle },
  app: Needs,
): Promise<{ analyses: ReadReport[]; crowds: Crowds }> {
  const handOvers = new Map(
    analyses.flatMap((one) => {
      if (idle.has(one.report.id)) return []
      const found = handOverOf(one, relaysOf(one.report.id), app.config.originConfidenceMin)
      return found ? [[one.report.id, found] as const] : []
    }),
  )
  const crowds = new Map<string, Phrase>()
  if (handOvers.size === 0) return { analyses: [...analyses], crowds }
  const days = { since: oldestHandOver(app), now: app.clock() }
  const counted = await countHandOvers(app.pool, [...handOvers.values()], days)
  const countOf = new Map(counted.map((one) => [`${one.reporterId} ${one.ip}`, one.authors]))
  for (const [id, { reporterId, ip }] of handOvers) {
    const count = countOf.get(`${reporterId} ${ip}`) ?? 0
    if (count >= AUTHOR_DOMAINS_MIN) crowds.set(id, phrase('peer-has-crowd', { ip, count }))
  }
  return {
    crowds,
    analyses: analyses.map((one) => (crowds.has(one.report.id) ? inDoubt(one) : one)),
  }
}

function handOverOf(
  { report, analysis: { origin } }: ReadReport,
  { knownOf }: ReportRelays,
  originConfidenceMin: number,
) {
  if (report.kind === 'not-spam' || !origin || origin.confidence < originConfidenceMin) {
    return undefined
  }
  if (origin.why.some(({ code }) => knownBorders.has(code))) return undefined
  if (knownOf(origin.ip).includes('refused')) return undefined
  const authorDomain = registrableDomainOf(domainOf(report.author ?? ''))
  if (authorDomain === undefined) return undefined
  return { reporterId: report.reporterId, ip: origin.ip, authorDomain }
}

/** The report with an uncertain origin, which is no subject of its evidence. */
function inDoubt({ analysis, ...one }: ReadReport): ReadReport {
  const { origin, subjects } = analysis
  return {
    ...one,
    analysis: {
      ...analysis,
      origin: origin && { ...origin, confidence: Math.min(origin.confidence, CONFIDENCE_MAX) },
      subjects: subjects.filter(({ kind }) => kind !== 'address' && kind !== 'network'),
    },
  }
}

/** The oldest day of hand-overs that are used. */
export function oldestHandOver({ clock }: Pick<App, 'clock'>): Date {
  return new Date(clock().getTime() - KEPT_MS)
}
