import { afterEach, beforeEach, expect, test } from 'vitest'
import { findPooling } from '../../src/db/pool.ts'
import { spamMessage } from '../support/messages.ts'
import { makeSite, type Site } from '../support/parts.ts'
import { runProgram, startProgram, until } from '../support/process.ts'
import { keepsStatements, type Pgbouncer, startPgbouncer } from './pgbouncer.ts'

let site: Site
let pooler: Pgbouncer | undefined

beforeEach(async () => {
  site = await makeSite()
})
afterEach(async () => {
  await site.clear()
  await pooler?.clear()
})

const reports = 60

/** Reports many messages at once; all are accepted and analyzed. */
async function expectService(env: Record<string, string>): Promise<void> {
  await Promise.all([site.start('web', env), site.start('work', env)])
  const marks = Array.from({ length: reports }, (_, index) => `mark-${index}`)
  const posted = await Promise.all(
    marks.map((mark) =>
      fetch(`${site.url}/api/v1/reports`, {
        method: 'POST',
        headers: { authorization: `Bearer ${site.token}`, 'content-type': 'message/rfc822' },
        body: new Uint8Array(spamMessage(mark)),
      }),
    ),
  )
  expect(posted.map(({ status }) => status)).toEqual(marks.map(() => 202))
  const { pool } = site.database
  await until('all analyses', async () => {
    const query = `select count(*)::int as n from reports where state <> 'received'`
    const { rows } = await pool.query<{ n: number }>(query)
    return rows[0]?.n === reports || undefined
  })
}

async function expectRefusal(url: string): Promise<void> {
  const advice = /does not keep prepared statements .*pgbouncer 1\.21 or newer/
  await expect(findPooling(url)).rejects.toThrow(advice)
  const migrated = await runProgram(['migrate'], { ...site.env, DATABASE_URL: url })
  expect(migrated).toMatchObject({ code: 78, stderr: expect.stringMatching(advice) as unknown })
  for (const name of ['web', 'work', 'check']) {
    const env = { ...site.env, DATABASE_URL: url, CHECK_PORT: '0' }
    const program = startProgram([name], env)
    expect(await program.ended).toMatchObject({ code: 78 })
    expect(program.said()).toMatch(advice)
    expect(program.said()).not.toMatch(/^ {4}at /m)
  }
}

test('PostgreSQL itself is not detected as a pooler', async () => {
  expect(await findPooling(site.database.url)).toBe('session')
})

test('everything works behind pgbouncer in session mode', async () => {
  pooler = await startPgbouncer(site.database.url, [
    'pool_mode = session',
    'default_pool_size = 60',
  ])
  expect(await findPooling(pooler.url)).toBe('session')
  const migrated = await runProgram(['migrate'], { ...site.env, DATABASE_URL: pooler.url })
  expect(migrated).toMatchObject({ code: 0 })
  await expectService({ DATABASE_URL: pooler.url })
})

test.for(['default_pool_size = 20', 'default_pool_size = 1'])(
  'transaction mode is refused if prepared statements are lost, with %s',
  async (size) => {
    const off = (await keepsStatements()) ? ['max_prepared_statements = 0'] : []
    pooler = await startPgbouncer(site.database.url, ['pool_mode = transaction', size, ...off])
    await expectRefusal(pooler.url)
  },
)

test('a pooler is refused while other clients use it too', async () => {
  const off = (await keepsStatements()) ? ['max_prepared_statements = 0'] : []
  pooler = await startPgbouncer(site.database.url, ['pool_mode = transaction', ...off])
  const { url } = pooler
  const many = Array.from({ length: 8 }, () => findPooling(url))
  for (const one of await Promise.allSettled(many)) expect(one.status).toBe('rejected')
})

test('everything works in transaction mode if prepared statements are kept', async (context) => {
  if (!(await keepsStatements())) return context.skip('This pgbouncer keeps none.')
  const kept = ['pool_mode = transaction', 'max_prepared_statements = 200']
  pooler = await startPgbouncer(site.database.url, kept)
  expect(await findPooling(pooler.url)).toBe('transaction')
  const env = { ...site.env, DATABASE_URL: pooler.url }
  expect(await runProgram(['migrate'], env)).toMatchObject({ code: 0 })
  await expectService(env)
})

test('with DATABASE_DIRECT_URL jobs start at once', async (context) => {
  if (!(await keepsStatements())) return context.skip('This pgbouncer keeps no statements.')
  const kept = ['pool_mode = transaction', 'max_prepared_statements = 200']
  pooler = await startPgbouncer(site.database.url, kept)
  const env = { DATABASE_URL: pooler.url, DATABASE_DIRECT_URL: site.database.url }
  await expectService(env)
  const { rows } = await site.database.pool.query(
    `select 1 from pg_stat_activity where query ilike 'listen %' or query like '%listening%'`,
  )
  expect(rows.length).toBeGreaterThan(0)
})
