import { type ChildProcess, fork } from 'node:child_process'
import path from 'node:path'

/** A part of Signalpost that runs as a separate process. */
export type ProcessPart = {
  name: string
  args: readonly string[]
  /** Whether the process uses all parser threads of the machine; the others use half of them. */
  usesAllThreads?: boolean
}

/** What a part tells its supervisor: that it is ready, or the id of the row of its heartbeats. */
export type PartMessage = 'ready' | { heartbeat: string }

/**
 * The processes of a whole instance. One worker processes all queues, so that a report is forwarded
 * from the memory in which it was analyzed.
 */
export const parts: readonly ProcessPart[] = [
  { name: 'web', args: ['web'] },
  { name: 'work', args: ['work'], usesAllThreads: true },
  { name: 'count', args: ['count'] },
  { name: 'receive', args: ['receive'] },
]

/** The process that answers mail servers' checks, used if CHECK_PORT is set. */
export const checkPart: ProcessPart = {
  name: 'check',
  args: ['check'],
  usesAllThreads: true,
}

/**
 * Starts a part with a small heap and few areas of the allocator, which needs a quarter less memory
 * at the same speed. Buffers of messages are outside the heap and trigger full collections, one per
 * 65 reports. If the heap may double between two collections, collections take a tenth less of the
 * total time, for 20 MB more. Without its memory reducer, V8 collects no garbage in an idle part:
 * that took 1 % of a core in the minutes after a start or a load, and saved 25 MB. Compiled code is
 * cached in the data folder.
 */
export function startPart(
  main: string,
  { args, usesAllThreads = false }: ProcessPart,
  env: NodeJS.ProcessEnv,
  machine: { dataDir: string; workers: number },
): ChildProcess {
  return fork(main, args, {
    execArgv: [
      ...process.execArgv,
      '--v8-pool-size=1',
      '--max-semi-space-size=8',
      '--heap-growing-percent=100',
      '--no-memory-reducer',
    ],
    env: {
      MALLOC_ARENA_MAX: '2',
      NODE_COMPILE_CACHE: path.join(machine.dataDir, 'compile-cache'),
      ...env,
      WORKERS: String(usesAllThreads ? machine.workers : Math.ceil(machine.workers / 2)),
    },
  })
}
