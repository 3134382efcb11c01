import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, inject, test } from 'vitest'
import { expectedMigrations, missingMigrations } from '../../src/db/installation.ts'
import { findReport } from '../../src/db/reports.ts'
import { describeReport } from '../../src/web/api/reports.ts'
import { restore } from '../../src/processes/restore.ts'
import { freshDatabase } from '../support/database.ts'

const releases = path.join(import.meta.dirname, '..', 'fixtures', 'releases')
const migrations = path.join(import.meta.dirname, '..', '..', 'migrations')
const versions = readdirSync(releases).flatMap((name) => /^(.*)\.backup$/.exec(name)?.[1] ?? [])

test.for(versions)('a database of the release %s can be upgraded', async (version) => {
  const target = await freshDatabase()
  try {
    const file = path.join(releases, `${version}.backup`)
    const asked = { file, to: target.url, identity: undefined, backend: inject('backend') }
    await restore(asked, new Date())
    expect(await missingMigrations(target.pool, await expectedMigrations())).toEqual([])
    const { rows } = await target.pool.query<{ id: string }>('select id from reports')
    expect(rows).toHaveLength(200)
    for (const { id } of rows) {
      const report = await findReport(target.pool, id)
      const described = report && (await describeReport(target.pool, report))
      expect(described).toMatchObject({ id, verdict: { class: expect.any(String) as unknown } })
    }
  } finally {
    await target.close()
  }
})

test.for(versions)('the migrations of the release %s have not changed', async (version) => {
  const text = await readFile(path.join(releases, `${version}.json`), 'utf8')
  for (const [name, sum] of Object.entries(JSON.parse(text) as Record<string, string>)) {
    const now = await readFile(path.join(migrations, `${name}.sql`))
    expect([name, createHash('sha256').update(now).digest('hex')]).toEqual([name, sum])
  }
})
