import type { App } from '../app.ts'
import { insertSample } from '../db/activity.ts'
import { runRounds, systemElapsed, uuidv7 } from '../world.ts'
import { slotStart, TICK_MS } from './slots.ts'
import { type Tally, tally } from './tally.ts'
import { writeActivity } from './write-activity.ts'

type Needs = Pick<App, 'pool' | 'clock' | 'log'>

/**
 * After a tick, in milliseconds: when the process that wrote the last one writes the next one, and
 * when another process writes it otherwise.
 */
const writeAfterMs = { next: 4_000, instead: 5_000 }
/** Number of ticks after which a process looks again if it has found another one writing. */
const LOOK_TICKS = 3
/** Timers may be early by a millisecond. */
const EARLY_MS = TICK_MS / 20

/**
 * Keeps the activity of a process until it is closed: stores a sample after each tick, and writes
 * the slots if no other process does.
 */
export function keepActivity(app: Needs, name: string): { close: () => Promise<void> } {
  const storeSample = createSampler(app, name, tally)
  let isWriter = false
  let ticksUntilLook = 1

  async function write(): Promise<void> {
    try {
      isWriter = await writeActivity(app)
      ticksUntilLook = isWriter ? 1 : LOOK_TICKS
    } catch (error) {
      isWriter = false
      app.log.warn({ err: error }, 'Could not write the activity. Will retry.')
    }
  }

  /** Returns the time until some time after the start of the next tick. */
  function untilAfter(ms: number): number {
    const now = app.clock().getTime()
    return slotStart(now - ms + EARLY_MS, TICK_MS) + TICK_MS + ms - now
  }
  const sampleOrWrite = async () => {
    if (ticksUntilLook > 0) {
      await storeSample('ended')
      ticksUntilLook--
    } else await write()
    if (ticksUntilLook > 0) return untilAfter(0)
    return untilAfter(isWriter ? writeAfterMs.next : writeAfterMs.instead)
  }
  const rounds = runRounds(sampleOrWrite, { firstMs: untilAfter(0) })

  return {
    async close() {
      await rounds.close()
      await storeSample('present')
    },
  }
}

/** Returns a function that stores the sample of the tick that has just ended, or of the present. */
function createSampler(app: Needs, name: string, counted: Tally) {
  const processId = uuidv7(app.clock())
  let used = { cpu: process.cpuUsage(), at: systemElapsed() }
  return async (tick: 'ended' | 'present') => {
    const present = slotStart(app.clock().getTime() + EARLY_MS, TICK_MS)
    const at = new Date(tick === 'present' ? present : present - TICK_MS)
    const { user, system } = process.cpuUsage(used.cpu)
    const cpu = (user + system) / 1_000 / Math.max(1, systemElapsed() - used.at)
    const taken = counted.take()
    const memory = process.memoryUsage.rss()
    try {
      const content = { process: name, cpu, memory, ...taken }
      await insertSample(app.pool, { processId, at, content })
      used = { cpu: process.cpuUsage(), at: systemElapsed() }
    } catch (error) {
      counted.giveBack(taken)
      app.log.warn({ err: error }, 'Could not store the activity of this process. Will retry.')
    }
  }
}
