import { expect, test } from 'vitest'
import { addAccount, runAccount, parseAccount } from '../../../src/processes/add-account.ts'
import { importNetworks } from '../../../src/processes/import-networks.ts'
import { listAudit } from '../../../src/db/audit-log.ts'
import { findReporter, findReporterSettings } from '../../../src/db/reporters.ts'
import { createCredentials } from '../../../src/people/credentials.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { freshDatabase } from '../../support/database.ts'
import { sampleNetworks } from '../../support/messages.ts'
import { readKarmas } from '../../support/evidence.ts'

const clock = () => new Date('2026-11-20T12:00:00Z')
const database = await closeAfterTests(freshDatabase(clock()))
const app = () => ({ pool: database.pool, clock })
const add = (...args: string[]) =>
  addAccount({ ...parseAccount(['add', ...args]), password: undefined }, app())
const addWith = (password: string, ...args: string[]) =>
  addAccount({ ...parseAccount(['add', ...args]), password }, app())

test('an account signs in with its password, with its address in any case', async () => {
  const { id } = await addWith('correct horse', '--email', 'Ann@Example.com')
  const { byPassword } = createCredentials(database.pool)
  const ann = { id, email: 'ann@example.com', role: null }
  expect(await byPassword('ANN@example.com', 'correct horse')).toMatchObject(ann)
  expect(await byPassword('ann@example.com', 'Correct horse')).toBeUndefined()
  expect(await byPassword('nobody@example.com', 'correct horse')).toBeUndefined()
})

test('the audit log says what was changed on the command line', async () => {
  const asked = parseAccount([
    'add',
    '--email',
    'olga@example.com',
    '--role',
    'operator',
    '--token',
  ])
  await runAccount({ ...asked, password: 'correct horse' }, app())
  await importNetworks(sampleNetworks, app(), { source: 'mine', isAudited: true })
  await importNetworks(sampleNetworks, app(), { source: 'refreshed' })
  const entries = await listAudit(database.pool, { before: undefined, limit: 10 })
  const said = entries.map(({ reporterId, action, detail }) => [reporterId, action, detail])
  expect(said.toSorted()).toEqual([
    [null, 'add account', 'olga@example.com: operator, password, token'],
    [null, 'import networks', expect.stringMatching(/^mine: \d+ blocks$/)],
  ])
})

test('of many passwords at once, those above the limit are refused until later', async () => {
  const counted: string[] = []
  const { byPassword } = createCredentials(database.pool, { clock, checksMax: 2 })
  const clients = ['a', 'b', 'c', 'd'].map((name) =>
    byPassword(`${name}@example.com`, 'correct horse', () => {
      counted.push(name)
      return Promise.resolve(undefined)
    }),
  )
  const outcomes = await Promise.allSettled(clients)
  const refused = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
  expect(refused).toMatchObject([
    { name: 'BusyError', retrySeconds: 3 },
    { name: 'BusyError', retrySeconds: 4 },
  ])
  expect(await byPassword('a@example.com', 'correct horse')).toBeUndefined()
})

test('adding an account again keeps its id and password, and adds the new rights', async () => {
  const first = await addWith('first password', '--email', 'bob@example.com')
  const again = await add('--email', 'bob@example.com', '--role', 'administrator')
  expect(again.id).toBe(first.id)
  const { byPassword } = createCredentials(database.pool)
  expect(await byPassword('bob@example.com', 'first password')).toMatchObject({
    role: 'administrator',
  })
})

test('a new password replaces the old one and removes no rights', async () => {
  await addWith('first password', '--email', 'cy@example.com', '--role', 'administrator')
  const { id } = await addWith('second password', '--email', 'cy@example.com')
  const { byPassword } = createCredentials(database.pool)
  expect(await byPassword('cy@example.com', 'first password')).toBeUndefined()
  expect(await byPassword('cy@example.com', 'second password')).toMatchObject({ id })
  expect(await findReporter(database.pool, id)).toMatchObject({ role: 'administrator' })
})

test('the output shows the account as it is, not as requested', async () => {
  await add('--email', 'di@example.com', '--role', 'administrator')
  expect(await add('--email', 'di@example.com')).toMatchObject({ role: 'administrator' })
})

test('each token works, is shown once and is stored only as a hash', async () => {
  const first = await add('--email', 'ed@example.com', '--token')
  const second = await add('--email', 'ed@example.com', '--token')
  const { byToken } = createCredentials(database.pool)
  expect(await byToken(first.token ?? '')).toMatchObject({ id: first.id })
  expect(await byToken(second.token ?? '')).toMatchObject({ id: first.id })
  const { rows } = await database.pool.query<{ kept: string }>(
    `select encode(token_hash, 'escape') || name as kept from tokens where reporter_id = $1`,
    [first.id],
  )
  expect(rows).toHaveLength(2)
  expect(rows.some(({ kept }) => kept.includes(first.token ?? ''))).toBe(false)
})

test('without --token the output has no token', async () => {
  expect(await add('--email', 'flo@example.com')).not.toHaveProperty('token')
})

test.for(['', 'sp_', `sp_${'A'.repeat(43)}`, `sp_${'A'.repeat(42)}\n`, 'x'.repeat(100_000)])(
  'an unknown token belongs to no account (%#)',
  async (token) => {
    expect(await createCredentials(database.pool).byToken(token)).toBeUndefined()
  },
)

test('an account without a password cannot sign in with any', async () => {
  await add('--email', 'gil@example.com', '--token')
  const { byPassword } = createCredentials(database.pool)
  for (const password of ['', 'null', 'undefined', 'x'.repeat(2_000)]) {
    expect(await byPassword('gil@example.com', password)).toBeUndefined()
  }
})

test('addresses that differ only in case are one account', async () => {
  const [one, two] = await Promise.all([
    add('--email', 'hal@example.com'),
    add('--email', 'HAL@EXAMPLE.COM'),
  ])
  expect(one.id).toBe(two.id)
})

test('an account added by the operator is vouched for unless it has to prove itself', async () => {
  const ida = await add('--email', 'ida@example.com')
  const jo = await add('--email', 'jo@example.com', '--unproven')
  await add('--email', 'jo@example.com')
  const karmas = await readKarmas(database.pool, [ida.id, jo.id], clock())
  expect([...karmas.values()]).toEqual([1, 0.2])
})

test('the language of letters stays until another is set', async () => {
  const kim = await add('--email', 'kim@example.com', '--language', 'fr')
  await add('--email', 'kim@example.com', '--role', 'administrator')
  const found = await findReporterSettings(database.pool, kim.id)
  expect(found).toEqual({
    language: 'fr',
    wantsAnswers: true,
    wantsAdvice: true,
    wantsSummary: false,
  })
})
