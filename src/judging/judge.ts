import { domainToASCII } from 'node:url'
import type { App } from '../app.ts'
import { wholePairKey } from '../counting/keys.ts'
import { type CounterReader, createCounterReader } from '../counting/reader.ts'
import { createReputationReader, type ReputationReader } from '../counting/reputation-reader.ts'
import { registrableDomainOf } from '../mail/address.ts'
import { parseIp } from '../mail/ip.ts'
import type { Network } from '../origin/networks.ts'
import type { AnalysisDigest } from '../parsing/parser-pool.ts'
import { shingleHash } from '../pieces/shingles/hash.ts'
import { type PackedShingles, PIECE_BYTES } from '../pieces/shingles/packed-shingles.ts'
import { type PieceName, pieceTypes } from '../pieces/shingles/piece-types.ts'
import type { Facts } from '../verdict/facts/fact.ts'
import { factDefinitions, factsOf } from '../verdict/facts/facts.ts'
import type { Envelope, ReportedAs } from '../verdict/facts/outside-facts.ts'
import { seenFacts, seenPieces, type SeenPieces } from '../verdict/facts/seen-facts.ts'
import type { Model } from '../verdict/model/model.ts'
import type { Subject, SubjectKind } from '../verdict/reputation/reputation.ts'
import type { RuleBook } from '../verdict/rules/rule-book.ts'
import { hasSureOrigin, withSystem } from '../verdict/subjects.ts'
import { decide, FIRST_FILTER, type Verdict } from '../verdict/verdict.ts'
import type { Clock } from '../world.ts'
import { type LiveRules, openRules } from './live-rules.ts'
import { openModel } from './models.ts'

/**
 * Makes work that takes many at once out of calls for one: while as many rounds as there are
 * `lanes` are under way, what is asked meanwhile gathers for the next. A round that fails fails for
 * all who are in it.
 */
export function gathered<Question, Answer>(
  work: (questions: readonly Question[]) => Promise<readonly Answer[]>,
  lanes: number,
): (question: Question) => Promise<Answer> {
  type Waiting = {
    question: Question
    resolve: (answer: Answer) => void
    reject: (error: unknown) => void
  }
  let line: Waiting[] = []
  let free = lanes

  async function round(waiting: readonly Waiting[]): Promise<void> {
    try {
      const answers = await work(waiting.map(({ question }) => question))
      if (answers.length !== waiting.length) throw new Error('Not every question was answered.')
      waiting.forEach(({ resolve }, index) => resolve(answers[index] as Answer))
    } catch (error) {
      for (const { reject } of waiting) reject(error)
    } finally {
      free++
      begin()
    }
  }

  function begin(): void {
    if (free === 0 || line.length === 0) return
    free--
    const waiting = line
    line = []
    void round(waiting)
  }

  return (question) =>
    new Promise((resolve, reject) => {
      line.push({ question, resolve, reject })
      begin()
    })
}

/** What a mail server knows of a message it asks about. All of it may be absent. */
export type CheckedEnvelope = {
  /** The client that hands the message over, in canonical text. */
  ip: string | undefined
  helo: string | undefined
  /** The name that the mail server looked up for the client and found to lead back to it. */
  hostname: string | undefined
  /** MAIL FROM without brackets; empty for the null return path. */
  returnPath: string | undefined
  recipients: readonly string[]
  /** As whom the client logged in: then it is a user of the mail server. */
  user: string | undefined
  queueId: string | undefined
}

/** What is known of subjects, in their order: a reputation reader's `read` is one. */
export type FlagsOf = (
  subjects: readonly Subject[],
) => Promise<readonly { flags: readonly string[] }[]>

/**
 * What the envelope alone can be blamed on: the client's address; the domain of MAIL FROM, under
 * which reputations are kept, and the registered one, which an administrator may have meant. Who
 * logged in is no stranger: his address is that of wherever he is today.
 */
export function envelopeSubjects({ ip, returnPath, user }: CheckedEnvelope): Subject[] {
  const subjects: Subject[] = []
  if (user !== undefined) return subjects
  if (ip !== undefined) subjects.push({ kind: 'address', name: ip })
  const domain = domainToASCII(returnPath?.slice(returnPath.lastIndexOf('@') + 1) ?? '')
  const house = registrableDomainOf(domain)
  for (const name of new Set(house === undefined ? [] : [domain, house])) {
    subjects.push({ kind: 'return-path-domain', name })
  }
  return subjects
}

/**
 * The verdict on a message that need not be read: one of its subjects is listed. Undefined for all
 * others, and where the client is welcome or exempt: anybody may write its domain into MAIL FROM.
 * It gets a header, not a refusal: nobody has looked at the message.
 */
export function flaggedVerdict(
  subjects: readonly Subject[],
  known: readonly { flags: readonly string[] }[],
): Verdict | undefined {
  const isAny = (kinds: readonly string[], flags: readonly string[]) =>
    subjects.some(({ kind }, index) => {
      return kinds.includes(kind) && known[index]?.flags.some((flag) => flags.includes(flag))
    })
  if (!isAny(['address', 'return-path-domain'], ['listed'])) return undefined
  if (isAny(['address'], ['welcome', 'exempt'])) return undefined
  const meaning = 'The client or the return path is listed; the message was not read.'
  const symbols = [{ name: FIRST_FILTER, weight: 10, meaning }]
  return { class: 'spam', confidence: 0.9, score: 10, symbols }
}

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
      return { one, pieces, subjects: subjectsOfCase(one) }
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
  return registrableDomainOf(name.split('/', 1)[0]) === organization
}

/** Links are marked by hand alone. */
function isMarked({ flags }: Reputations[number]): boolean {
  return flags.some((flag) => flag === 'listed' || flag === 'welcome' || flag === 'exempt')
}

/** Beside what the message itself tells: its campaign, and the AS of an origin that is sure. */
function subjectsOfCase({
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

/** What one process judges with. */
export type OpenJudge = {
  judge: Judge
  reputations: ReputationReader
  rules: Pick<LiveRules, 'state'>
  /** Stops following rules and models. */
  close: () => Promise<void>
}

/** How much of the counters is remembered. */
const KEYS_REMEMBERED_MAX = 200_000

/**
 * Opens the judge of a process, which from then on follows the rules and the model that act. What
 * it asked it remembers for `freshMs`: a verdict may be from so long ago.
 *
 * @throws when the database is away
 */
export async function openJudge(
  app: Pick<App, 'pool' | 'clock' | 'log'> & { config: { listenUrl?: string | undefined } },
  { name, freshMs }: { name: string; freshMs: number },
): Promise<OpenJudge> {
  const { listenUrl } = app.config
  const rules = await openRules({ ...app, listenUrl, name, definitions: factDefinitions })
  const model = await openModel(app).catch(async (error: unknown) => {
    // Who tries again would leave a connection behind each time.
    await rules.close()
    throw error
  })
  const memory = { keysMax: KEYS_REMEMBERED_MAX, freshMs }
  const reputations = createReputationReader(app, memory)
  const counters = createCounterReader(app, memory)
  return {
    judge: createJudge({ counters, reputations, rules, model, clock: app.clock }),
    reputations,
    rules,
    async close() {
      await Promise.all([rules.close(), model.close()])
    },
  }
}
