import { setTimeout as wait } from 'node:timers/promises'
import { createPool } from '../../../../src/db/pool.ts'
import { createLimits } from '../../../../src/people/limits.ts'
import { type Plan, reporterOf, type StreamResults, type Tried, turnAt } from './plan.ts'
import { ringOf } from '../../key-ring.ts'

// One process of a torture run: it makes attempts at the same time as the others.
const plan = JSON.parse(process.argv[2] ?? '{}') as Plan
const number = Number(process.argv[3])
const app = {
  pool: createPool(plan.url, { connectionsMax: 2, name: 'torture', onLost: () => undefined }),
  config: { secret: ringOf('a secret of the torture, not of anybody') },
}
process.once('disconnect', () => process.exit())

const wallMs = () => performance.timeOrigin + performance.now()
await wait(Math.max(0, plan.startsAt - wallMs()))
const told: StreamResults = { tried: await attack(), steadyRefused: await stream() }
await app.pool.end()
process.send?.(told, () => process.disconnect?.())

async function attack(): Promise<Tried[]> {
  const limits = createLimits(app)
  const tried: Tried[] = []
  const inGroup = plan.attackedKeys / plan.groups
  let left = plan.attempts
  const one = async () => {
    while (left-- > 0) {
      const sentAt = wallMs()
      const { group } = turnAt(plan, sentAt)
      const key = group * inGroup + Math.floor(Math.random() * inGroup)
      const { is } = await limits.admit('webhook', { reporterId: reporterOf(key) })
      tried.push({ key, sentAt, toldAt: wallMs(), isAdmitted: is === 'admitted' })
    }
  }
  await Promise.all(Array.from({ length: plan.atOnce }, one))
  return tried
}

/**
 * Makes the steady attempts of this process, with a simulated clock in the future. Returns how many
 * were refused.
 */
async function stream(): Promise<number> {
  const everyMs = plan.windowMs / ((plan.attemptsMax * 59) / 60)
  const begin = Date.now() + 1_000_000
  let now = begin
  const limits = createLimits(app, () => new Date(now))
  const keys = Array.from({ length: plan.steadyKeys }, (_, key) => plan.attackedKeys + key)
  const own = keys.filter((key) => key % plan.processes === number)
  let refused = 0
  for (let attempt = 0; attempt < plan.steadyAttempts; attempt++) {
    now = begin + Math.floor(attempt * everyMs)
    const answers = await Promise.all(
      own.map((key) => limits.admit('webhook', { reporterId: reporterOf(key) })),
    )
    refused += answers.filter(({ is }) => is !== 'admitted').length
  }
  return refused
}
