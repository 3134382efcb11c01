import { expect, test } from 'vitest'
import { createPool, type Pool } from '../../../src/db/pool.ts'
import { findRawMessage } from '../../../src/db/reports.ts'
import { createIntake, type Submission } from '../../../src/reports/accept-report.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { openTestApp } from '../../support/app.ts'
import { spamMessage } from '../../support/messages.ts'
import { readMessage } from '../../../src/mail/message.ts'

const app = await closeAfterTests(openTestApp())
const intake = createIntake(app)

function submission(raw: Buffer, more: Partial<Submission> = {}): Submission {
  const usual = { channel: 'api', kind: 'spam', comment: null, receivedVia: [] } as const
  return { ...usual, reporterId: app.ann, message: readMessage(raw), ...more }
}

/**
 * Returns the stored raw messages and jobs of the given reports; there must be one of each per
 * report.
 */
async function stored(ids: readonly string[]) {
  const [counts] = await app.rows(
    `select (select count(*) from reports where id = any($1::uuid[])) as reports,
       (select count(*) from raw_messages where id = any($1::uuid[])) as raws,
       (select count(*) from pgboss.job
        where name = 'analyze-report' and data ->> 'reportId' = any($1::text[])) as jobs`,
    [ids],
  )
  return counts
}

test('the same bytes from the same reporter are one report, also concurrently', async () => {
  const raw = spamMessage('same')
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => intake.accept(submission(raw))),
  )
  const ids = new Set(answers.map(({ id }) => id))
  expect(ids.size).toBe(1)
  expect(answers.filter(({ is }) => is === 'new')).toHaveLength(1)
  expect(await stored([...ids])).toEqual({ reports: 1, raws: 1, jobs: 1 })
  expect(await intake.accept(submission(raw))).toEqual({ id: answers[0]?.id, is: 'repeated' })
})

test('the same bytes from another reporter are another report', async () => {
  const raw = spamMessage('shared')
  const [one, other] = await Promise.all([
    intake.accept(submission(raw)),
    intake.accept(submission(raw, { reporterId: app.bob })),
  ])
  expect(one.id).not.toBe(other.id)
  expect([one.is, other.is]).toEqual(['new', 'new'])
})

test('lines that a mail program prepends do not make it another message', async () => {
  const raw = spamMessage('mozilla')
  const lines = ['X-Mozilla-Status: 0001', 'X-Mozilla-Status2: 00000000']
  const first = await intake.accept(submission(raw))
  for (const end of ['\r\n', '\n']) {
    const dressed = Buffer.concat([Buffer.from(lines.map((line) => line + end).join('')), raw])
    expect(await intake.accept(submission(dressed))).toEqual({ id: first.id, is: 'repeated' })
  }
  const changed = Buffer.concat([raw, Buffer.from('x')])
  expect((await intake.accept(submission(changed))).id).not.toBe(first.id)
})

test('500 simultaneous reports are all stored, each with its bytes and one job', async () => {
  const raws = Array.from({ length: 500 }, (_, number) => spamMessage(`many-${number}`))
  const answers = await Promise.all(raws.map((raw) => intake.accept(submission(raw))))
  const ids = answers.map(({ id }) => id)
  expect(new Set(ids).size).toBe(500)
  expect(await stored(ids)).toEqual({ reports: 500, raws: 500, jobs: 500 })
  for (const at of [0, 63, 64, 250, 499]) {
    const raw = await findRawMessage(app.pool, ids[at] ?? '')
    expect(raw?.equals(raws[at] ?? Buffer.of())).toBe(true)
  }
})

test('two intakes with the same messages agree and do not deadlock', async () => {
  const others = createIntake(app)
  const raws = Array.from({ length: 200 }, (_, number) => spamMessage(`both-${number}`))
  const [mine, theirs] = await Promise.all([
    Promise.all(raws.map((raw) => intake.accept(submission(raw)))),
    Promise.all(raws.toReversed().map((raw) => others.accept(submission(raw)))),
  ])
  expect(theirs.toReversed().map(({ id }) => id)).toEqual(mine.map(({ id }) => id))
  const ids = mine.map(({ id }) => id)
  expect(await stored(ids)).toEqual({ reports: 200, raws: 200, jobs: 200 })
})

test('a report that cannot be stored is refused alone; its neighbors are accepted', async () => {
  const raws = Array.from({ length: 30 }, (_, number) => spamMessage(`neighbor-${number}`))
  const results = await Promise.allSettled(
    raws.map((raw, number) =>
      intake.accept(
        submission(raw, number === 17 ? { kind: 'nonsense' as Submission['kind'] } : {}),
      ),
    ),
  )
  expect(results.flatMap(({ status }, at) => (status === 'rejected' ? [at] : []))).toEqual([17])
  const ids = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value.id] : []))
  expect(await stored(ids)).toEqual({ reports: 29, raws: 29, jobs: 29 })
  const refused = raws[17] ?? Buffer.of()
  expect(await intake.accept(submission(refused))).toMatchObject({ is: 'new' })
})

test('no answer is given before the commit', async () => {
  const pool = createPool(app.database.url, {
    connectionsMax: 4,
    name: 'test',
    onLost: () => undefined,
  })
  const slow = createIntake({ ...app, pool: withHeldCommits(pool) })
  let isAnswered = false
  const answer = slow.accept(submission(spamMessage('held-commit'))).then((accepted) => {
    isAnswered = true
    return accepted
  })
  const release = await held
  expect(isAnswered).toBe(false)
  expect(await app.rows(`select 1 from reports where subject like '%held-commit'`)).toEqual([])
  release()
  const { id } = await answer
  expect(await stored([id])).toEqual({ reports: 1, raws: 1, jobs: 1 })
  await pool.end()
})

let announce: (release: () => void) => void = () => undefined
const held = new Promise<() => void>((resolve) => (announce = resolve))

/** Returns the same pool, whose commits wait until the test releases them, as on a slow disk. */
function withHeldCommits(pool: Pool): Pool {
  return new Proxy(pool, {
    get(target, name) {
      if (name !== 'connect') return Reflect.get(target, name) as unknown
      return async () => {
        const client = await target.connect()
        const query = client.query.bind(client) as (text: string, params?: unknown[]) => unknown
        const patched = async (text: string, params?: unknown[]) => {
          if (text === 'commit') await new Promise<void>((resolve) => announce(resolve))
          return query(text, params)
        }
        return new Proxy(client, {
          get: (inner, key) => {
            const value: unknown = key === 'query' ? patched : Reflect.get(inner, key)
            return typeof value === 'function' ? value.bind(inner) : value
          },
        })
      }
    },
  })
}
