import type { App } from '../app.ts'
import { wholePairKey } from '../counting/keys.ts'
import {
  type CounterReader,
  createCounterReader,
  type WindowsByPrefix,
} from '../counting/reader.ts'
import { createReputationReader, type ReputationReader } from '../counting/reputation-reader.ts'
import { readSending } from '../counting/sending.ts'
import { nearShard } from '../db/nodes.ts'
import { registrableDomainOf } from '../mail/address.ts'
import { parseIp } from '../mail/ip.ts'
import type { Network } from '../origin/networks.ts'
import type { AnalysisDigest } from '../parsing/parser-pool.ts'
import { shingleHash } from '../pieces/shingles/hash.ts'
import { type PackedShingles, PIECE_BYTES } from '../pieces/shingles/packed-shingles.ts'
import { type PieceName, pieceTypes } from '../pieces/shingles/piece-types.ts'
import type { SendingUser } from '../pieces/shingles/sending-user.ts'
import type { Facts } from '../verdict/facts/fact.ts'
import { factDefinitions, factsOf } from '../verdict/facts/facts.ts'
import type { Envelope, ReportedAs } from '../verdict/facts/outside-facts.ts'
import {
  type SeenFacts,
  seenFacts,
  seenPieces,
  type SeenPieces,
} from '../verdict/facts/seen-facts.ts'
import type { Model } from '../verdict/model/model.ts'
import type { Reputation } from '../verdict/reputation/reputation.ts'
import type { Subject, SubjectKind } from '../verdict/reputation/subject.ts'
import type { SendingRecord } from '../verdict/reputation/sending.ts'
import type { RuleBook } from '../verdict/rules/rule-book.ts'
import { hasSureOrigin, withSystem } from '../verdict/subjects.ts'
import { decide, type Verdict } from '../verdict/verdict.ts'
import { type Clock, randomShard } from '../world.ts'
import { type LivePages, openPages } from './live-pages.ts'
import { type LiveRules, openRules } from './live-rules.ts'
import { type LiveModel, openModel } from './models.ts'

/** The data that a mail server has about a message that it checks. All values may be absent. */
export type CheckedEnvelope = {
  /** Address of the SMTP client, in canonical form. */
  ip: string | undefined
  helo: string | undefined
  /** Reverse DNS name of the client, confirmed by a forward lookup of the mail server. */
  hostname: string | undefined
  /** MAIL FROM without brackets; empty for the null return path. */
  returnPath: string | undefined
  recipients: readonly string[]
  /** Login name of the client, if authenticated: a user of the mail server. */
  user: string | undefined
  /** The mail system of the user, if the installation serves several. */
  system?: string | undefined
  queueId: string | undefined
}

/** Returns the user of the mail server who sends a message; undefined for incoming mail. */
export function sendingUserOf({ user, system }: Envelope): SendingUser | undefined {
  return user === undefined ? undefined : { user, system: system ?? '' }
}

/** What is known of a message besides its bytes: the network of its origin, and its campaign. */
type Circumstances = { network?: Network | undefined; campaignId?: string | undefined }

/** A message to judge: its analysis, and what is known besides its bytes. */
type CaseToJudge = Circumstances & {
  digest: Pick<AnalysisDigest, 'features' | 'listings' | 'origin' | 'shingles' | 'subjects'> & {
    text?: AnalysisDigest['text']
    written?: AnalysisDigest['written']
  }
  /** Absent for a check by a mail server. */
  report?: ReportedAs | undefined
  /** Whether the counters contain the report, because it is judged again. */
  isCounted?: boolean | undefined
  /** Absent for a report. */
  envelope?: Envelope | undefined
}

export type JudgedCase = { verdict: Verdict; facts: Facts; subjects: readonly Subject[] }

/**
 * Judges messages, in order, with few round trips to the database for all of them. `pending` are
 * circumstances that are still being looked up; all that does not depend on them is looked up
 * meanwhile.
 */
export type Judge = (
  cases: readonly CaseToJudge[],
  pending?: Promise<readonly Circumstances[]>,
) => Promise<JudgedCase[]>

/**
 * Lookups of a judge. Rules and model are read for each message, because they may change in
 * between.
 */
export type JudgeTools = {
  counters: Pick<CounterReader, 'readWindows' | 'readSeries'>
  reputations: ReputationReader
  rules: { current: () => Pick<RuleBook, 'run'> }
  model: { current: () => Pick<Model, 'apply'> | undefined }
  /** Absent: no page is listed. */
  pages?: Pick<LivePages, 'current'>
  clock: Clock
}

/** The values to look up for a case. */
type Asked = { pieces: SeenPieces; subjects: readonly Subject[] }

/** What was found for a case: the windows of its pieces, and the reputations of its subjects. */
type Found = {
  groups: SeenPieces['groups']
  windows: readonly WindowsByPrefix[]
  subjects: readonly Subject[]
  reputations: readonly Reputation[]
}

/** Creates the judge for both reports and checks of mail servers. */
export function createJudge(tools: JudgeTools): Judge {
  return async (cases, pending) => {
    const besides = pending?.then(async (circumstances) => {
      const whole = cases.map((one, index) => ({ ...one, ...circumstances[index] }))
      return { whole, found: await lookUp(whole.map(askedBeside), tools) }
    })
    // Its failure counts where it is awaited, also if what comes before throws.
    besides?.catch(() => undefined)
    const [found, senders, later] = await Promise.all([
      lookUp(cases.map(askedOf), tools),
      readSenders(cases, tools),
      besides,
    ])
    return (later?.whole ?? cases).map((one, index) =>
      judgeCase(
        one,
        { ...joined(found[index], later?.found[index]), sender: senders[index] },
        tools,
      ),
    )
  }
}

function askedOf(one: CaseToJudge): Asked {
  const shingles = Buffer.concat([one.digest.shingles, piecesBeside(one)])
  return { pieces: seenPieces(shingles, wholePairKey), subjects: subjectsOfCase(one) }
}

/** The values to look up that depend on the circumstances alone. */
function askedBeside(one: CaseToJudge): Asked {
  const subjects = subjectsBeside(one)
  return { pieces: seenPieces(piecesBeside(one), wholePairKey), subjects }
}

/** Looks up the values of several cases together. */
async function lookUp(
  asked: readonly Asked[],
  { counters, reputations }: JudgeTools,
): Promise<Found[]> {
  const [windows, known] = await Promise.all([
    counters.readWindows(asked.flatMap(({ pieces }) => pieces.keys)),
    reputations.read(asked.flatMap(({ subjects }) => subjects)),
  ])
  let [windowAt, subjectAt] = [0, 0]
  return asked.map(({ pieces: { keys, groups }, subjects }) => ({
    groups,
    windows: windows.slice(windowAt, (windowAt += keys.length)),
    subjects,
    reputations: known.slice(subjectAt, (subjectAt += subjects.length)),
  }))
}

const nothing: Found = { groups: [], windows: [], subjects: [], reputations: [] }

function joined(own: Found = nothing, more: Found = nothing): Found {
  if (more.groups.length + more.subjects.length === 0) return own
  return {
    groups: [...own.groups, ...more.groups],
    windows: [...own.windows, ...more.windows],
    subjects: [...own.subjects, ...more.subjects],
    reputations: [...own.reputations, ...more.reputations],
  }
}

function judgeCase(
  one: CaseToJudge,
  { groups, windows, subjects, reputations, sender }: Found & { sender: SendingRecord | undefined },
  tools: JudgeTools,
): JudgedCase {
  const { digest } = one
  const seen = seenFacts(groups, windows)
  const facts = factsOf({
    features: featuresOf(one),
    written: digest.written,
    report: one.report,
    envelope: one.envelope,
    sender,
    network: one.network,
    listings: listingsFor(one),
    pages: tools.pages?.current().factsOf(subjects),
    reputations: reputations.flatMap((its, index) => {
      const subject = subjects[index]
      if (!subject) throw new RangeError('A reputation has no subject.')
      const isOwn = isOwnLink(subject, digest.features.author.organization)
      return isOwn && !isMarked(its) ? [] : [{ ...its, kind: subject.kind }]
    }),
    seen: one.isCounted ? withoutOwnReport(seen) : seen,
    now: tools.clock(),
  })
  return { facts, subjects, verdict: conclude(facts, digest.text, tools) }
}

/** The facts that count the reporters who agree with a complaint. */
const agreement = ['campaign_reporters_weeks', 'text_reporters_weeks'] as const

/**
 * Returns the facts without the report itself, which the counters contain if it is judged again:
 * nobody agrees with oneself.
 */
function withoutOwnReport(seen: SeenFacts): SeenFacts {
  const others = { ...seen }
  for (const name of agreement) {
    const count = seen[name] ?? 0
    if (count > 0) others[name] = count - 1
  }
  return others
}

/** Reads the reputations of the users who send the messages; undefined for incoming mail. */
function readSenders(
  cases: readonly CaseToJudge[],
  { counters, clock }: JudgeTools,
): Promise<(SendingRecord | undefined)[]> {
  return Promise.all(
    cases.map(({ envelope }) => {
      const sender = envelope && sendingUserOf(envelope)
      return sender ? readSending(counters, sender, clock()) : undefined
    }),
  )
}

/** Returns the features; the client of a user is authenticated, which the header does not say. */
function featuresOf({ digest: { features }, envelope }: CaseToJudge) {
  if (envelope?.user === undefined) return features
  return { ...features, origin: { ...features.origin, is_authenticated: true } }
}

function conclude(
  facts: Facts,
  text: Uint32Array | undefined,
  { rules, model }: JudgeTools,
): Verdict {
  const symbols = rules.current().run(facts)
  return decide({ facts, symbols, estimate: model.current()?.apply(facts, symbols, text) })
}

const linkKinds: ReadonlySet<SubjectKind> = new Set(['link', 'link-domain', 'link-host'])

/**
 * Whether a link is to the author's own registrable domain. Such links are judged only if an
 * administrator marked them, because the domain is already judged as the author. Phishing also
 * links to the impersonated bank, so links to other domains are judged.
 */
function isOwnLink({ kind, name }: Subject, organization: string): boolean {
  if (organization === '' || !linkKinds.has(kind)) return false
  return registrableDomainOf(name.split('/', 1)[0]) === organization
}

/** Whether a link has a mark. Only administrators mark links. */
function isMarked({ flags }: Pick<Reputation, 'flags'>): boolean {
  return flags.some((flag) => flag === 'listed' || flag === 'welcome' || flag === 'exempt')
}

const placeKinds: ReadonlySet<SubjectKind> = new Set(['address', 'network'])

/**
 * Returns the subjects of the message and of its circumstances. The place from which a user of the
 * mail server sends is excluded, because it changes.
 */
function subjectsOfCase(one: CaseToJudge): readonly Subject[] {
  const { subjects } = one.digest
  const isOutgoing = one.envelope?.user !== undefined
  const its = isOutgoing ? subjects.filter(({ kind }) => !placeKinds.has(kind)) : subjects
  return [...its, ...subjectsBeside(one)]
}

/**
 * Returns the autonomous system, if the origin is certain and the message is not of a user of the
 * mail server, and the campaign.
 */
function subjectsBeside({ digest, network, envelope, campaignId }: CaseToJudge): Subject[] {
  const asn = envelope?.user === undefined ? network?.asn : undefined
  const systems = withSystem(digest.subjects, asn || null).slice(digest.subjects.length)
  return campaignId === undefined ? systems : [...systems, { kind: 'campaign', name: campaignId }]
}

/**
 * Returns the shingles of the campaign and of the origin's autonomous system, which are not in the
 * message itself.
 */
function piecesBeside({ digest, network, campaignId }: CaseToJudge): PackedShingles {
  const later: [PieceName, string][] = []
  if (campaignId !== undefined) later.push(['campaign', campaignId])
  if (network?.asn && hasSureOrigin(digest.subjects)) later.push(['origin-as', String(network.asn)])
  const pieces = Buffer.alloc(later.length * PIECE_BYTES)
  later.forEach(([name, piece], index) => {
    const { number } = pieceTypes[name]
    pieces.writeUInt8(number, index * PIECE_BYTES)
    pieces.writeBigUInt64BE(shingleHash(number, piece), index * PIECE_BYTES + 1)
  })
  return pieces
}

/**
 * Returns the blacklist entries of the origin itself and of domains; omits those of other
 * addresses.
 */
function listingsFor({ digest: { origin, listings } }: CaseToJudge): AnalysisDigest['listings'] {
  if (!listings) return listings
  return listings.filter(({ subject }) => subject === origin?.ip || parseIp(subject) === undefined)
}

export type OpenJudge = {
  judge: Judge
  reputations: ReputationReader
  rules: Pick<LiveRules, 'state'>
  /** Whether the active model reads pieces of the text, and the active rules match texts. */
  reads: { readsText: () => boolean; readsWritten: () => boolean }
  /** Stops following rules, models and listed pages. */
  close: () => Promise<void>
}

/** Maximum number of counter keys in the cache. */
const KEYS_REMEMBERED_MAX = 200_000

/**
 * Opens the judge of a process. It follows the active rules, the model and the listed pages from
 * then on. Lookups are
 * cached for `freshMs` milliseconds, so a verdict may rest on data of that age.
 *
 * @throws when the database is unreachable
 */
export async function openJudge(
  app: Pick<App, 'pool' | 'clock' | 'log'>,
  { name, freshMs }: { name: string; freshMs: number },
): Promise<OpenJudge> {
  const parts: { close: () => Promise<void> }[] = []
  const close = async () => void (await Promise.all(parts.map((part) => part.close())))
  const opened = async <Part extends { close: () => Promise<void> }>(opening: Promise<Part>) => {
    const part = await opening.catch(async (error: unknown) => {
      // Without this, each retry would leak a connection.
      await close()
      throw error
    })
    parts.push(part)
    return part
  }
  const live: { model?: LiveModel } = {}
  const modelVersion = () => live.model?.current()?.version
  const definitions = factDefinitions
  const rules = await opened(openRules({ ...app, name, definitions, modelVersion }))
  const model = await opened(openModel(app))
  const pages = await opened(openPages(app))
  live.model = model
  const memory = { keysMax: KEYS_REMEMBERED_MAX, freshMs }
  const near = nearShard(app.pool, randomShard())
  const counters = createCounterReader({ ...app, pool: near }, memory)
  const reputations = createReputationReader({ ...app, counters, near }, memory)
  return {
    judge: createJudge({ counters, reputations, rules, model, pages, clock: app.clock }),
    reputations,
    rules,
    reads: {
      readsText: () => model.current()?.readsText === true,
      readsWritten: () => rules.current().readsWritten,
    },
    close,
  }
}
