import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { follow } from '../../src/db/follow.ts'
import type { Db } from '../../src/db/pool.ts'
import { freshDatabase, type TestDatabase } from '../support/database.ts'
import { until } from '../support/process.ts'

let database: TestDatabase

beforeAll(async () => {
  database = await freshDatabase()
})

afterAll(() => database.close())

test('one statement reads all settings, and a change is soon loaded', { retry: 2 }, async () => {
  let statements = 0
  const query = (...given: Parameters<Db['query']>) => {
    statements++
    return database.pool.query(...given)
  }
  const db = { query } as unknown as Db
  const loaded: string[] = []
  const loadsAs = (name: string) => ({
    load: (version: number | undefined) => Promise.resolve(void loaded.push(`${name} ${version}`)),
    onFailure: (error: unknown) => void loaded.push(String(error)),
  })
  const following = await Promise.all([
    follow(db, 'rules', loadsAs('rules')),
    follow(db, 'model', loadsAs('model')),
    follow(db, 'marketers', loadsAs('marketers')),
  ])
  expect(loaded.toSorted()).toEqual(['marketers 0', 'model undefined', 'rules 0'])

  statements = 0
  await wait(2_500)
  expect(statements).toBeGreaterThanOrEqual(2)
  expect(statements).toBeLessThanOrEqual(4)

  const changedAt = performance.now()
  await database.pool.query('update marketer_registry set version = version + 1')
  await until('the new version', () => loaded.includes('marketers 1') || undefined)
  expect(performance.now() - changedAt).toBeLessThan(2_000)
  expect(loaded).toHaveLength(4)
  await Promise.all(following.map(({ close }) => close()))
})
