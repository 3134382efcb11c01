import type { ChildProcess } from 'node:child_process'
import type { Logger } from '../log.ts'
import type { Part } from './parts.ts'

/** Parts that are kept running. */
export type Supervisor = {
  /** Resolves when every part has said that it is ready. */
  ready: Promise<void>
  /** Asks every part to finish; kills those that take longer than `STOP_MS` and the draining. */
  stop: () => Promise<void>
}

const STOP_MS = 20_000
const PAUSE_MS_MIN = 200
const PAUSE_MS_MAX = 30_000
/** A part that ran for so long starts again without a pause. */
const STEADY_MS = 60_000

type Running = { child: ChildProcess | undefined; timer: NodeJS.Timeout | undefined }

/**
 * Starts parts of the program by `startPart` and starts again what dies, with growing pauses.
 * A part whose supervisor dies sees its channel close, and ends by itself.
 */
export function supervise(
  parts: readonly Part[],
  startPart: (part: Part) => ChildProcess,
  { log, drainMs = 0 }: { log: Logger; drainMs?: number | undefined },
): Supervisor {
  let isStopping = false
  const running = new Map<string, Running>()
  const readiness = parts.map((part) => {
    const { promise, resolve } = Promise.withResolvers<'ready'>()
    const state: Running = { child: undefined, timer: undefined }
    running.set(part.name, state)
    let pauseMs = PAUSE_MS_MIN
    const start = () => {
      const startedAt = performance.now()
      const child = startPart(part)
      state.child = child
      child.on('message', (message) => {
        if (message === 'ready') resolve('ready')
      })
      child.on('exit', (code, signal) => {
        state.child = undefined
        if (isStopping) return
        if (performance.now() - startedAt > STEADY_MS) pauseMs = PAUSE_MS_MIN
        log.warn({ part: part.name, code, signal, pauseMs }, 'A part died and is started again.')
        state.timer = setTimeout(start, pauseMs)
        pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX)
      })
    }
    start()
    return promise
  })
  return {
    ready: Promise.all(readiness).then(() => undefined),
    stop: async () => {
      isStopping = true
      await Promise.all([...running.values()].map((one) => stopPart(one, STOP_MS + drainMs)))
    },
  }
}

async function stopPart({ child, timer }: Running, msMax: number): Promise<void> {
  clearTimeout(timer)
  if (!child || child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  child.kill('SIGTERM')
  const killer = setTimeout(() => child.kill('SIGKILL'), msMax)
  await ended
  clearTimeout(killer)
}
