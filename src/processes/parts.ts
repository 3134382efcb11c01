import { type ChildProcess, fork } from 'node:child_process'
import path from 'node:path'
import { queues } from '../queue/queues.ts'

/** One part of Signalpost, run as a process of its own: its name, command line and allocator. */
export type ProcessPart = {
  name: string
  args: readonly string[]
  allocator: NodeJS.ProcessEnv
  /** Whether it may have all parser threads of the machine, because somebody waits for it. */
  isWaitedFor?: boolean
}

/** Gives memory back early: 30 MB less in a worker, but a sixth of `web`'s speed. */
const thrifty = { MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '8000000' }
const swift = { MALLOC_ARENA_MAX: '2' }

const analyzing: readonly string[] = [
  'analyze-report',
  'find-contact',
  'redeem-report',
  'keep-house',
  'mark-dead',
]

/**
 * The parts of a whole instance. Analysis and forwarding are two processes, so that a slow mail
 * server or a heavy message holds up one of them only, and each stays under 300 MB.
 */
export const parts: readonly ProcessPart[] = [
  { name: 'web', args: ['web'], allocator: swift },
  { name: 'analyze', args: workOn(analyzing), allocator: thrifty },
  {
    name: 'forward',
    args: workOn(queues.map(({ name }) => name).filter((name) => !analyzing.includes(name))),
    allocator: thrifty,
  },
  { name: 'count', args: ['count'], allocator: thrifty },
  { name: 'receive', args: ['receive'], allocator: swift },
]

/** The part that answers mail servers, where CHECK_PORT is set. */
export const checkPart: ProcessPart = {
  name: 'check',
  args: ['check'],
  allocator: swift,
  isWaitedFor: true,
}

function workOn(names: readonly string[]): string[] {
  return ['work', '--queues', names.join(',')]
}

/**
 * Starts a part. Its heap and allocator are kept small: measured on two cores, the two workers hold
 * 190 and 265 MB instead of 260 and 330, at the same speed. What is made of messages comes and goes
 * outside the heap and drives full collections, one for 65 reports: a heap that may double between
 * two of them takes a tenth of all time less for 20 MB more. Compiled code is kept in the data
 * folder.
 */
export function startPart(
  main: string,
  { args, allocator, isWaitedFor = false }: ProcessPart,
  env: NodeJS.ProcessEnv,
  machine: { dataDir: string; workers: number },
): ChildProcess {
  return fork(main, args, {
    execArgv: ['--v8-pool-size=1', '--max-semi-space-size=8', '--heap-growing-percent=100'],
    env: {
      ...allocator,
      NODE_COMPILE_CACHE: path.join(machine.dataDir, 'compile-cache'),
      ...env,
      // Two processes that nobody waits for share the parser threads of the machine.
      WORKERS: String(isWaitedFor ? machine.workers : Math.ceil(machine.workers / 2)),
    },
  })
}
