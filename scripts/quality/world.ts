import { readFile } from 'node:fs/promises'
import { pino } from 'pino'
import type { App } from '../../src/app.ts'
import { addAccount } from '../../src/processes/add-account.ts'
import { readConfig } from '../../src/config.ts'
import { allShards } from '../../src/counting/keys.ts'
import { createCounterReader } from '../../src/counting/reader.ts'
import { rollUp } from '../../src/counting/roll-up.ts'
import { findAnalysis } from '../../src/db/analyses.ts'
import { REPORTS } from '../../src/db/counter-rows.ts'
import { replaceNetworks } from '../../src/db/networks.ts'
import { inTransaction } from '../../src/db/pool.ts'
import { listReportsByIds, type Report, type ReportKind } from '../../src/db/reports.ts'
import { pack } from '../../src/db/rows.ts'
import { createIntake } from '../../src/reports/accept-report.ts'
import { confirmReport } from '../../src/reports/change-report.ts'
import { answerQuestion, findQuestion } from '../../src/reports/set-relays.ts'
import { runAnalyzeReport } from '../../src/reports/analyze-report.ts'
import { WHOLE_PART } from '../../src/counting/evidence.ts'
import { foldParts } from '../../src/counting/fold-evidence.ts'
import { findCampaigns } from '../../src/judging/find-campaigns.ts'
import { createJudge, type Judge } from '../../src/judging/judge.ts'
import { findKnownNetworks } from '../../src/feedback/draw-consequences.ts'
import { createReputationReader } from '../../src/counting/reputation-reader.ts'
import { shippedRules } from '../../src/judging/rule-versions.ts'
import { registrableDomainOf } from '../../src/mail/address.ts'
import { readMessage } from '../../src/mail/message.ts'
import type { DnsTools } from '../../src/origin/authenticity/ask-dns.ts'
import type { TracedHop } from '../../src/origin/trace.ts'
import { createParserPool } from '../../src/parsing/parser-pool.ts'
import { startBoss, stopBoss } from '../../src/queue/boss.ts'
import { factDefinitions } from '../../src/verdict/facts/facts.ts'
import type { ReportedAs } from '../../src/verdict/facts/outside-facts.ts'
import type { Model } from '../../src/verdict/model/model.ts'
import { compileRules } from '../../src/verdict/rules/rule-book.ts'
import type { RelayCandidate } from '../../src/verdict/relays.ts'
import type { VerdictClass } from '../../src/verdict/verdict.ts'
import type { Clock } from '../../src/world.ts'
import { startInstance } from '../bench/instance.ts'
import { ringOf } from '../../test/support/key-ring.ts'

/** The verdict on a report. */
export type Kept = {
  id: string
  verdict: VerdictClass
  action: string
  why: string
  symbols: string
  isOriginCertain: boolean
}

/** What a reporter says about a message. */
type Statement = {
  reporterId: string
  kind: ReportKind
  message: Buffer
  /** CIDR blocks of the machines of the reporter's provider. */
  receivedVia?: string[]
}

/** A database with reporters, in which messages are reported and judged as in the program. */
export type World = {
  /** Adds a reporter and returns the id; the karma of a newcomer starts low. */
  addReporter: (isNewcomer: boolean, email?: string) => Promise<string>
  /** Reports messages and analyzes them; returns the results in order. */
  accept: (statements: readonly Statement[]) => Promise<Kept[]>
  /** Confirms reports about which their reporters were asked; returns the new results in order. */
  confirm: (ids: readonly string[]) => Promise<Kept[]>
  /**
   * Answers the questions about machines, as reporters who know the machines of their own network
   * and domain, and no others; returns the new results in order.
   */
  answer: (ids: readonly string[]) => Promise<Kept[]>
  /** Adds all that was reported to the counters, the reputations and the karma. */
  settle: () => Promise<void>
  /**
   * Reports files, each by a new account, settles, and lets an hour pass. The karma of newcomers
   * starts low; the others are vouched for.
   */
  report: (
    isNewcomer: boolean,
    kind: 'spam' | 'phishing',
    files: readonly string[],
  ) => Promise<Kept[]>
  /**
   * The current verdict on messages, without storing anything. Without `report`, they are verdicts
   * for a mail server.
   */
  judge: (files: readonly string[], report?: ReportedAs) => ReturnType<Judge>
  /** Sets the active model. */
  use: (model: Model | undefined) => void
  app: Pick<App, 'pool' | 'clock' | 'log' | 'config'>
  close: () => Promise<void>
}

const DAY_MS = 86_400_000
/** The days on which the accounts of a measurement signed up. */
const SIGN_UP_DAYS = 3_000
const BATCH = 50
/** Maximum number of questions about machines that one report brings. */
const ANSWERS_MAX = 6
const BLOCKS_AT_ONCE = 1_000
const HOUR_MS = 3_600_000

/**
 * Opens a `World` with the shipped rules; `time` is its clock if given. Without `dns`, nothing is
 * looked up.
 */
export async function openWorld(time?: Clock, dns?: DnsTools): Promise<World> {
  const instance = await startInstance(['fsync=off', 'synchronous_commit=off'])
  const { pool, databaseUrl } = instance
  await inTransaction(pool, (tx) => replaceNetworks(tx, 'bench', everyNetwork(), new Date()))
  const boss = await startBoss(databaseUrl, 'sends', { name: 'quality', onError: console.error })
  let [model, ahead]: [Model | undefined, number] = [undefined, 0]
  const readsText = () => model?.readsText === true
  const parser = createParserPool(1, undefined, { readsText })
  const clock = time ?? (() => new Date(Date.now() + ahead))
  const compiled = compileRules(shippedRules(), factDefinitions)
  if ('faults' in compiled) throw new Error(compiled.faults[0]?.reason)
  const counters = createCounterReader({ pool, clock }, { keysMax: 1, freshMs: 0 })
  const judge = createJudge({
    counters,
    reputations: createReputationReader({ pool, clock, counters }, { keysMax: 1, freshMs: 0 }),
    rules: { current: () => compiled.rules },
    model: { current: () => model },
    clock,
  })
  const log = pino({ level: 'silent' })
  const env = { DNS_SERVERS: 'none', MESSAGE_AGE_MAX: '0', RDAP_BOOTSTRAP_URL: 'none' }
  const settings = readConfig(env, { cores: 1, cwd: '/nowhere' })
  const config = {
    ...settings,
    databaseUrl,
    secret: ringOf('a secret of the measurement, of nobody'),
  }
  const app = { pool, boss, clock, log, config, parser, judge, rdap: undefined, dns }
  const intake = createIntake(app)
  let accounts = 0

  async function digestsOf(files: readonly string[]) {
    const options = { trustedRelays: [], originConfidenceMin: config.originConfidenceMin }
    return Promise.all(
      files.map(async (file) => parser.analyze(await pack(await readFile(file)), options)),
    )
  }

  async function casesOf(files: readonly string[], report: ReportedAs | undefined) {
    const digests = await digestsOf(files)
    const ips = digests.flatMap(({ origin }) => origin?.ip ?? [])
    const networks = await findKnownNetworks(pool, ips, undefined, clock())
    const fingerprints = digests.map((digest) => digest.fingerprints)
    const campaigns = await findCampaigns(pool, fingerprints, clock())
    return digests.map((digest, at) => {
      const network = networks.get(digest.origin?.ip ?? '')?.network
      return { digest, report, network, campaignId: campaigns[at] }
    })
  }

  /** Adds an account; without an address, one that signed up alone on its day, at its domain. */
  async function addReporter(isUnproven: boolean, address?: string): Promise<string> {
    const nth = ++accounts
    const email = address ?? `reporter@of-${nth}.example`
    const ageMs = address === undefined ? (1 + (nth % SIGN_UP_DAYS)) * DAY_MS : 0
    const request = { email, password: undefined, role: null, wantsToken: false, isUnproven }
    const signedUp = () => new Date(clock().getTime() - ageMs)
    return (await addAccount(request, { pool, clock: signedUp })).id
  }

  async function settle(): Promise<void> {
    while (((await rollUp(pool, [...allShards, REPORTS], clock()))?.entries ?? 0) > 0);
    while (((await foldParts(pool, [WHOLE_PART], clock()))?.rows ?? 0) > 0);
  }

  async function accept(statements: readonly Statement[]): Promise<Kept[]> {
    const ids: string[] = []
    for (const some of batches(statements)) {
      const accepted = await Promise.all(
        some.map(async ({ reporterId, kind, message, receivedVia = [] }) => {
          const rest = { channel: 'api', comment: null, receivedVia } as const
          return intake.accept({ reporterId, kind, message: readMessage(message), ...rest })
        }),
      )
      await runAnalyzeReport(
        accepted.map(({ id }) => ({ reportId: id })),
        app,
      )
      ids.push(...accepted.map(({ id }) => id))
    }
    return keptOf(ids)
  }

  async function confirm(ids: readonly string[]): Promise<Kept[]> {
    for (const id of ids) await confirmReport(app, id)
    for (const some of batches(ids)) {
      await runAnalyzeReport(
        some.map((reportId) => ({ reportId })),
        app,
      )
    }
    return keptOf(ids)
  }

  async function answer(ids: readonly string[]): Promise<Kept[]> {
    for (let round = 0; round < ANSWERS_MAX; round++) {
      for (const report of await listReportsByIds(pool, ids)) await answerOne(report)
      // An answer also reopens other reports of the same reporter.
      const found = await listReportsByIds(pool, ids)
      const reopened = found.filter(({ state }) => state === 'received')
      if (reopened.length === 0) break
      for (const some of batches(reopened)) {
        await runAnalyzeReport(
          some.map(({ id }) => ({ reportId: id })),
          app,
        )
      }
    }
    return keptOf(ids)
  }

  async function answerOne(report: Report): Promise<void> {
    const analysis = await findAnalysis(pool, report.id)
    const question = await findQuestion(pool, report, analysis, [])
    const [candidate] = question?.candidates ?? []
    if (!analysis || !candidate || !isOwn(candidate, analysis.details.hops)) return
    await answerQuestion(app, report, { ip: candidate.ip, isMine: true })
  }

  async function keptOf(ids: readonly string[]): Promise<Kept[]> {
    const { rows } = await pool.query<Kept>(
      `select id, verdict_class as verdict, judgment #>> '{consequence,action}' as action,
         judgment #>> '{consequence,why,0,code}' as why,
         (select string_agg((one ->> 'name') || ' ' || (one ->> 'weight'), ', ')
          from jsonb_array_elements(judgment::jsonb #> '{verdict,symbols}') one) as symbols,
         coalesce(round(origin_confidence::numeric, 3) >= $2, false) as "isOriginCertain"
       from analyses where id = any($1::uuid[])`,
      [ids, config.originConfidenceMin],
    )
    const byId = new Map(rows.map((row) => [row.id, row]))
    const unread = {
      ...({ verdict: 'undecided', action: 'unread', why: '', symbols: '' } as const),
      isOriginCertain: false,
    }
    return ids.map((id) => byId.get(id) ?? { id, ...unread })
  }

  return {
    use: (next) => (model = next),
    addReporter,
    accept,
    confirm,
    answer,
    settle,
    app,
    async report(isNewcomer, kind, files) {
      const statements: Statement[] = []
      for (const file of files) {
        const reporterId = await addReporter(isNewcomer)
        statements.push({ reporterId, kind, message: await readFile(file) })
      }
      const kept = await accept(statements)
      await settle()
      ahead += HOUR_MS
      return kept
    },
    async judge(files, report) {
      const made: Awaited<ReturnType<Judge>> = []
      for (const some of batches(files)) {
        made.push(...(await judge(await casesOf(some, report))))
      }
      return made
    },
    async close() {
      await parser.close()
      await stopBoss(boss, 1_000)
      await instance.close()
    },
  }
}

/** Whether a machine is internal, or in the domain of the machine that received the message. */
function isOwn({ isInternal, name }: RelayCandidate, hops: readonly TracedHop[]): boolean {
  const receiver = hops.find(({ by }) => by.host?.includes('.'))?.by.host?.toLowerCase()
  const domain = registrableDomainOf(receiver)
  return isInternal || (domain !== undefined && registrableDomainOf(name?.toLowerCase()) === domain)
}

/**
 * The Internet in /16 blocks, each with its own abuse desk and autonomous system: larger blocks
 * would share bad reputations.
 */
function everyNetwork() {
  const cidrs = [
    ...Array.from({ length: 223 * 256 }, (_, at) => `${1 + (at >> 8)}.${at & 255}.0.0/16`),
    ...Array.from({ length: 0x1000 }, (_, at) => `${(0x2000 + at).toString(16)}::/16`),
  ]
  const blocks = cidrs.map((cidr, index) => ({
    cidr,
    asn: 4_200_000_000 + index,
    name: `Network ${index}`,
    country: 'FR',
    contacts: [`abuse@network-${index}.example`],
  }))
  return batches(blocks, BLOCKS_AT_ONCE)
}

function batches<T>(all: readonly T[], size: number = BATCH): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, at) =>
    all.slice(at * size, (at + 1) * size),
  )
}
