import { zstdCompressSync } from 'node:zlib'
import { beforeEnd, type EndLock } from '../../src/parsing/run-in-time.ts'

/** A task that waits, or one that compresses until its thread is ended. */
export type CompressingTask = { lock: EndLock; waitMs?: number }

export default function run({ lock, waitMs }: CompressingTask): string {
  if (waitMs !== undefined) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, waitMs)
    return 'waited'
  }
  const bytes = Buffer.alloc(1_000)
  for (;;) beforeEnd(lock, () => zstdCompressSync(bytes))
}
