import { type ChildProcess, fork } from 'node:child_process'
import path from 'node:path'
import { createPool } from '../../../../src/db/pool.ts'
import { onlyLimit } from '../../limits.ts'
import { type Judged, judgeLimits } from './judge-limits.ts'
import type { Plan, StreamResults } from './plan.ts'

/** The result of a run. */
export type TorturedLimits = Judged & { attempts: number; steady: number; steadyRefused: number }

const START_MS = 200

/**
 * Lets many processes make attempts on the same keys at the same time, and checks how many were
 * accepted.
 */
export async function tortureLimits(given: Omit<Plan, 'startsAt'>): Promise<TorturedLimits> {
  const pool = createPool(given.url, {
    connectionsMax: 1,
    name: 'torture',
    onLost: () => undefined,
  })
  await onlyLimit(pool, given)
  await pool.end()
  // A Node process needs a third of a second of a core to start.
  const plan = { ...given, startsAt: Date.now() + START_MS * given.processes }
  const script = path.join(import.meta.dirname, 'limits-process.ts')
  const children = Array.from({ length: plan.processes }, (_, number) =>
    fork(script, [JSON.stringify(plan), String(number)], {
      execArgv: [],
      serialization: 'advanced',
    }),
  )
  try {
    const told = await Promise.all(children.map(resultsOf))
    const tried = told.flatMap((one) => one.tried)
    const judged = judgeLimits(plan, tried)
    const steady = plan.steadyKeys * plan.steadyAttempts
    const steadyRefused = told.reduce((sum, one) => sum + one.steadyRefused, 0)
    if (steadyRefused > 0) judged.faults.push(`${steadyRefused} of steady streams were refused`)
    return { ...judged, attempts: tried.length + steady, steady, steadyRefused }
  } finally {
    for (const child of children) child.kill('SIGKILL')
  }
}

function resultsOf(child: ChildProcess): Promise<StreamResults> {
  return new Promise((resolve, reject) => {
    child.once('message', (told) => resolve(told as StreamResults))
    // The exit may be reported before the last message; the end of the channel is not.
    child.once('disconnect', () => reject(new Error('A process ended without its results.')))
  })
}
