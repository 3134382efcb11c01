import { availableParallelism } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { listShardBacklogs } from '../../src/db/counter-rows.ts'
import { freePort } from '../../src/db/embedded.ts'
import { askFor, askUntil, type Client, httpClient } from './check/clients.ts'
import { type Neighbor, startRspamd, startSpamd } from './check/neighbors.ts'
import { loadOf, percentiles, printTable, readCorpus, variantOf } from './corpus.ts'
import { cpuSeconds, type Instance, serverCpuSeconds, startInstance } from './instance.ts'

type Contestant = Omit<Neighbor, 'close'>
type Round = { perSecond: number; cpuSeconds: number }
type Cost = { check: number; count: number; database: number; messages: number }

const CONNECTIONS = 8
const OURS = 'Signalpost'
const TYPICAL_BYTES = [18_000, 22_000] as const
const SINGLE_SECONDS = 4
/** Before the measurement, because the code of Signalpost is compiled while it runs. */
const WARM_UP_SECONDS = 15
/** Time limit in milliseconds of an answer (`ANSWER_MS_MAX` in `web/check`). */
const ANSWER_MS_MAX = 5_000

/**
 * Measures how many messages per second mail servers can have checked over eight connections,
 * compared with rspamd (with and without statistics) and SpamAssassin. None of them uses the
 * network, and all check the same messages alternately. Then measures the time of one answer for a
 * message of 20 KB over one connection, and how many questions get no verdict at full load.
 */
export async function benchCheck(): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(process.argv.findIndex((word) => word.startsWith('--')) >>> 0),
    options: {
      seconds: { type: 'string', default: '10' },
      rounds: { type: 'string', default: '3' },
      only: { type: 'string', default: 'rspamd,redis,spamassassin' },
      questions: { type: 'string', default: '20000' },
      profile: { type: 'boolean', default: false },
    },
  })
  const folders = ['phishing', 'ham', 'newsletters', 'spam']
  const messages = readCorpus(folders)
  console.log(`${availableParallelism()} cores, load before: ${loadOf()}`)
  const instance = await startInstance()
  const port = await freePort()
  const env = { CHECK_PORT: String(port), ...(values.profile && { NODE_OPTIONS: '--cpu-prof' }) }
  const [count, check] = [await instance.run('count'), await instance.run('check', env)]
  const has = (name: string) => values.only.split(',').includes(name)
  const lessons = { spam: readCorpus(['phishing']), ham: readCorpus(['ham']) }
  const neighbors: Neighbor[] = []
  const add = (neighbor: Neighbor | undefined) => neighbor && neighbors.push(neighbor)
  try {
    if (has('rspamd')) add(await startRspamd(undefined))
    if (has('redis')) add(await startRspamd(lessons))
    if (has('spamassassin')) add(await startSpamd())
    const pids = { check: check.pid ?? 0, count: count.pid ?? 0 }
    const cpu = async () => {
      const { check, count, database } = await spent(instance, pids)
      return check + count + database
    }
    const ours: Contestant = { name: OURS, open: () => httpClient(port), cpu }
    await compare([ours, ...neighbors], messages, { ...values, instance, pids })
    await countUnanswered(ours.open, variants(messages), Number(values.questions))
  } finally {
    for (const neighbor of neighbors) await neighbor.close()
    await instance.close()
  }
  console.log(`load after: ${loadOf()}`)
}

async function compare(
  contestants: readonly Contestant[],
  messages: readonly Buffer[],
  options: {
    seconds: string
    rounds: string
    instance: Instance
    pids: { check: number; count: number }
  },
): Promise<void> {
  const next = variants(messages)
  for (const { open } of contestants) {
    await askFor(WARM_UP_SECONDS, { connections: CONNECTIONS, open, next })
  }
  const rounds = new Map<string, Round[]>(contestants.map(({ name }) => [name, []]))
  const costs: Cost[] = []
  for (let round = 0; round < Number(options.rounds); round++) {
    for (const { name, open, cpu } of contestants) {
      const before = await spent(options.instance, options.pids)
      const cpuBefore = await cpu()
      const run = { connections: CONNECTIONS, open, next }
      const { asked, seconds } = await askFor(Number(options.seconds), run)
      requireAnswers(name, asked)
      console.log(`round ${round + 1}: ${name} ${Math.round(asked.length / seconds)} a second`)
      if (name === OURS) {
        while ((await listShardBacklogs(options.instance.pool)).length > 0) await wait(100)
        const after = await spent(options.instance, options.pids)
        costs.push(difference(before, after, asked.length))
      }
      const used = ((await cpu()) - cpuBefore) / asked.length
      rounds.get(name)?.push({ perSecond: asked.length / seconds, cpuSeconds: used })
    }
  }
  const typical = messages.filter(({ length }) => {
    return length >= TYPICAL_BYTES[0] && length <= TYPICAL_BYTES[1]
  })
  const nextTypical = variants(typical)
  const single = new Map<string, { p50: number; p99: number }>()
  for (const { name, open } of contestants) {
    const run = { connections: 1, open, next: nextTypical }
    const { asked } = await askFor(SINGLE_SECONDS, run)
    single.set(name, percentiles(asked.map(({ ms }) => ms)))
  }
  print(contestants, rounds, single, costs)
}

/** Counts the questions that get no verdict in time: failed connections, errors and NO_VERDICT. */
async function countUnanswered(
  open: () => Client,
  next: () => Buffer,
  questions: number,
): Promise<void> {
  const failing = (client: Client): Client => ({
    ...client,
    ask: (message) =>
      client.ask(message).catch((error: unknown) => ({ ms: Infinity, answer: String(error) })),
  })
  const rows: string[][] = []
  for (const connections of [CONNECTIONS, 64, 256]) {
    const run = { connections, open: () => failing(open()), next }
    const { asked, seconds } = await askUntil((answers) => answers >= questions, run)
    const unanswered = asked.filter(({ ms, answer }) => {
      return ms > ANSWER_MS_MAX || !/^HTTP\/1\.1 200 .*"is_skipped":false/s.test(answer)
    })
    const { p50, p99, max } = percentiles(asked.map(({ ms }) => ms))
    rows.push([
      ...[`${connections}`, asked.length.toLocaleString('en'), `${unanswered.length}`],
      ...[Math.round(asked.length / seconds).toLocaleString('en'), milliseconds(p50)],
      ...[milliseconds(p99), milliseconds(max)],
    ])
  }
  console.log('')
  const head = ['connections', 'questions', 'without a verdict', 'messages/s', 'p50', 'p99', 'max']
  printTable(head, rows)
}

function milliseconds(value: number | undefined): string {
  return `${(value ?? Number.NaN).toFixed(1)} ms`
}

/** Returns a function that returns the messages in turn, each changed so that no two are equal. */
function variants(messages: readonly Buffer[]): () => Buffer {
  let number = 0
  return () => {
    const message = messages[number % messages.length] ?? Buffer.alloc(0)
    return variantOf(message, ++number)
  }
}

function requireAnswers(name: string, asked: readonly { answer: string }[]): void {
  const good = name === 'SpamAssassin' ? /^SPAMD\/\S+ 0 / : /^HTTP\/1\.1 200 /
  const wrong = asked.find(({ answer }) => !good.test(answer))
  if (wrong) throw new Error(`${name} answered: ${wrong.answer.slice(0, 300)}`)
}

async function spent(instance: Instance, pids: { check: number; count: number }): Promise<Cost> {
  return {
    check: await cpuSeconds(pids.check),
    count: await cpuSeconds(pids.count),
    database: await serverCpuSeconds(instance.server),
    messages: 0,
  }
}

function difference(before: Cost, after: Cost, messages: number): Cost {
  return {
    check: after.check - before.check,
    count: after.count - before.count,
    database: after.database - before.database,
    messages,
  }
}

function print(
  contestants: readonly Contestant[],
  rounds: ReadonlyMap<string, readonly Round[]>,
  single: ReadonlyMap<string, { p50: number; p99: number }>,
  costs: readonly Cost[],
): void {
  const median = (name: string, pick: (round: Round) => number) =>
    percentiles((rounds.get(name) ?? []).map(pick)).p50
  const rate = (name: string) => median(name, ({ perSecond }) => perSecond)
  const cpu = (name: string) => median(name, ({ cpuSeconds }) => cpuSeconds)
  console.log('')
  printTable(
    [
      'bench check (medians)',
      'messages/s',
      'our rate / its rate',
      'CPU',
      'its CPU / our CPU',
      '20 KB: p50',
      'p99',
    ],
    contestants.map(({ name }) => [
      name,
      Math.round(rate(name)).toLocaleString('en'),
      (rate(OURS) / rate(name)).toFixed(2),
      `${Math.round(cpu(name) * 1e6)} µs`,
      (cpu(name) / cpu(OURS)).toFixed(2),
      milliseconds(single.get(name)?.p50),
      milliseconds(single.get(name)?.p99),
    ]),
  )
  const micro = (pick: (cost: Cost) => number) =>
    `${Math.round(percentiles(costs.map((one) => (pick(one) / one.messages) * 1e6)).p50)} µs`
  console.log('')
  printTable(
    ['CPU of one message, rolled up', 'check', 'count', 'database'],
    [[OURS, micro((one) => one.check), micro((one) => one.count), micro((one) => one.database)]],
  )
}
