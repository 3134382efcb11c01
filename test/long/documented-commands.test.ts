import { spawn } from 'node:child_process'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, expect, test } from 'vitest'
import { codeBlocks, commandLines, readDocument, readDocuments } from '../support/documents.ts'
import { spamMessage } from '../support/messages.ts'
import { composeMmdb } from '../support/mmdb.ts'
import { labeledMessage } from '../support/models.ts'
import { makeSite } from '../support/parts.ts'
import { runProgram } from '../support/process.ts'

const password = 'a password of the documents'
const tokens = { reporter: '', admin: '' }

/** The pages whose commands run here, in order, each in the folder where the previous one ended. */
const pages = [
  ...['docs/api.md', 'docs/operators/commands.md', 'docs/operators/accounts.md'],
  ...['docs/operators/networks.md', 'docs/operators/counters.md', 'docs/operators/verdicts.md'],
  ...['docs/operators/rules.md', 'docs/operators/models.md', 'docs/operators/feedback.md'],
  ...['docs/operators/marketers.md', 'docs/operators/limits.md'],
  ...['docs/operators/outgoing.md', 'docs/operators/statistics.md'],
  ...['docs/operators/simulations.md', 'docs/operators/secret.md'],
  ...['docs/operators/backup.md', 'docs/operators/queues.md', 'docs/operators/health.md'],
  'docs/operators/sources.md',
]

/**
 * Commands that this test does not run, by their beginning, with the reason or the test that runs
 * them.
 */
const elsewhere = [
  'npm ci', // run by .ci/run
  'npm run demo', // starts its own instance
  'git pull',
  'cp .env.example',
  'npm start', // run by test/e2e/start.test.ts
  'PGPASSWORD=', // needs pg_dump and the embedded PostgreSQL
  'npm run --silent signalpost -- backup', // run by test/long/restore.test.ts
  'age-keygen',
  'CHECK_PORT=', // run by test/system/rspamc.test.ts
  'rspamc ',
  'rbldnsd ', // run by test/system/lists.test.ts
  'curl --fail --header "Authorization', // a feed: test/db/web/page-feeds.test.ts asks for it
  'npm run bench',
  'npx node scripts/quality.ts', // needs a labeled collection
  'npx node src/main.ts train --from-reports', // run by test/db/cli/training-rows.test.ts
]

const site = await makeSite()
const folder = await mkdtemp(path.join(tmpdir(), 'signalpost-documents-'))
const made = ['account', 'add', '--email', 'ann@example.com', '--token', '--password']
tokens.reporter = tokenIn(await runProgram(made, site.env, `${password}\n`))
const admin = ['account', 'add', '--email', 'admin@example.com', '--role', 'administrator']
tokens.admin = tokenIn(
  await runProgram([...admin, '--token', '--token-role', 'operator'], site.env),
)
await writeFiles()
await site.start('web')

afterAll(async () => {
  await site.clear()
  await rm(folder, { recursive: true, force: true })
})

test.for(pages)('the commands of %s run unchanged', async (page) => {
  for (const line of runnable(page)) {
    const { code, output } = await run(line, page)
    // A look-up exits with 1 if nothing is known, and this instance has not analyzed any report.
    const codes = / (counters|reputation) /.test(line) ? [0, 1] : [0]
    expect({ line, output, code: codes.includes(code ?? -1) ? 0 : code }).toEqual({
      line,
      output,
      code: 0,
    })
  }
})

test('the rule shown on the page about rules is accepted', async () => {
  const [rule = ''] = blocks('docs/operators/rules.md', 'yaml')
  await writeFile(path.join(folder, 'shown.yaml'), rule)
  const checked = await run('npm run --silent signalpost -- rules check shown.yaml', '')
  expect(checked).toMatchObject({ code: 0 })
})

test('every command of the documents runs here, or is listed as one that does not', () => {
  const forgotten = readDocuments()
    .filter((document) => !pages.includes(document.path))
    .flatMap(commandLines)
    .filter((line) => !isElsewhere(line))
  expect(forgotten).toEqual([])
  expect(pages.flatMap(runnable).length).toBeGreaterThan(40)
})

function runnable(page: string): string[] {
  return commandLines(readDocument(page)).filter((line) => !isElsewhere(line))
}

function isElsewhere(line: string): boolean {
  return elsewhere.some((beginning) => line.startsWith(beginning))
}

function blocks(page: string, wanted: string): string[] {
  return codeBlocks(readDocument(page))
    .filter(({ language }) => language === wanted)
    .map(({ text }) => text)
}

function tokenIn({ stdout }: { stdout: string }): string {
  return (JSON.parse(stdout) as { token: string }).token
}

/**
 * Writes the files that the commands read. Its `npm` and `npx` run the program of this checkout.
 */
async function writeFiles(): Promise<void> {
  const main = path.join(import.meta.dirname, '../../src/main.ts')
  const program = `exec '${process.execPath}' '${main}' "$@"`
  const mmdb = composeMmdb([['192.0.2.0/24', { autonomous_system_number: 64496 }]], {
    metadata: { database_type: 'GeoLite2-ASN' },
  })
  const registry = [
    '2|ripencc|20261101|1|19830705|20261101|+0100',
    'ripencc|FR|ipv4|192.0.2.0|256|20200101|allocated\n',
  ].join('\n')
  const files: Record<string, string | Buffer> = {
    'bin/npm': `#!/bin/sh\nshift 4\n${program}\n`,
    'bin/npx': `#!/bin/sh\nshift 2\n${program}\n`,
    token: tokens.reporter,
    'message.eml': spamMessage('documents'),
    'second.eml': spamMessage('second'),
    'invoice.pdf': 'an invoice',
    'hosts.txt': 'bad.example\n',
    'passage.txt': 'A passage of a message that is long enough to be counted as a text of its own.',
    'ip2asn-combined.tsv.gz': gzipSync('192.0.2.0\t192.0.2.255\t64496\tFR\tEXAMPLE\n'),
    'delegated-ripencc-extended-latest': registry,
    'GeoLite2-ASN.mmdb': mmdb,
    'abuse-desks.csv':
      blocks('docs/operators/networks.md', '').find((text) => text.startsWith('cidr')) ?? '',
    'marketers.yaml': blocks('docs/operators/marketers.md', 'yaml')[0] ?? '',
  }
  for (const [name, kind] of [
    ...([
      ['spam', 'phishing'],
      ['phishing', 'phishing'],
    ] as const),
    ...([
      ['inbox', 'ham'],
      ['letters', 'ham'],
    ] as const),
  ]) {
    const first = name === 'spam' || name === 'inbox' ? 1 : 101
    for (let number = first; number < first + 100; number++) {
      files[`mail/${name}/${number}.eml`] = labeledMessage(kind, number)
    }
  }
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(folder, name)
    await mkdir(path.dirname(file), { recursive: true })
    await writeFile(file, content)
    if (name.startsWith('bin/')) await chmod(file, 0o755)
  }
}

/** Runs a line in a shell, with the address, tokens and password of the instance. */
function run(line: string, page: string): Promise<{ code: number | null; output: string }> {
  const token = /counters|outgoing/.test(page) ? tokens.admin : tokens.reporter
  const command = line
    .replaceAll('http://localhost:8080', site.url)
    .replaceAll('sp_…', token)
    .replaceAll(':PASSWORD', `:'${password}'`)
    .replace(/^curl /, 'curl --silent --show-error --fail ')
  const env = {
    ...{ PATH: `${path.join(folder, 'bin')}:${process.env['PATH'] ?? ''}`, DATA_DIR: folder },
    ...{ NODE_NO_WARNINGS: '1', DNS_SERVERS: 'none', MESSAGE_AGE_MAX: '0', ...site.env },
  }
  const child = spawn('sh', ['-c', command], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => (output += String(chunk)))
  }
  return new Promise((resolve) => {
    child.once('close', (code) => resolve({ code, output: output.slice(0, 4_000) }))
  })
}
