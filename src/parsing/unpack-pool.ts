import path from 'node:path'
import { Piscina } from 'piscina'
import type { GivenFile, Unpacked, UnpackLimits } from '../mail/containers/unpack-file.ts'
import type { UnpackMade, UnpackTask } from './unpack-thread.ts'

/** A thread in which files are unpacked that strangers made. */
export type UnpackPool = {
  /** Rejects when the file took too long or too much memory: the thread is replaced. */
  unpack: (file: GivenFile, limits: UnpackLimits) => Promise<Unpacked[]>
  close: () => Promise<void>
}

const usualMsMax = 10_000
const heapMegabytesMax = 192
const idleMs = 30_000

/**
 * A pool of one thread, which starts with the first file and ends when it is idle: it loads the
 * readers of `mail/containers` and nothing else. One file at a time, so that what many uploads
 * unpack to is never in memory at once; others wait.
 */
export function createUnpackPool(msMax: number = usualMsMax): UnpackPool {
  const pool = new Piscina({
    filename: path.join(import.meta.dirname, 'unpack-thread.ts'),
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: idleMs,
    resourceLimits: { maxOldGenerationSizeMb: heapMegabytesMax, maxYoungGenerationSizeMb: 24 },
  })
  let last: Promise<unknown> = Promise.resolve()

  async function run(task: UnpackTask): Promise<Unpacked[]> {
    const { items, content } = (await pool.run(task, {
      signal: AbortSignal.timeout(msMax),
    })) as UnpackMade
    const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength)
    return items.map((item) =>
      'raw' in item ? { ...item, raw: bytes.subarray(item.raw.start, item.raw.end) } : item,
    )
  }

  return {
    unpack(file, limits) {
      // In line here, so that the time runs for who is being served and not for who waits.
      const task = { name: file.name, bytes: alone(file.bytes), limits }
      const served = last.then(() => run(task))
      last = served.catch(() => undefined)
      return served
    },
    close: () => pool.close({ force: true }),
  }
}

/** Bytes in no more memory than they need: all of what they share would cross with them. */
function alone(bytes: Buffer): Uint8Array {
  return bytes.buffer.byteLength < bytes.length * 2 ? bytes : new Uint8Array(bytes)
}
