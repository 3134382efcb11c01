import { Readable } from 'node:stream'
import { writeFile } from 'node:fs/promises'
import { createHash } from 'node:crypto'
import path from 'node:path'
import { expect, test } from 'vitest'
import { readCounters, printCounters } from '../../../src/cli/counters.ts'
import type { Known } from '../../../src/counting/look-up.ts'
import { closeAfterTests, makeTestFolder } from '../../support/after-tests.ts'
import { countWritten, type CountedWritten } from '../../support/counted-messages.ts'
import { rollUpAll } from '../../support/counter-rows.ts'
import { freshDatabase } from '../../support/database.ts'

const now = new Date('2026-11-20T12:34:56Z')
const HOUR_MS = 3_600_000
const offer = { from: 'Offers <offers@shop.example>', text: 'At https://pay.shop.example/a' }
const folder = await makeTestFolder()
const database = await closeAfterTests(freshDatabase(now))
const message = (hours: number): CountedWritten => ({
  written: offer,
  prefix: 'reports',
  amounts: { complaint: 1, spam: 1 },
  at: new Date(now.getTime() - hours * HOUR_MS),
  reporterId: '0190a5b4-0000-7000-8000-000000000001',
})
await countWritten(database.pool, [0, 0, 3, 30].map(message), now)
await rollUpAll(database.pool, now)

const reading = (args: readonly string[], stdin = '') =>
  readCounters(args, { stdin: Readable.from([Buffer.from(stdin)]) })

/** Runs the command and returns its output and its exit status. */
async function run(args: readonly string[], env: Record<string, string> = { LANG: 'C.UTF-8' }) {
  let written = ''
  const stdout = { write: (text: string) => (written += text), columns: 80 }
  const app = { pool: database.pool, clock: () => now }
  const status = await printCounters(await reading(args), app, { stdout, env })
  return { status, lines: written.split('\n'), written }
}

test('a terminal gets the summary, a table of windows, rows of bars and all pieces', async () => {
  const { status, lines } = await run(['hxxps://pay[.]shop[.]example/a'])
  expect(status).toBe(0)
  expect(lines[0]).toBe('link (detected)  hxxps://pay[.]shop[.]example/a')
  expect(lines).toContain('link  pay.shop.example/a')
  expect(lines).toContain('  ten minutes              2           2           -           -')
  expect(lines).toContain('  two weeks                4           4           -           -')
  expect(lines.find((line) => /^ {2}complaints +▕/.test(line))).toMatch(/▕ {42}▄ {5}█▏$/)
  expect(lines.find((line) => line.startsWith('  20 Nov'))).toMatch(/█+ complaints 3, spam 3$/)
  expect(lines).toContain('           4           4           -  link-host  pay.shop.example')
})

test('no line is wider than the terminal', async () => {
  for (const value of [`https://${'long.'.repeat(30)}shop.example/a/${'b'.repeat(300)}`, 'a b c']) {
    const { lines } = await run(['--', value])
    expect(lines.filter(({ length }) => length > 80)).toEqual([])
  }
})

test.for([
  ['is asked for', ['--plain'], { LANG: 'C.UTF-8' }],
  ['is all the terminal can', [], { LANG: 'C' }],
  ['is all the terminal may, whatever its language', [], { LC_ALL: 'C', LANG: 'en_GB.UTF-8' }],
] as const)('the output is plain ASCII if it %s', async ([, options, env]) => {
  const { written } = await run(['domain', 'shop.example', ...options], env)
  expect(written).toMatch(/^[\x20-\x7e\n]+$/)
  expect(written).toMatch(/\|.*@\|/)
})

test('the output is plain ASCII even if the value is in another script', async () => {
  const { written } = await run(['subject', 'посылка 📦', '--plain'])
  expect(written).toMatch(/^[\x20-\x7e\n]+$/)
  expect(written).toContain('<U+043F><U+043E>')
})

test('an unknown value has exit status 1', async () => {
  const { status, written } = await run(['address', 'nobody@elsewhere.example'])
  expect(status).toBe(1)
  expect(written).toContain('There are no counts for this value in the last two weeks.')
})

test('JSON is the answer of the API; --series adds the series of all pieces', async () => {
  const { written } = await run(['--json', '--series', 'offers@shop.example'])
  const known = JSON.parse(written) as Known
  const drawn = known.pieces.filter(({ series }) => series).map(({ type }) => type)
  expect(drawn).toEqual(expect.arrayContaining(['author-address', 'author-organization']))
})

test('a value cannot move the cursor of the terminal', async () => {
  const { written } = await run(['subject', 'red \u001b[31m and \u202e turned'])
  expect(written).not.toMatch(/[\u001b\u202e]/)
})

test('a file is looked up by its path, from a pipe, or by its SHA-256', async () => {
  const file = path.join(folder, 'invoice.pdf')
  await writeFile(file, 'the bytes of a file')
  const value = createHash('sha256').update('the bytes of a file').digest('hex')
  const given = { kind: 'file', value }
  expect((await reading(['file', file])).given).toEqual(given)
  expect((await reading(['file', '-'], 'the bytes of a file')).given).toEqual(given)
  expect((await reading(['file', value])).given).toEqual(given)
  await expect(reading(['file', path.join(folder, 'none')])).rejects.toThrow(
    /Cannot read .*none: ENOENT/,
  )
})

test('a long text comes from a pipe', async () => {
  const { given } = await reading(['text', '-'], 'One two three.\n\nFour five six.')
  expect(given).toEqual({ kind: 'text', value: 'One two three.\n\nFour five six.' })
})

test.for([
  [[], /^Enter a value to look up/],
  [['link'], /^The value is missing\. Use "counters link VALUE"\.$/],
  [['links', 'x'], /^Unknown kind “links”/],
  [['subject', 'two', 'words'], /^Enclose a value of several words in quotes\.$/],
  [['--type', 'link-host', 'a', 'b'], /^Enclose a value/],
  [['--hash', 'xyz'], /^A hash must have 16 hexadecimal digits\.$/],
  [['ip', 'shop'], /^This is not a value of the kind “ip”/],
] as const)('misuse is reported: %j', async ([args, words]) => {
  await expect(reading(args)).rejects.toThrow(words)
  await expect(reading(args)).rejects.toMatchObject({ name: 'UsageError' })
})
