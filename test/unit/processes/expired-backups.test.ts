import { expect, test } from 'vitest'
import { expiredBackups } from '../../../src/processes/backup.ts'

const nameOf = (day: string, time = '020000') => `signalpost-${day}T${time}Z.backup`

test('the newest backup of each day, week and month is kept, up to the rule', () => {
  const days = Array.from({ length: 90 }, (_, ago) => {
    const at = new Date(Date.UTC(2026, 10, 26) - ago * 86_400_000)
    return at.toISOString().slice(0, 10).replaceAll('-', '')
  })
  const names = days.map((day) => nameOf(day))
  const expired = expiredBackups(names, { days: 3, weeks: 2, months: 3 })
  const kept = names.filter((name) => !expired.includes(name))
  const expected = ['20261126', '20261125', '20261124', '20261122', '20261031', '20260930']
  expect(kept).toEqual(expected.map((day) => nameOf(day)))
})

test('several backups of a day leave the newest, and the newest of all is never deleted', () => {
  const names = [nameOf('20261126', '010000'), nameOf('20261126', '230000'), 'other.backup']
  expect(expiredBackups(names, { days: 1, weeks: 0, months: 0 })).toEqual([names[0]])
  expect(expiredBackups(names, { days: 0, weeks: 0, months: 0 })).toEqual([names[0]])
})
