import path from 'node:path'
import { Piscina } from 'piscina'
import type { GivenFile, Unpacked, UnpackLimits } from '../mail/containers/unpack-file.ts'
import { createEndLock, runInTime } from './run-in-time.ts'
import type { UnpackMade, UnpackTask } from './unpack-thread.ts'

export type UnpackPool = {
  /**
   * Unpacks a file within `msMax` milliseconds, but never more than the limit of the pool. Rejects
   * when the file took too long or too much memory; its thread is replaced. When all threads are
   * busy, the wait counts as part of the time.
   */
  unpack: (file: GivenFile, limits: UnpackLimits, msMax?: number) => Promise<Unpacked[]>
  close: () => Promise<void>
}

const usualMsMax = 10_000
const heapMegabytesMax = 192
const idleMs = 30_000

/**
 * Creates a pool of two threads, which start with the first file and end when idle. They load only
 * the readers of `mail/containers`. Two uploads can be unpacked in parallel, so that a slow one
 * does not delay the other.
 */
export function createUnpackPool(msMax: number = usualMsMax): UnpackPool {
  const pool = new Piscina({
    filename: path.join(import.meta.dirname, `unpack-thread${path.extname(import.meta.filename)}`),
    minThreads: 0,
    maxThreads: 2,
    idleTimeout: idleMs,
    resourceLimits: { maxOldGenerationSizeMb: heapMegabytesMax, maxYoungGenerationSizeMb: 24 },
  })

  async function run(task: UnpackTask, ms: number): Promise<Unpacked[]> {
    const wallMs = Math.min(ms, msMax)
    const { items, content } = (await runInTime(pool, task, { ms: wallMs, wallMs })) as UnpackMade
    const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength)
    return items.map((item) =>
      'raw' in item ? { ...item, raw: bytes.subarray(item.raw.start, item.raw.end) } : item,
    )
  }

  return {
    unpack: (file, limits, ms = msMax) =>
      run({ name: file.name, bytes: alone(file.bytes), limits, lock: createEndLock() }, ms),
    close: () => pool.close({ force: true }),
  }
}

/**
 * Copies bytes that share a much larger memory block, because the whole block would be transferred.
 */
function alone(bytes: Buffer): Uint8Array {
  return bytes.buffer.byteLength < bytes.length * 2 ? bytes : new Uint8Array(bytes)
}
