import { type ChildProcess, fork } from 'node:child_process'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { pino } from 'pino'
import { migrateAll } from '../../../../src/processes/migrate.ts'
import { type OpenApp, openApp } from '../../../../src/processes/open-app.ts'
import { readConfig } from '../../../../src/config.ts'
import { composeReturnPath } from '../../../../src/mail/verp.ts'
import { forwardReport } from '../../../../src/feedback/queues.ts'
import { chanceFrom } from '../../chance.ts'
import { openOwnServer } from '../../own-database.ts'
import { type FaultySink, startFaultySink } from './faulty-sink.ts'
import { fillOutbox } from './fill-outbox.ts'

/** The result of a run; `faults` is empty if no mail was lost or sent without reason. */
export type TorturedSending = {
  sent: number
  refused: number
  copies: number
  repeats: number
  sinkFaults: ReadonlyMap<string, number>
  faults: string[]
}

type Options = { kills: number; seed: number; reports?: number; say?: (line: string) => void }
type Row = { reportId: string; number: number; state: string; messageId: string | null }

const SECRET = 'a secret of the torture, long enough for all'
const PROCESSES = 2
const CONSUMERS = 12
const ONE_IN = 12
const SETTLE_MS = 180_000
/**
 * In milliseconds. A process that was killed within this time after it received an answer may not
 * have recorded the answer.
 */
const KILLED_MS = 3_000

/**
 * Forwards with two processes to a mail server that fails at random at each step, kills one of them
 * repeatedly, and checks the result: each feedback report was sent or permanently refused, and
 * arrived twice only if the sender could not know that it had arrived.
 */
export async function tortureSending(options: Options): Promise<TorturedSending> {
  const { kills, seed, reports = 40 + 25 * kills, say = () => undefined } = options
  const chance = chanceFrom(seed)
  const server = await openOwnServer()
  const children = new Set<ChildProcess>()
  const closers = [() => server.close()]
  try {
    await migrateAll(server.url, new Date())
    const config = readConfig({ SECRET, MESSAGE_AGE_MAX: '0' }, { cores: 2, cwd: '/nowhere' })
    const its = { ...config, databaseUrl: server.url }
    const app = await openApp(its, 'works', pino({ level: 'silent' }), 'torture')
    closers.unshift(() => app.close())
    await app.boss.updateQueue(forwardReport.name, {
      ...{
        retryDelay: 1,
        retryDelayMax: 2,
        retryLimit: 1_000,
        heartbeatSeconds: 10,
        retryBackoff: true,
      },
    })
    await fillOutbox(app, reports, CONSUMERS)
    await app.pool.query(
      `update pgboss.job set retry_delay = 1, retry_delay_max = 2, retry_limit = 1000,
         heartbeat_seconds = 10
       where name = 'forward-report'`,
    )
    const sink = await startFaultySink(chance, ONE_IN)
    closers.unshift(() => sink.close())
    const start = () => {
      const script = path.join(import.meta.dirname, 'sending-process.ts')
      const child = fork(script, [server.url, sink.url, SECRET], { execArgv: [] })
      children.add(child)
      return new Promise<void>((resolve) => child.once('message', () => resolve()))
    }
    await Promise.all(Array.from({ length: PROCESSES }, start))
    const killedAt: number[] = []
    for (let kill = 0; kill < kills; kill++) {
      await wait(chance() * 1_500)
      const victim = [...children][Math.floor(chance() * children.size)]
      killedAt.push(await killChild(victim))
      if (victim) children.delete(victim)
      await start()
      say(`kill ${kill + 1}: ${sink.kept.length} mails were taken so far`)
    }
    await untilSettled(app)
    await Promise.all([...children].map(killChild))
    return await examine(app, sink, killedAt)
  } finally {
    await Promise.all([...children].map(killChild))
    for (const close of closers) await close()
  }
}

async function killChild(child: ChildProcess | undefined): Promise<number> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return Date.now()
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await ended
  return Date.now()
}

async function untilSettled({ pool }: OpenApp): Promise<void> {
  const until = Date.now() + SETTLE_MS
  while (Date.now() < until) {
    const { rows } = await pool.query(`select from feedback_reports where state = 'queued' limit 1`)
    if (rows.length === 0) return
    await wait(250)
  }
}

async function examine(
  { pool, config }: OpenApp,
  sink: FaultySink,
  killedAt: readonly number[],
): Promise<TorturedSending> {
  const { rows } = await pool.query<Row>(
    `select report_id as "reportId", number, state, message_id as "messageId"
     from feedback_reports`,
  )
  const faults: string[] = []
  const copies = Map.groupBy(sink.kept, ({ messageId }) => messageId)
  const settings = { domain: config.returnPathDomain, secret: config.secret }
  for (const { reportId, number, state, messageId } of rows) {
    const name = `${reportId}.${number}`
    const its = copies.get(`<${name}@${settings.domain}>`) ?? []
    const wasRefused = sink.refused.has(composeReturnPath({ reportId, number }, settings))
    if (state !== 'sent' && state !== 'refused') faults.push(`${name} is still ${state}`)
    if (state === 'sent' && its.length === 0) faults.push(`${name} was never taken`)
    if (state === 'refused' && !wasRefused) faults.push(`${name} was never refused`)
    if (messageId !== null && messageId !== `<${name}@${settings.domain}>`) {
      faults.push(`${name} was kept as ${messageId}`)
    }
    // If there are several copies, the sender could not know the result of any but the last.
    for (const copy of state === 'refused' ? its : its.slice(0, -1)) {
      const wasKilled = killedAt.some((at) => at >= copy.at - 50 && at - copy.at < KILLED_MS)
      if (copy.isAnswered && !wasKilled) faults.push(`${name} was sent again without need`)
    }
    if (new Set(its.map(({ raw }) => raw)).size > 1) faults.push(`${name} came with other bytes`)
  }
  const { rows: events } = await pool.query<{ id: string }>(
    `select report_id as id from report_events where event in ('sent', 'refused')
     group by 1 having count(*) > 1`,
  )
  for (const { id } of events) faults.push(`${id} was kept twice`)
  const unknownIds = [...copies.keys()].filter(
    (id) => !rows.some((row) => id === `<${row.reportId}.${row.number}@${settings.domain}>`),
  )
  for (const id of unknownIds) faults.push(`${id} was never queued`)
  return {
    sent: rows.filter(({ state }) => state === 'sent').length,
    refused: rows.filter(({ state }) => state === 'refused').length,
    copies: sink.kept.length,
    repeats: sink.kept.length - copies.size,
    sinkFaults: sink.faults,
    faults,
  }
}
