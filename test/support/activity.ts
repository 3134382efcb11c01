import { levels, packSlot, type Slot, slotStart } from '../../src/activity/slots.ts'
import { families } from '../../src/activity/families.ts'
import {
  seriesIds,
  type SlotRow,
  updateActivityProgress,
  upsertSlots,
} from '../../src/db/activity.ts'
import type { Pool } from '../../src/db/pool.ts'
import { chanceFrom } from './chance.ts'

/** What a busy service has, by family. */
function namesOf(desks: readonly string[]) {
  const each = (start: string, ends: readonly string[]) => ends.map((end) => `${start}/${end}`)
  const queues = ['analyze-report', 'find-contact', 'forward-report', 'send-letter', 'keep-house']
  const processes = ['web', 'work', 'count', 'receive', 'check']
  const results = ['sent', 'refused', 'bounced', 'held']
  return {
    rates: [
      ...each('reports/channel', ['api', 'form', 'mail', 'signaler']),
      ...each('reports/kind', ['spam', 'phishing', 'not-spam']),
      ...each('reports/verdict', [
        'spam',
        'phishing',
        'malware',
        'bulk',
        'legitimate',
        'undecided',
      ]),
      ...each('networks', ['AS64500 Example Net', 'AS64501 Other', 'unknown']),
      ...[...each('mail/feedback', results), ...each('mail/letter', results)],
      ...each('mail/answered', ['resolved', 'not-ours', 'wrong', 'stop']),
      ...[...results, 'answered'].flatMap((result) => each(`desks/${result}`, desks)),
      ...[...each('queues/done', queues), ...each('queues/failed', queues)],
      ...each('checks', ['no action', 'add header', 'reject', 'greylist']),
      ...['people/sign-ups', ...each('people/limits', ['report-minute', 'sign-in-here'])],
    ],
    states: [
      ...each('mail/unsent', ['queued', 'waiting', 'held', 'refused']),
      ...[...each('queues/waiting', queues), ...each('queues/age', queues)],
      ...[...each('system/cpu', processes), ...each('system/memory', processes)],
      'system/database',
    ],
    durations: ['reports/time', 'checks/time'],
  }
}

/** How large the values of a series are. */
function sizeOf(name: string): number {
  if (name.startsWith('system/cpu')) return 0.4
  if (name.startsWith('system/memory')) return 2e8
  if (name === 'system/database') return 4e9
  return 1 + (name.length % 7) * 3
}

/** Fills all levels with the activity of a busy service until an instant. */
export async function seedActivity(
  pool: Pool,
  { now, desks = [], since }: { now: Date; desks?: readonly string[]; since?: Date },
): Promise<void> {
  const random = chanceFrom(3)
  const { rates, states, durations } = namesOf(desks)
  const ids = await seriesIds(pool, [...rates, ...states, ...durations], now)
  const wave = (at: number) => 1.2 + Math.sin((at / 86_400_000) * 2 * Math.PI - 1.5)
  const pointsOf = (names: readonly string[], family: string, ticks: number, at: number) =>
    new Map(
      names
        .filter((name) => name.startsWith(`${family}/`))
        .map((name) => {
          const mean = sizeOf(name) * wave(at) * (0.6 + 0.8 * random())
          return [ids.get(name) ?? 0, { count: ticks, min: mean / 3, mean, max: mean * 2 }] as const
        }),
    )
  for (const [level, { stepMs, keepMs }] of levels.entries()) {
    const rows: SlotRow[] = []
    const oldest = Math.max(now.getTime() - keepMs, since?.getTime() ?? 0)
    for (let at = slotStart(oldest, stepMs); at + stepMs <= now.getTime(); at += stepMs) {
      const ticks = stepMs / 10_000
      for (const family of families) {
        const histogram = [0, 0, 1, 2, 4, 9, 20, 40, 30, 12, 4, 2, 1].map((count) =>
          Math.round(count * wave(at) * Math.min(ticks, 60)),
        )
        const slot: Slot = {
          ticks,
          rates: pointsOf(rates, family, ticks, at),
          states: pointsOf(states, family, ticks, at),
          durations: new Map(
            durations
              .filter((name) => name.startsWith(`${family}/`))
              .map((name) => [ids.get(name) ?? 0, histogram]),
          ),
        }
        rows.push({ level, at: new Date(at), family, ticks, content: packSlot(slot) })
      }
    }
    await upsertSlots(pool, rows)
  }
  const writtenUntil = new Date(slotStart(now.getTime(), 10_000))
  await updateActivityProgress(pool, { writtenUntil, mailTotals: {} })
}
