import { readFile } from 'node:fs/promises'
import { pino } from 'pino'
import { addAccount } from '../../src/processes/add-account.ts'
import { readConfig } from '../../src/config.ts'
import { allShards } from '../../src/counting/keys.ts'
import { createCounterReader } from '../../src/counting/reader.ts'
import { rollUp } from '../../src/counting/roll-up.ts'
import { replaceNetworks } from '../../src/db/networks.ts'
import { inTransaction } from '../../src/db/pool.ts'
import { pack } from '../../src/db/rows.ts'
import { createIntake } from '../../src/reports/accept-report.ts'
import { runAnalyzeReport } from '../../src/reports/analyze-report.ts'
import { WHOLE_PART } from '../../src/counting/evidence.ts'
import { foldParts } from '../../src/counting/fold-evidence.ts'
import { findCampaigns } from '../../src/judging/find-campaigns.ts'
import { createJudge, type Judge } from '../../src/judging/judge.ts'
import { findKnownNetworks } from '../../src/feedback/draw-consequences.ts'
import { createReputationReader } from '../../src/counting/reputation-reader.ts'
import { shippedRules } from '../../src/judging/rule-versions.ts'
import { readMessage } from '../../src/mail/message.ts'
import { createParserPool } from '../../src/parsing/parser-pool.ts'
import { startBoss, stopBoss } from '../../src/queue/boss.ts'
import { factDefinitions } from '../../src/verdict/facts/facts.ts'
import type { ReportedAs } from '../../src/verdict/facts/outside-facts.ts'
import type { Model } from '../../src/verdict/model/model.ts'
import { compileRules } from '../../src/verdict/rules/rule-book.ts'
import type { VerdictClass } from '../../src/verdict/verdict.ts'
import { startInstance } from '../bench/instance.ts'

/** The verdict on a report. */
type Kept = { verdict: VerdictClass; action: string; symbols: string }

/** A database with reporters, in which messages are reported and judged as in the program. */
export type World = {
  /** Adds a reporter; the karma of a newcomer starts low. */
  addReporter: (isNewcomer: boolean) => Promise<string>
  /** Reports messages, analyzes them, and counts the reports. */
  report: (
    reporterId: string,
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
  close: () => Promise<void>
}

const BATCH = 50
const BLOCKS_AT_ONCE = 1_000
const HOUR_MS = 3_600_000

/** Opens a `World` with the shipped rules and without DNS. */
export async function openWorld(): Promise<World> {
  const instance = await startInstance()
  const { pool, databaseUrl } = instance
  await inTransaction(pool, (tx) => replaceNetworks(tx, 'bench', everyNetwork(), new Date()))
  const boss = await startBoss(databaseUrl, 'sends', { name: 'quality', onError: console.error })
  const parser = createParserPool(1)
  let [model, ahead]: [Model | undefined, number] = [undefined, 0]
  const clock = () => new Date(Date.now() + ahead)
  const compiled = compileRules(shippedRules(), factDefinitions)
  if ('faults' in compiled) throw new Error(compiled.faults[0]?.reason)
  const judge = createJudge({
    counters: createCounterReader({ pool, clock }, { keysMax: 1, freshMs: 0 }),
    reputations: createReputationReader({ pool, clock }, { keysMax: 1, freshMs: 0 }),
    rules: { current: () => compiled.rules },
    model: { current: () => model },
    clock,
  })
  const log = pino({ level: 'silent' })
  const env = { DNS_SERVERS: 'none', MESSAGE_AGE_MAX: '0', RDAP_BOOTSTRAP_URL: 'none' }
  const settings = readConfig(env, { cores: 1, cwd: '/nowhere' })
  const config = { ...settings, databaseUrl, secret: 'a secret of the measurement, of nobody' }
  const app = { pool, boss, clock, log, config, parser, judge, rdap: undefined, dns: undefined }
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

  async function settle(): Promise<void> {
    for (const shard of allShards) {
      while (((await rollUp(pool, [shard], clock()))?.entries ?? 0) > 0);
    }
    for (let part = 0; part <= WHOLE_PART; part++) {
      while (((await foldParts(pool, [part], clock()))?.rows ?? 0) > 0);
    }
    ahead += HOUR_MS
  }

  return {
    use: (next) => (model = next),
    async addReporter(isNewcomer) {
      const email = `reporter-${++accounts}@reporters.example`
      const request = { email, password: undefined, isAdmin: false, wantsToken: false }
      return (await addAccount({ ...request, isUnproven: isNewcomer }, { pool, clock })).id
    },
    async report(reporterId, kind, files) {
      const ids: string[] = []
      for (const some of batches(files)) {
        const accepted = await Promise.all(
          some.map(async (file) => {
            const message = readMessage(await readFile(file))
            const rest = { comment: null, receivedVia: [] }
            return intake.accept({ reporterId, channel: 'api', kind, message, ...rest })
          }),
        )
        await runAnalyzeReport(
          accepted.map(({ id }) => ({ reportId: id })),
          app,
        )
        ids.push(...accepted.map(({ id }) => id))
      }
      await settle()
      const { rows } = await pool.query<Kept & { id: string }>(
        `select id, verdict_class as verdict, judgment #>> '{consequence,action}' as action,
           (select string_agg((one ->> 'name') || ' ' || (one ->> 'weight'), ', ')
            from jsonb_array_elements(judgment::jsonb #> '{verdict,symbols}') one) as symbols
         from analyses where id = any($1::uuid[])`,
        [ids],
      )
      const byId = new Map(rows.map((row) => [row.id, row]))
      return ids.map(
        (id) => byId.get(id) ?? { verdict: 'undecided', action: 'unread', symbols: '' },
      )
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

/**
 * The IPv4 Internet in /16 blocks, each with its own abuse desk and autonomous system: larger
 * blocks would share bad reputations.
 */
function everyNetwork() {
  const blocks = Array.from({ length: 223 * 256 }, (_, index) => ({
    cidr: `${1 + (index >> 8)}.${index & 255}.0.0/16`,
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
