import type { Piscina } from 'piscina'
import { systemElapsed } from '../world.ts'

/**
 * A lock in shared memory: a thread takes it for steps during which it must not be ended. Node
 * aborts the whole process when a thread is ended between the creation and the initialization of a
 * zlib object ("close before init").
 */
export type EndLock = Int32Array

const FREE = 0
const HELD = 1
const ENDED = 2

/**
 * The limits for a task in milliseconds. It may take `ms`, and longer while the process computes
 * less than that, because an overloaded machine rarely runs its threads; but never longer than
 * `wallMs`.
 */
export type TimeLimits = { ms: number; wallMs: number }

export function createEndLock(): EndLock {
  return new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
}

/** Runs a step, in a thread, during which the thread is not ended. */
export function beforeEnd<T>(lock: EndLock, step: () => T): T {
  // The wait lasts until the thread is ended.
  if (Atomics.compareExchange(lock, 0, FREE, HELD) === ENDED) Atomics.wait(lock, 0, ENDED)
  try {
    return step()
  } finally {
    Atomics.store(lock, 0, FREE)
  }
}

/**
 * Time in milliseconds after which the CPU time of the process is first looked at. Most tasks end
 * before, and the look takes a twentieth of the time of the thread that sends them.
 */
const FIRST_LOOK_MS = 50

/**
 * Runs a task in a thread, and ends the thread when the task exceeds its limits; `ms` is counted
 * from the first look at the CPU time on.
 */
export async function runInTime(
  threads: Piscina,
  task: { lock: EndLock },
  { ms, wallMs }: TimeLimits,
): Promise<unknown> {
  const watch = new AbortController()
  const start = systemElapsed()
  let before: NodeJS.CpuUsage | undefined
  let timer = setTimeout(check, Math.min(FIRST_LOOK_MS, ms, wallMs))

  function check(): void {
    const { user, system } = process.cpuUsage((before ??= process.cpuUsage()))
    const elapsed = systemElapsed() - start
    const left = Math.min(ms - Math.min(elapsed, (user + system) / 1_000), wallMs - elapsed)
    const isOver = left <= 0 && Atomics.compareExchange(task.lock, 0, FREE, ENDED) !== HELD
    if (isOver) watch.abort()
    else timer = setTimeout(check, Math.max(left, 1))
  }

  try {
    return await threads.run(task, { signal: watch.signal })
  } catch (cause) {
    if (!watch.signal.aborted) throw cause
    throw new Error(`The message could not be parsed within ${ms / 1_000} s.`, { cause })
  } finally {
    clearTimeout(timer)
  }
}
