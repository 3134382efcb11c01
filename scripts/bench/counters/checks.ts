import { setTimeout as wait } from 'node:timers/promises'
import { appendBlocks } from '../../../src/counting/count-messages.ts'
import { createCheckBuffer } from '../../../src/counting/check-buffer.ts'
import { headOf } from '../../../src/counting/packed/delta-packing.ts'
import { systemClock } from '../../../src/world.ts'
import { printTable } from '../corpus.ts'
import {
  backlogBytes,
  clearCounters,
  coresOf,
  keyOf,
  perSecond,
  type Stage,
  storedBytes,
  untilRolledUp,
  withCpu,
  zipf,
} from './stage.ts'

const BACKLOG_BYTES_MAX = 256_000_000
const CHECK_HEAD = headOf(2, 1, 0)

/** The results of the same test with other servers, if they are installed. */
export type References = { redis: number | undefined; tarantool: number | undefined }

/** Makes as many increments as possible through the buffer, with a parallel roll-up. */
export async function benchChecks(
  stage: Stage,
  { seconds, keys, redis, tarantool }: { seconds: number; keys: number } & References,
): Promise<void> {
  await clearCounters(stage.pool)
  const rollUps = stage.startRollUps()
  const failed = (error: unknown) => console.error(error)
  const append: Parameters<typeof createCheckBuffer>[0]['append'] = (blocks) =>
    appendBlocks(stage.pool, blocks, new Date())
  const buffer = createCheckBuffer({ append, clock: systemClock, failed }, 2 ** 20)
  let backlogMax = 0
  let absorbed = 0
  const drive = async () => {
    const end = performance.now() + seconds * 1_000
    let looked = 0
    while (performance.now() < end) {
      for (let count = 0; count < 10_000; count++) buffer.add(keyOf(zipf(keys)), CHECK_HEAD, 1)
      absorbed += 10_000
      await new Promise(setImmediate)
      if (performance.now() < looked) continue
      looked = performance.now() + 1_000
      const bytes = await backlogBytes(stage.pool)
      backlogMax = Math.max(backlogMax, bytes)
      if (bytes > BACKLOG_BYTES_MAX) await wait(1_000)
    }
    await buffer.close()
  }
  const whole = await withCpu(stage, rollUps.pid, async () => {
    const driven = await withCpu(stage, rollUps.pid, drive)
    await untilRolledUp(stage.pool)
    return driven
  })
  await rollUps.stop()
  const counted = absorbed - buffer.lost()
  const driven = whole.result.seconds
  const { bytes } = await storedBytes(stage.pool)
  console.log(`\nCheck path: Zipf over ${keys} keys, ${seconds} s`)
  printTable(
    ['', ''],
    [
      ['increments', counted.toLocaleString('en')],
      ['lost because the buffer was full', buffer.lost().toLocaleString('en')],
      ['absorbed and durable, a second', perSecond(counted, driven)],
      ['… to the last one rolled up, a second', perSecond(counted, whole.seconds)],
      ['ratio to Redis, everysec', ratioOf(counted / driven, redis)],
      ['ratio to Tarantool, log written', ratioOf(counted / driven, tarantool)],
      ['on disk', `${(bytes / 1e6).toFixed(0)} MB`],
      ['greatest backlog', `${(backlogMax / 1e6).toFixed(0)} MB`],
      ['lag at the end', `${(whole.seconds - driven).toFixed(1)} s`],
      ['cores: source and buffer / roll-up / database', coresOf(whole)],
    ],
  )
}

function ratioOf(perSecond: number, reference: number | undefined): string {
  return reference ? (perSecond / reference).toFixed(2) : 'not measured'
}
