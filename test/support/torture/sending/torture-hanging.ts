import { setTimeout as wait } from 'node:timers/promises'
import { createReadHealth } from '../../../../src/health/read-health.ts'
import type { OpenApp } from '../../../../src/processes/open-app.ts'
import { startWork } from '../../../../src/processes/work.ts'
import { fillOutbox } from './fill-outbox.ts'
import { type Hanging, hangings, type HangingRelay, startHangingRelay } from './hanging-relay.ts'
import { oweLetters } from './owe-letters.ts'
import { withMailServer } from './with-sink.ts'

const FEEDBACK = 20
const LETTERS = 5
const HANGS_MS = 45_000
/** Time in milliseconds after which the overview must warn, and in which sending must resume. */
const NOTICED_MS = 30_000
const RESUMED_MS = 30_000
const GIVE_UP_MS = 30 * 60_000

/** What was measured while a mail server hung in one way. */
type Hung = { how: Hanging; resumedMs: number; opened: number; copies: number; faults: string[] }

/**
 * Sends through a mail server that hangs for a while, in the given ways, one after another, and
 * measures how long it takes after its recovery until all mail has left. Returns the faults.
 */
export async function tortureHanging(
  say: (line: string) => void,
  { ways = hangings, hangsMs = HANGS_MS }: { ways?: readonly Hanging[]; hangsMs?: number } = {},
): Promise<string[]> {
  const faults: string[] = []
  for (const how of ways) {
    const hung = await hangFor(how, hangsMs)
    const { resumedMs, opened, copies } = hung
    const seconds = (resumedMs / 1_000).toFixed(1)
    const words = `all mail left ${seconds} s after the recovery`
    say(`${how}: ${words}, ${opened} connections meanwhile, ${copies} mails arrived again`)
    for (const fault of hung.faults) say(`  ${fault}`)
    faults.push(...hung.faults.map((fault) => `${how}: ${fault}`))
  }
  return faults
}

async function hangFor(how: Hanging, hangsMs: number): Promise<Hung> {
  const relay = await startHangingRelay()
  try {
    return await withMailServer(relay.url, async (app) => {
      await fillOutbox(app, FEEDBACK, 10)
      await oweLetters(app, LETTERS)
      await relay.hang(how)
      const worker = await startWork(app, ['forward-report', 'send-letter'])
      try {
        return await watch(app, relay, { how, hangsMs })
      } finally {
        await worker.close()
      }
    })
  } finally {
    await relay.close()
  }
}

async function watch(
  app: OpenApp,
  relay: HangingRelay,
  { how, hangsMs }: { how: Hanging; hangsMs: number },
): Promise<Hung> {
  const faults: string[] = []
  await wait(Math.min(NOTICED_MS, hangsMs))
  faults.push(...(await examineLight(app)))
  await wait(Math.max(0, hangsMs - NOTICED_MS))
  faults.push(...(await examineLight(app)))
  const opened = relay.opened()
  const keptBefore = relay.kept.length
  await relay.hang(undefined)
  const recoveredAt = performance.now()
  while ((await unsent(app)) > 0 && performance.now() - recoveredAt < GIVE_UP_MS) await wait(250)
  const resumedMs = performance.now() - recoveredAt
  if (resumedMs > RESUMED_MS) faults.push(`all mail left only after ${Math.round(resumedMs)} ms`)
  const copies = relay.kept.length - new Set(relay.kept).size
  if (new Set(relay.kept).size < FEEDBACK + LETTERS) faults.push('mail was lost')
  if (copies > keptBefore) faults.push(`${copies} mails arrived again without need`)
  return { how, resumedMs, opened, copies, faults }
}

/** While mail waits for the mail server, the overview must not be green. */
async function examineLight(app: OpenApp): Promise<string[]> {
  if ((await unsent(app)) === 0) return ['all mail left while the mail server hung']
  const { conditions } = await createReadHealth(app)()
  const found = conditions.find(({ code }) => code === 'mail-leaving')
  const isBad = found?.level === 'warning' || found?.level === 'critical'
  return isBad ? [] : [`the overview says that mail is sent (${found?.level})`]
}

async function unsent({ pool }: OpenApp): Promise<number> {
  const { rows } = await pool.query<{ n: number }>(
    `select (select count(*) from feedback_reports where state = 'queued')::int
       + (select count(*) from letters where state = 'queued')::int as n`,
  )
  return rows[0]?.n ?? 0
}
