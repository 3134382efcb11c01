import { isMainThread } from 'node:worker_threads'
import type { ParserTask } from '../../src/parsing/parser-pool.ts'

/** The message on which this thread stalls for good. */
export const STALLING_MESSAGE = Buffer.from('Subject: stall\r\n\r\n')

const runs = isMainThread ? undefined : await import('../../src/parsing/parser-thread.ts')

/** A parser thread that never ends with `STALLING_MESSAGE`, and reads all others as usual. */
export default function run(tasks: readonly ParserTask[]): Promise<unknown> | undefined {
  const stalls = tasks.some(
    (task) =>
      STALLING_MESSAGE.equals(task.packed.content) &&
      !(task.work === 'compose' && task.isHeaderOnly),
  )
  if (stalls) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  return runs?.default(tasks)
}
