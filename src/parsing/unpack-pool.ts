import path from 'node:path'
import { Piscina } from 'piscina'
import type { GivenFile, Unpacked, UnpackLimits } from '../mail/containers/unpack-file.ts'
import type { UnpackMade, UnpackTask } from './unpack-thread.ts'

/** Threads in which files are unpacked that strangers made. */
export type UnpackPool = {
  /**
   * Rejects when the file took too long or too much memory: its thread is replaced. It may take
   * `msMax`, and never longer than any file may; who asks for more at once than there are threads
   * waits in his own time.
   */
  unpack: (file: GivenFile, limits: UnpackLimits, msMax?: number) => Promise<Unpacked[]>
  close: () => Promise<void>
}

const usualMsMax = 10_000
const heapMegabytesMax = 192
const idleMs = 30_000

/**
 * A pool of two threads, which start with the first file and end when they are idle: they load the
 * readers of `mail/containers` and nothing else. As many as uploads are opened at once, so that one
 * that takes long holds up no other.
 */
export function createUnpackPool(msMax: number = usualMsMax): UnpackPool {
  const pool = new Piscina({
    filename: path.join(import.meta.dirname, 'unpack-thread.ts'),
    minThreads: 0,
    maxThreads: 2,
    idleTimeout: idleMs,
    resourceLimits: { maxOldGenerationSizeMb: heapMegabytesMax, maxYoungGenerationSizeMb: 24 },
  })

  async function run(task: UnpackTask, ms: number): Promise<Unpacked[]> {
    const { items, content } = (await pool.run(task, {
      signal: AbortSignal.timeout(Math.min(ms, msMax)),
    })) as UnpackMade
    const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength)
    return items.map((item) =>
      'raw' in item ? { ...item, raw: bytes.subarray(item.raw.start, item.raw.end) } : item,
    )
  }

  return {
    unpack: (file, limits, ms = msMax) =>
      run({ name: file.name, bytes: alone(file.bytes), limits }, ms),
    close: () => pool.close({ force: true }),
  }
}

/** Bytes in no more memory than they need: all of what they share would cross with them. */
function alone(bytes: Buffer): Uint8Array {
  return bytes.buffer.byteLength < bytes.length * 2 ? bytes : new Uint8Array(bytes)
}
