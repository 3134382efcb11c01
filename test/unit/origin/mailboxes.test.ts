import { existsSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  measureMailboxes,
  type Outcome,
  outcomes,
} from '../../../scripts/quality/measure-mailboxes.ts'

const folder = path.join(import.meta.dirname, '../../../../shared/mailboxes')

/** The share of each outcome in all messages, and the largest of an installation. */
async function shares(known: 'nothing' | 'exchangers' | 'probe') {
  const measured = await measureMailboxes(folder, { known, explain: () => undefined })
  const sum = (counts: Record<Outcome, number>) =>
    outcomes.reduce((all, one) => all + counts[one], 0)
  const total = measured.reduce((all, { counts }) => all + sum(counts), 0)
  return (outcome: Outcome) => ({
    all: measured.reduce((all, { counts }) => all + counts[outcome], 0) / total,
    worst: Math.max(...measured.map(({ counts }) => counts[outcome] / sum(counts))),
  })
}

describe.skipIf(!existsSync(folder))('mail of other installations, if present', () => {
  test('without DNS, the reporter’s own side is not accused', async () => {
    const share = await shares('nothing')
    expect(share('wrong-sure').all).toBeLessThanOrEqual(0.003)
    expect(share('wrong-sure').worst).toBeLessThanOrEqual(0.02)
    expect(share('right-sure').all).toBeGreaterThanOrEqual(0.65)
  })

  test('with the MX records, nearly all origins are found', async () => {
    const share = await shares('exchangers')
    expect(share('wrong-sure').all).toBe(0)
    expect(share('right-sure').all).toBeGreaterThanOrEqual(0.97)
    expect(share('none').all).toBe(0)
  })

  test('so are they after one test letter', async () => {
    const share = await shares('probe')
    expect(share('wrong-sure').all).toBe(0)
    expect(share('right-sure').all).toBeGreaterThanOrEqual(0.96)
  })
})
