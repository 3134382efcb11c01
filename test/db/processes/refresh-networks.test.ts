import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from 'vitest'
import { readConfig } from '../../../src/config.ts'
import { listSources } from '../../../src/db/networks.ts'
import { createLogger } from '../../../src/log.ts'
import { importNetworks } from '../../../src/processes/import-networks.ts'
import { runRefreshNetworks } from '../../../src/processes/refresh-networks.ts'
import { closeAfterTests, makeTestFolder } from '../../support/after-tests.ts'
import { freshDatabase } from '../../support/database.ts'
import { ringOf } from '../../support/key-ring.ts'

const { pool } = await closeAfterTests(freshDatabase())
const dataDir = await makeTestFolder()
const own = path.join(dataDir, 'own')
await mkdir(own)
const log = await createLogger('silent', 'test')

const DAY_MS = 86_400_000
let now = new Date('2026-11-20T12:00:00Z')
const served = { status: 200, text: '', changedAt: now }
const server = createServer((_req, res) => {
  res.setHeader('last-modified', served.changedAt.toUTCString())
  res.writeHead(served.status).end(served.text)
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
await closeAfterTests(Promise.resolve({ close: async () => void server.close() }))
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/table?day=1`

const app = (tables: string) => {
  const env = { NETWORK_TABLES: tables, DATA_DIR: dataDir }
  return {
    pool,
    log,
    clock: () => now,
    config: { ...configOf(env), databaseUrl: '', secret: ringOf('') },
  }
}
const configOf = (env: Record<string, string>) => readConfig(env, { cores: 1, cwd: '/' })
const refresh = (tables = `web=${url}`) => runRefreshNetworks(app(tables))

/** A table of blocks of one address each, named after the day. */
function table(blocks: number, name = 'x'): string {
  const rows = Array.from({ length: blocks }, (_, at) => {
    return `198.18.${Math.floor(at / 128)}.${(at % 128) * 2}/32,64500,${name},FR,`
  })
  return ['cidr,asn,name,country,abuse', ...rows].join('\n')
}

async function stateOf(source = 'web') {
  const found = (await listSources(pool)).find((one) => one.source === source)
  return found && { blocks: found.blocks, at: found.importedAt }
}

test('a table is imported, and again only if it changed or is a week old', async () => {
  Object.assign(served, { text: table(200), changedAt: now })
  await refresh()
  expect(await stateOf()).toEqual({ blocks: 200, at: now })
  const first = now
  now = new Date(first.getTime() + DAY_MS)
  await refresh()
  expect(await stateOf()).toEqual({ blocks: 200, at: first })
  now = new Date(first.getTime() + 8 * DAY_MS)
  await refresh()
  expect(await stateOf()).toEqual({ blocks: 200, at: now })
})

test('the file and the previous one are kept, and the previous one can be imported', async () => {
  served.text = table(201, 'newer')
  await refresh()
  const folder = path.join(dataDir, 'networks')
  expect(await readdir(folder)).toEqual(['web', 'web.previous'])
  expect(await readFile(path.join(folder, 'web'), 'utf8')).toBe(table(201, 'newer'))
  await importNetworks(path.join(folder, 'web.previous'), app(''), { source: 'web' })
  expect(await stateOf()).toMatchObject({ blocks: 200 })
  // The source that was in use is not imported again until it changes.
  await refresh()
  expect(await stateOf()).toMatchObject({ blocks: 200 })
})

const refused: [string, Partial<typeof served>, string][] = [
  ['half as large', { text: table(99) }, 'The table has 99 blocks, and the one in use has 200.'],
  ['twice as large', { text: table(500) }, 'The table has 500 blocks'],
  ['a web page', { text: '<html>Moved</html>' }, 'The format of the file is unknown.'],
  ['cut off', { text: `${table(200)}\n198.18.9.` }, 'Line 202'],
  ['empty', { text: '' }, 'The file is empty.'],
  ['gone', { status: 404, text: table(202) }, 'The answer was HTTP 404.'],
  [
    'too old',
    { text: table(202), changedAt: new Date('2026-09-01T00:00:00Z') },
    'The table is of 2026-09-01, older than 60 days.',
  ],
]

test.for(refused)('a table that is %s changes nothing, and the reason is given', async (one) => {
  const [, changes, reason] = one
  const before = await stateOf()
  Object.assign(served, { status: 200, changedAt: now, ...changes })
  await expect(refresh()).rejects.toThrow(`web: ${reason}`)
  expect(await stateOf()).toEqual(before)
  expect(await readdir(path.join(dataDir, 'networks'))).toEqual(['web', 'web.previous'])
})

test('the newest file of a folder is imported, also if another table has a fault', async () => {
  served.status = 503
  for (const [name, days] of [
    ['old.csv', 3],
    ['new.csv', 1],
  ] as const) {
    const file = path.join(own, name)
    await writeFile(file, table(3, name))
    const at = new Date(now.getTime() - days * DAY_MS)
    await utimes(file, at, at)
  }
  await expect(refresh(`web=${url} own=${own}`)).rejects.toThrow('web: The answer was HTTP 503.')
  const { rows } = await pool.query(`select distinct name from networks where source = 'own'`)
  expect(rows).toEqual([{ name: 'new.csv' }])
})

test('a source that is neither https nor a path is refused when a process starts', () => {
  for (const tables of ['x=http://example.org/table', 'x=table.csv', 'https://example.org/x']) {
    expect(() => configOf({ NETWORK_TABLES: tables })).toThrow('NETWORK_TABLES is not like')
  }
})
