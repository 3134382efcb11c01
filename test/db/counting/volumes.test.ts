import { expect, test } from 'vitest'
import { createCounterReader } from '../../../src/counting/reader.ts'
import { createReputationReader, showReputation } from '../../../src/counting/reputation-reader.ts'
import type { Db } from '../../../src/db/pool.ts'
import { inEnglish } from '../../../src/texts/phrases.ts'
import type { Subject } from '../../../src/verdict/reputation/subject.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { countWritten } from '../../support/counted-messages.ts'
import { rollUpAll } from '../../support/counter-rows.ts'
import { freshDatabase } from '../../support/database.ts'
import {
  append,
  daysLater,
  foldAll,
  reportedBy,
  standing,
  start,
  vouchedReporters,
} from '../../support/evidence.ts'

const { pool } = await closeAfterTests(freshDatabase(start))

/** The origin of the messages of `countWritten`, and an address of which no mail was counted. */
const relay: Subject = { kind: 'address', name: '192.0.2.7' }
const line: Subject = { kind: 'address', name: '192.0.2.99' }

async function complain(people: number, subject: Subject) {
  const reporters = await vouchedReporters(pool, people)
  await append(pool, await reportedBy(pool, reporters, { subjects: [subject] }))
  await foldAll(pool)
}

async function reasonsOf(subject: Subject): Promise<string> {
  return (await showReputation(pool, subject, start)).why.map(inEnglish).join(' ')
}

test('few complaints about a relay of much other mail leave its reputation clean', async () => {
  const messages = Array.from({ length: 30 }, (_, author) => ({
    prefix: 'checks' as const,
    amounts: { ham: 20 },
    at: daysLater(-3),
    written: {
      from: `members@club${author}.example`,
      fields: [`List-Id: <list${author % 3}.shop.example>`],
    },
  }))
  await countWritten(pool, messages, start)
  await rollUpAll(pool, start)
  await complain(3, relay)
  await complain(3, line)
  expect((await standing(pool, relay)).score).toBeCloseTo(0)
  expect((await standing(pool, line)).score).toBeCloseTo(-0.46, 2)
  await complain(6, relay)
  await complain(6, line)
  expect((await standing(pool, relay)).score).toBeGreaterThan(-0.2)
  expect((await standing(pool, relay)).flags).toEqual(['new'])
  expect((await standing(pool, line)).flags).toEqual(['listed', 'new'])
})

test('volumes are read by the same query as the counters of the message', async () => {
  const texts: string[] = []
  const query = (...args: Parameters<Db['query']>) => {
    texts.push(JSON.stringify(args[0]))
    return pool.query(...args)
  }
  const counted = { pool: { query } as unknown as typeof pool, clock: () => start }
  const counters = createCounterReader(counted, { keysMax: 100, freshMs: 1_000 })
  const reader = createReputationReader({ ...counted, counters })
  await Promise.all([counters.readWindows([1n, 2n]), reader.read([relay, line])])
  expect(texts.filter((text) => text.includes('from counters'))).toHaveLength(1)
  expect(texts).toHaveLength(3)
})

test('the explanation names the mail that was seen, the role and what counts', async () => {
  const reasons = await reasonsOf(relay)
  expect(reasons).toContain('In two weeks, 600 messages were seen without a complaint')
  expect(reasons).toContain('Role: list relay. It sent 3 mailing lists with mail of 30 domains.')
  expect(reasons).toContain('exceed the usual 1% of its mail')
  expect(await reasonsOf(line)).toContain('Role: unknown.')
})
