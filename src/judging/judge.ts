import { shingleHash } from '../analysis/shingles/hash.ts'
import { PIECE_BYTES, type PackedShingles } from '../analysis/shingles/packed-shingles.ts'
import { type PieceName, pieceTypes } from '../analysis/shingles/piece-types.ts'
import type { Network } from '../analysis/network.ts'
import { wholePairKey } from '../counters/pair-key.ts'
import type { CounterReader } from '../counters/reader.ts'
import { houseOf } from '../mail/domain.ts'
import { parseIp } from '../mail/ip.ts'
import type { AnalysisDigest } from '../parsing/parser-pool.ts'
import type { Subject, SubjectKind } from '../reputation/subject.ts'
import { decide } from '../verdict/decide.ts'
import type { Facts } from '../verdict/facts/fact.ts'
import { factsOf } from '../verdict/facts/facts-of.ts'
import type { Envelope, ReportedAs } from '../verdict/facts/outside-facts.ts'
import { seenFacts } from '../verdict/facts/seen-facts.ts'
import { type SeenPieces, seenPieces } from '../verdict/facts/seen-pieces.ts'
import type { Model } from '../verdict/model/model.ts'
import type { RuleBook } from '../verdict/rules/rule-book.ts'
import { hasSureOrigin, withSystem } from '../verdict/subjects-of.ts'
import type { Verdict } from '../verdict/verdict.ts'
import type { Clock } from '../world.ts'
import type { ReputationReader } from './reputation-reader.ts'

/** What is judged: a message as it was read, and what is known beside its bytes. */
export type CaseToJudge = {
  digest: Pick<AnalysisDigest, 'features' | 'listings' | 'origin' | 'shingles' | 'subjects'>
  /** Of the origin. */
  network?: Network | undefined
  campaignId?: string | undefined
  /** Absent when a mail server asks. */
  report?: ReportedAs | undefined
  /** Absent when it was reported. */
  envelope?: Envelope | undefined
}

/** A verdict, the facts it rests on, and all that it blames or praises. */
export type JudgedCase = { verdict: Verdict; facts: Facts; subjects: readonly Subject[] }

/** Judges messages, in their order: with two journeys to the database at most, for all of them. */
export type Judge = (cases: readonly CaseToJudge[]) => Promise<JudgedCase[]>

/** Where a judge asks. Rules and model are those of the moment: they change between messages. */
export type JudgeTools = {
  counters: Pick<CounterReader, 'readWindows'>
  reputations: ReputationReader
  rules: { current: () => Pick<RuleBook, 'run'> }
  model: { current: () => Pick<Model, 'apply'> | undefined }
  clock: Clock
}

/** A case with what is to be asked about it. */
type Asked = { one: CaseToJudge; pieces: SeenPieces; subjects: readonly Subject[] }

/** Makes the one judge of both paths: of reports, and of questions of mail servers. */
export function createJudge(tools: JudgeTools): Judge {
  return async (cases) => {
    const asked = cases.map((one): Asked => {
      const pieces = seenPieces(withCircumstances(one), wholePairKey)
      return { one, pieces, subjects: subjectsOf(one) }
    })
    const [windows, reputations] = await Promise.all([
      tools.counters.readWindows(asked.flatMap(({ pieces }) => pieces.keys)),
      tools.reputations.read(asked.flatMap(({ subjects }) => subjects)),
    ])
    let [windowAt, subjectAt] = [0, 0]
    return asked.map(({ one, pieces, subjects }) => {
      const known = windows.slice(windowAt, (windowAt += pieces.keys.length))
      const facts = factsOf({
        features: one.digest.features,
        report: one.report,
        envelope: one.envelope,
        network: one.network,
        listings: listingsFor(one),
        reputations: subjects.flatMap((subject, index) => {
          const its = reputationAt(reputations, subjectAt + index)
          const isOwn = isOwnLink(subject, one.digest.features.author.organization)
          return isOwn && !isMarked(its) ? [] : [{ ...its, kind: subject.kind }]
        }),
        seen: seenFacts(pieces.groups, known),
        now: tools.clock(),
      })
      subjectAt += subjects.length
      return { facts, subjects, verdict: conclude(facts, tools) }
    })
  }
}

function conclude(facts: Facts, { rules, model }: JudgeTools): Verdict {
  const symbols = rules.current().run(facts)
  return decide({ facts, symbols, probability: model.current()?.apply(facts, symbols) })
}

type Reputations = Awaited<ReturnType<ReputationReader['read']>>

function reputationAt(reputations: Reputations, at: number): Reputations[number] {
  const one = reputations[at]
  if (!one) throw new RangeError('There is no reputation for a subject that was asked for.')
  return one
}

const linkKinds: ReadonlySet<SubjectKind> = new Set(['link', 'link-domain', 'link-host'])

/**
 * A link to the author's own house says what is known of that house, and who plays a bank links to
 * it as the bank does: of his links only those elsewhere are to be blamed for.
 */
function isOwnLink({ kind, name }: Subject, organization: string): boolean {
  if (organization === '' || !linkKinds.has(kind)) return false
  return houseOf(name.split('/', 1)[0]) === organization
}

/** Links are marked by hand alone. */
function isMarked({ flags }: Reputations[number]): boolean {
  return flags.some((flag) => flag === 'listed' || flag === 'welcome' || flag === 'exempt')
}

/** Beside what the message itself tells: its campaign, and the AS of an origin that is sure. */
function subjectsOf({
  digest: { subjects },
  network,
  campaignId,
}: CaseToJudge): readonly Subject[] {
  const its = withSystem(subjects, network?.asn || null)
  return campaignId === undefined ? its : [...its, { kind: 'campaign', name: campaignId }]
}

/** The shingles with those that tell and that the message alone does not know. */
function withCircumstances({ digest, network, campaignId }: CaseToJudge): PackedShingles {
  const later: [PieceName, string][] = []
  if (campaignId !== undefined) later.push(['campaign', campaignId])
  if (network?.asn && hasSureOrigin(digest.subjects)) later.push(['origin-as', String(network.asn)])
  const pieces = Buffer.alloc(later.length * PIECE_BYTES)
  later.forEach(([name, piece], index) => {
    const { number } = pieceTypes[name]
    pieces.writeUInt8(number, index * PIECE_BYTES)
    pieces.writeBigUInt64BE(shingleHash(number, piece), index * PIECE_BYTES + 1)
  })
  return Buffer.concat([digest.shingles, pieces])
}

/** What is listed of the origin itself, and of the domains. */
function listingsFor({ digest: { origin, listings } }: CaseToJudge): AnalysisDigest['listings'] {
  if (!listings) return listings
  return listings.filter(({ subject }) => subject === origin?.ip || parseIp(subject) === undefined)
}
