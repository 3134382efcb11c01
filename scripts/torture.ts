import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { tortureCounters } from '../test/support/counter-torture.ts'
import { chanceFrom } from '../test/support/chance.ts'
import { tortureBodies } from '../test/support/torture/bodies/torture-bodies.ts'
import { tortureReconnects } from '../test/support/torture/reconnects/torture-reconnects.ts'
import { tortureComposing } from '../test/support/torture/sending/torture-composing.ts'
import { tortureRestarts } from '../test/support/torture/restarts/torture-restarts.ts'
import { tortureSending } from '../test/support/torture/sending/torture-sending.ts'
import { tortureLimitsHere } from '../test/support/torture/limits/torture-limits-here.ts'
import { tortureMove } from '../test/support/torture/torture-move.ts'
import { tortureHanging } from '../test/support/torture/sending/torture-hanging.ts'
import { tortureRelay } from '../test/support/torture/sending/torture-relay.ts'
import { tortureShadow } from '../test/support/torture/shadow/torture-shadow.ts'
import { tortureReports } from '../test/support/torture/torture-reports.ts'

// Kills processes and PostgreSQL at random, and checks whether anything was lost or counted twice.
const usage = `Usage: npm run torture counters [-- --rounds N --seed N]
       npm run torture all [-- --minutes N --seed N]
       npm run torture reports [-- --kills N --seed N]
       npm run torture nodes [-- --kills N --seed N]
       npm run torture sending [-- --kills N --seed N]
       npm run torture relay
       npm run torture composing
       npm run torture limits
       npm run torture move [-- --stored N --seed N --citus]
       npm run torture bodies
       npm run torture reconnects
       npm run torture restarts [-- --restarts N]
       npm run torture citus
       npm run torture shadow [-- --answers N]`
const FAULTS_SHOWN = 20

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '20' },
    restarts: { type: 'string', default: '10' },
    answers: { type: 'string', default: '2000' },
    kills: { type: 'string', default: '25' },
    stored: { type: 'string', default: '100000' },
    citus: { type: 'boolean', default: false },
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
})
const seed = Number(values.seed)
const kills = Number(values.kills)
const minutes = Number(values.minutes)
const rounds = Number(values.rounds)
const stored = Number(values.stored)
const restarts = Number(values.restarts)
const answers = Number(values.answers)
const areNumbers = [seed, kills, stored, minutes, rounds, restarts, answers].every(
  (one) => Number.isSafeInteger(one) && one >= 0,
)
const [what, ...rest] = positionals
const runs = {
  ...{ counters, sending, move },
  reports: () => tortureLine({ kills }),
  nodes: () => tortureLine({ kills, isCitus: true }),
  all: () => tortureLine({ kills: Infinity, isAll: true, minutes }),
  relay: async () => [...(await tortureRelay(console.log)), ...(await tortureHanging(console.log))],
  composing: () => tortureComposing(console.log),
  limits: () => tortureLimitsHere(console.log),
  bodies: () => tortureBodies(console.log),
  reconnects: () => tortureReconnects(console.log),
  restarts: () => tortureRestarts(restarts, console.log),
  shadow: () => tortureShadow(answers, console.log),
  citus: allOnCitus,
}
const run = what !== undefined && Object.hasOwn(runs, what) ? runs[what as keyof typeof runs] : null
if (rest.length > 0 || !run || !areNumbers) {
  console.error(usage)
  process.exit(2)
}
const faults = await run()
for (const line of faults.slice(0, FAULTS_SHOWN)) console.log(`differs: ${line}`)
console.log(faults.length === 0 ? 'All counts are exact.' : `${faults.length} differ.`)
process.exitCode = faults.length === 0 ? 0 : 1

/** Runs all database and end-to-end tests on a cluster of Citus. */
async function allOnCitus(): Promise<string[]> {
  const vitest = path.join(import.meta.dirname, '..', 'node_modules', '.bin', 'vitest')
  const tests = spawn(vitest, ['run', '--config', 'vitest.citus.config.ts'], {
    stdio: 'inherit',
    env: { ...process.env, CITUS_TESTS: 'all' },
  })
  const [code] = (await once(tests, 'close')) as [number | null]
  return code === 0 ? [] : ['some tests failed on Citus']
}

async function counters(): Promise<string[]> {
  console.log(`${rounds} kills, seed ${seed}`)
  const done = await tortureCounters(rounds, chanceFrom(seed))
  console.log(`killed: ${done.kills.join(', ')}`)
  console.log(`${done.batches} batches were committed; ${done.buckets} buckets compared`)
  return done.wrong
}

async function tortureLine(run: {
  kills: number
  isAll?: boolean
  isCitus?: boolean
  minutes?: number
}): Promise<string[]> {
  // Ctrl-C stops the faults, but the result is still checked.
  const enough = new AbortController()
  process.once('SIGINT', () => enough.abort())
  if (run.minutes !== undefined) setTimeout(() => enough.abort(), run.minutes * 60_000)
  console.log(`seed ${seed}`)
  const done = await tortureReports({ ...run, seed, say: console.log, enough: enough.signal })
  console.log(`${done.kills.length} faults were caused`)
  for (const words of done.surprises) console.log(`ended by itself: ${words}`)
  const { accepted, retracted, neverCounted, analyzedTwice, campaigns } = done
  console.log(`${done.requests} requests; ${accepted} reports were accepted`)
  console.log(`${retracted} were retracted, ${neverCounted} of them before they were counted`)
  console.log(`${analyzedTwice} were analyzed again; ${campaigns} campaigns were created`)
  const { slots, days } = done.compared
  console.log(`${done.mail.sent} feedback reports were sent, ${done.mail.repeats} mails repeated`)
  console.log(`compared exactly: ${slots} buckets of ten minutes, ${days} of days`)
  return done.faults
}

async function move(): Promise<string[]> {
  console.log(`seed ${seed}`)
  const done = await tortureMove({ stored, seed, isToCitus: values.citus }, console.log)
  const { rows, movedMs, stoppedMs, accepted, acceptedMeanwhile, faults } = done
  const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`
  console.log(`${rows} rows moved in ${seconds(movedMs)}`)
  console.log(`writing was stopped for ${seconds(stoppedMs)}, the end of these`)
  console.log(`${accepted} reports were accepted, ${acceptedMeanwhile} of them during the move`)
  return faults
}

async function sending(): Promise<string[]> {
  console.log(`${kills} kills, seed ${seed}`)
  const done = await tortureSending({ kills, seed, say: console.log })
  const { sent, refused, copies, repeats, sinkFaults } = done
  for (const [name, times] of [...sinkFaults].sort()) console.log(`${name}: ${times}`)
  console.log(`${sent} were sent, ${refused} refused; ${copies} mails arrived`)
  console.log(`${repeats} of them arrived again, where their sender could not know the result`)
  return done.faults
}
