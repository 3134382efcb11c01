import { expect, test } from 'vitest'
import { operations } from '../../../src/cli/networks.ts'
import { listAudit } from '../../../src/db/audit-log.ts'
import { type NewLayer, replaceNetworks } from '../../../src/db/networks.ts'
import { inTransaction } from '../../../src/db/pool.ts'
import { UsageError } from '../../../src/errors.ts'
import { findNetworks } from '../../../src/judging/find-campaigns.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { runCommand } from '../../support/command.ts'
import { freshDatabase } from '../../support/database.ts'

const now = new Date()
const database = await closeAfterTests(freshDatabase())
const layer: NewLayer = {
  cidr: '198.51.100.0/24',
  asn: 64_497,
  name: 'Imported',
  country: 'FR',
  contacts: ['abuse@imported.example'],
}
await inTransaction(database.pool, (tx) => replaceNetworks(tx, 'a.csv', [[layer]], now))

let deeds = 0

/**
 * Runs a command and returns its output. Each command runs at a different time, so that the log has
 * an order.
 */
async function networks(...args: string[]): Promise<string> {
  const clock = () => new Date(now.getTime() + ++deeds)
  const { stdout, stderr } = await runCommand(operations, args, { pool: database.pool, clock })
  return stdout.trimEnd() + stderr.trimEnd()
}

async function networkOf(ip: string) {
  return (await findNetworks(database.pool, [ip], now)).get(ip)
}

async function lastAudit() {
  return (await listAudit(database.pool, { before: undefined, limit: 1 }))[0]
}

test('an override is used until it is removed, and both actions are in the audit log', async () => {
  await networks('set', '198.51.100.0/24', '--abuse', 'a@hand.example,b@hand.example')
  expect(await networkOf('198.51.100.7')).toMatchObject({
    name: 'Imported',
    contacts: ['a@hand.example', 'b@hand.example'],
  })
  expect(await lastAudit()).toMatchObject({
    action: 'set network',
    reporterId: null,
    detail: '198.51.100.0/24: abuse a@hand.example, b@hand.example',
  })
  expect(await networks('unset', '198.51.100.0/24')).toBe('Override removed.')
  expect(await networkOf('198.51.100.7')).toMatchObject({ abuse: 'abuse@imported.example' })
  expect(await lastAudit()).toMatchObject({ action: 'unset network', detail: '198.51.100.0/24' })
  expect(await networks('unset', '198.51.100.0/24')).toBe('This block has no override.')
})

test('a second override keeps fields it does not name; an empty value removes one', async () => {
  await networks('set', '198.51.100.0/25', '--name', 'Hand', '--asn', 'AS64499')
  await networks('set', '198.51.100.0/25', '--country', 'nl')
  expect(await networkOf('198.51.100.7')).toMatchObject({
    name: 'Hand',
    asn: 64_499,
    country: 'NL',
  })
  await networks('set', '198.51.100.0/25', '--name', '')
  expect(await networkOf('198.51.100.7')).toMatchObject({ name: 'Imported', asn: 64_499 })
  await networks('unset', '198.51.100.0/25')
})

test('with "none" no feedback report is sent', async () => {
  expect(await networks('set', '198.51.0.0/16', '--abuse', 'none')).toContain('abuse none')
  expect(await networkOf('198.51.100.7')).toMatchObject({ abuse: null, isMuted: true })
  await networks('set', '198.51.0.0/16', '--name', 'Silent')
  expect(await networkOf('198.51.100.7')).toMatchObject({ abuse: null, isMuted: true })
  await networks('set', '198.51.0.0/16', '--abuse', 'loud@hand.example')
  expect(await networkOf('198.51.100.7')).not.toHaveProperty('isMuted')
  await networks('unset', '198.51.0.0/16')
})

test('an address is shown with all its layers and the source of each field', async () => {
  await networks('set', '198.51.100.0/26', '--asn', '64500')
  const shown = await networks('show', '198.51.100.7')
  expect(shown).toMatch(/^198\.51\.100\.7 is in 198\.51\.100\.0\/26$/m)
  expect(shown).toMatch(/^AS +AS64500 +198\.51\.100\.0\/26 +manual$/m)
  expect(shown).toMatch(/^name +Imported +198\.51\.100\.0\/24 +a\.csv$/m)
  expect(shown).toMatch(/^abuse +–$/m)
  expect(shown).toMatch(/^198\.51\.100\.0\/24 .*abuse@imported\.example .*of another AS/m)
  expect(await networks('show', '192.0.2.1')).toBe('No source has a network for 192.0.2.1.')
  await networks('unset', '198.51.100.0/26')
})

test('sources and overrides are listed', async () => {
  await networks('set', '2001:db8::/32', '--name', 'Six', '--abuse', 'none')
  const listed = await networks('list')
  expect(listed).toMatch(/^a\.csv +1 +\d{4}-\d\d-\d\d$/m)
  expect(listed).toMatch(/^Overrides:\n2001:db8.*::?.*\/32 +Six, abuse: none$/m)
  await networks('unset', '2001:db8::/32')
})

test('a source is dropped and logged, and an unknown one refused', async () => {
  const layer = { cidr: '192.0.2.0/24', asn: 1, name: null, country: null, contacts: [] }
  await inTransaction(database.pool, (tx) => replaceNetworks(tx, 'b.csv', [[layer]], now))
  expect(await networks('drop', 'b.csv')).toBe('Dropped 1 block.')
  expect(await lastAudit()).toMatchObject({ action: 'drop networks', detail: 'b.csv: 1 blocks' })
  expect(await networks('drop', 'b.csv')).toMatch(/SOURCE: Unknown source/)
})

test.for([
  ['a wrong address', ['set', '192.0.2.0/24', '--abuse', 'nobody'], /abuse contact must be/],
  ['a wrong AS number', ['set', '192.0.2.0/24', '--asn', 'x'], /AS number/],
  ['a wrong country', ['set', '192.0.2.0/24', '--country', 'FRA'], /two-letter code/],
  ['a word that says nothing', ['set', '192.0.2.0/24', '--name', ''], /at least one property/],
] as const)('%s is refused and changes nothing', async ([, args, why]) => {
  expect(await networks(...args)).toMatch(why)
  expect(await networkOf('192.0.2.1')).toBeUndefined()
})

test.for([
  [],
  ['set', '192.0.2.0/24'],
  ['set', '--name', 'x'],
  ['set', 'nowhere', '--name', 'x'],
  ['show'],
  ['show', 'example.com'],
  ['show', '192.0.2.1', '--name', 'x'],
  ['unset', '192.0.2.0/33'],
  ['list', 'all'],
  ['drop'],
  ['drop', 'manual'],
  ['else', '192.0.2.1'],
] as const)('"networks %s %s" is a usage error', async (args) => {
  const isMisuse = networks(...args).catch(
    (error: unknown) =>
      error instanceof UsageError || (error instanceof TypeError && 'code' in error),
  )
  expect(await isMisuse).toBe(true)
})
