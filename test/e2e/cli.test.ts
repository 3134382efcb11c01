import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { spamMessage } from '../support/messages.ts'
import { makeSite, type Site } from '../support/parts.ts'
import { type Outcome, runProgram, runSeveral, startCommand } from '../support/process.ts'
import { apiClient } from '../support/reporter.ts'
import { makePlace, type Place } from '../support/instance.ts'

let site: Site
let place: Place

beforeAll(async () => {
  ;[site, place] = await Promise.all([makeSite(), makePlace()])
})

afterAll(async () => {
  await Promise.all([site.clear(), place.clear()])
})

/** None of these commands may reach the database, so no database listens at this address. */
const nowhere = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing' }

const misuses = [
  'start now',
  'web now',
  'work --queues analyze-report,nonsense',
  'work --que',
  'work now',
  'receive --stdin',
  'receive --what',
  'receive now',
  'migrate now',
  'account',
  'account remove --email a@b.example',
  'account add',
  'account add --email nonsense',
  'account add --email a@b.example --password short',
  'account add --email a@b.example --what',
  'import',
  'import networks',
  'import networks a.csv b.csv',
  'contact',
  'contact nonsense',
  'contact 10.0.0.1',
  'contact 192.0.2.7',
  'contact 8.8.8.8 1.1.1.1',
  'contact https://www.paypal.com/signin',
  'queue',
  'queue list analyze-report extra',
  'queue purge',
  'queue purge nonsense',
  'queue demote',
  'queue demote dead-letter',
  'queue retry nonsense',
  'rules',
  'rules list all',
  'rules check',
  'rules check /nonexistent/rules.yaml',
  'rules show last',
  'rules diff a.yaml b.yaml',
  'rules dry-run a.yaml --last none',
  'rules check a.yaml --last 10',
  'rules apply',
  'rules rollback',
  'counters',
  'counters link',
  'counters ip nonsense',
  'counters file /nonexistent/file',
  'counters --hash nonsense',
  'counters subject two words',
  'blacklists now',
  'inspect',
  'inspect --what file.eml',
  'inspect --provider nonsense file.eml',
  'inspect --jsonl file.eml',
  'report',
  'report file.eml --to nonsense --token-file t',
]

let misused: Map<string, Outcome>
beforeAll(async () => {
  const outcomes = await runSeveral(
    misuses.map((line) => line.split(' ')),
    nowhere,
  )
  misused = new Map(outcomes.map((outcome, index) => [misuses[index] ?? '', outcome]))
})

test.for(misuses)('"%s" is a usage error: exit code 2, with the reason and the usage', (line) => {
  expectMisuse(line, misused.get(line))
})

test.for([
  'import networks /nonexistent/file.csv',
  'import planets planets.csv',
  'report - --to http://127.0.0.1:1',
  'report file.eml --to http://127.0.0.1:1',
])(
  '"%s" is a usage error that only its file, database or input reveals',
  { concurrent: true },
  async (line) => {
    const args = line.split(' ')
    expectMisuse(line, await runProgram(args, args[0] === 'import' ? site.env : nowhere))
  },
)

function expectMisuse(line: string, outcome: Outcome | undefined): void {
  expect(outcome).toMatchObject({ code: 2, stdout: '' })
  expect(outcome?.stderr).toContain('Usage: signalpost ' + (line.split(' ')[0] ?? ''))
  expect(outcome?.stderr).not.toMatch(/^\s+at /m)
}

test('a looked-up value cannot move the cursor of the terminal', async () => {
  const { stderr } = await runProgram(['counters', '\u001b[2Jkind', 'x'], nowhere)
  expect(stderr).toContain('Unknown kind “‹U+001B›[2Jkind”')
  expect(stderr).not.toContain('\u001b')
})

test('an error of a command masks a key', async () => {
  const { stderr } = await runProgram([`sp_${'x'.repeat(43)}`], nowhere)
  expect(stderr).toContain(`Unknown command "sp_${'*'.repeat(43)}"`)
})

test('a complaint to the journal of systemd is an error there, in each of its lines', async () => {
  const file = path.join(await mkdtemp(path.join(tmpdir(), 'signalpost-')), 'journal')
  const sets = 'JOURNAL_STREAM=$(stat -c %d:%i "$FILE") && export JOURNAL_STREAM'
  const line = `touch "$FILE" && ${sets} && "$NODE" src/main.ts web --x 2>"$FILE"`
  const env = { FILE: file, NODE: process.execPath, ...nowhere }
  const { code } = await startCommand(['sh', '-c', line], env).ended
  expect(code).toBe(2)
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n')
  expect(lines.length).toBeGreaterThan(1)
  expect(lines.filter((one) => !one.startsWith('<3>'))).toEqual([])
})

test('an unavailable database is reported with a sentence, without a stack trace', async () => {
  const env = { ...nowhere, DATABASE_URL: 'postgres://a:b@127.0.0.1:1/x', LOG_LEVEL: 'silent' }
  const { code, stderr } = await runProgram(['counters', 'shop.example'], env)
  expect(code).toBe(1)
  expect(stderr).toBe('signalpost counters: The database is not ready. Check that it is running.\n')
})

test('an unknown blacklist is reported at start, before anything is created', async () => {
  const { code, stderr } = await runProgram(['start'], { ...place.env, BLACKLISTS: 'nonsense' })
  expect(code).toBe(2)
  expect(stderr).toContain('BLACKLISTS: nonsense is neither a known list nor')
  expect(await readdir(place.dataDir)).toEqual([])
})

test('an unknown command is a usage error; help is not', async () => {
  const [unknown, proto, help] = await runSeveral([['nonsense'], ['toString'], ['help']], nowhere)
  expect(unknown).toMatchObject({ code: 2, stdout: '' })
  expect(unknown?.stderr).toContain('nonsense')
  expect(proto?.code).toBe(2)
  expect(help).toMatchObject({ code: 0, stderr: '' })
  for (const name of ['start', 'web', 'work', 'count', 'receive', 'account', 'inspect', 'report']) {
    expect(help?.stdout).toContain(`  ${name}`)
  }
})

test('all errors in the settings are reported at once, with exit code 2', async () => {
  const wrong = {
    DATABASE_URL: 'mysql://x',
    HTTP_PORT: '99999',
    PUBLIC_URL: 'nonsense',
    SMTP_URL: 'http://x',
    MAIL_FROM: 'nonsense',
    RETURN_PATH_DOMAIN: 'a b',
    SECRET: 'hunter2',
    RECEIVE_PORT: 'x',
    RECEIVE_PROTOCOL: 'uucp',
    FORWARD_TO: 'everybody',
    WORKERS: '0',
    LOG_LEVEL: 'loud',
  }
  const { code, stderr } = await runProgram(['start'], wrong)
  expect(code).toBe(2)
  for (const name of Object.keys(wrong)) expect(stderr).toContain(name)
  expect(stderr).not.toContain('hunter2')
})

test('a part without a database is a usage error', async () => {
  const outcomes = await runSeveral([['web'], ['work'], ['count'], ['receive']], {})
  expect(outcomes).toHaveLength(4)
  for (const { code, stderr } of outcomes) {
    expect(code).toBe(2)
    expect(stderr).toContain('DATABASE_URL')
  }
})

test('account add prints one line of JSON with an id and a token that works', async () => {
  const add = (more: readonly string[], input?: string) =>
    runProgram(['account', 'add', '--email', 'Bea@Reporters.example', ...more], site.env, input)
  const first = await add(['--token'])
  expect(first).toMatchObject({ code: 0 })
  expect(first.stdout).toMatch(/^\{.*\}\n$/)
  const made = JSON.parse(first.stdout) as { id: string; token: string }
  expect(made).toMatchObject({ email: 'bea@reporters.example', role: null })
  const changed = await add(['--password', '--role', 'administrator'], 'long enough\n')
  const again = JSON.parse(changed.stdout) as object
  expect(again).toEqual({ id: made.id, email: 'bea@reporters.example', role: 'administrator' })

  await site.start('web')
  const client = apiClient(site.url, `Bearer ${made.token}`)
  const file = path.join(place.dataDir, 'one.eml')
  await writeFile(file, spamMessage('by-command'))
  const args = ['report', file, '--to', site.url]
  const reported = await runProgram(args, {}, made.token)
  expect(reported).toMatchObject({ code: 0, stderr: '' })
  const id = reported.stdout.trim().split(' ').at(-1) ?? ''
  expect(await client.raw(id)).toEqual(await readFile(file))
  const tokenFile = path.join(place.dataDir, 'token')
  await writeFile(tokenFile, `${made.token}\n`)
  const piped = ['report', '-', '--to', site.url, '--token-file', tokenFile]
  const repeated = await runProgram(piped, {}, spamMessage('by-command'))
  expect(repeated.stdout).toContain(`reported before as ${id}`)
  const refused = await runProgram(args, {}, 'sp_wrong')
  expect(refused).toMatchObject({ code: 1, stdout: '' })
})

test('inspect needs no database and no settings, and --jsonl continues after errors', async () => {
  const file = path.join(place.dataDir, 'two.eml')
  await writeFile(file, spamMessage('inspected'))
  const names = [file, '/nonexistent.eml', place.dataDir, '', file]
  const { code, stdout } = await runProgram(['inspect', '--jsonl'], {}, names.join('\n') + '\n')
  expect(code).toBe(0)
  const lines = stdout.trimEnd().split('\n')
  const results = lines.map((line) => JSON.parse(line) as { file: string; error?: string })
  expect(results.map((result) => result.file)).toEqual(names)
  expect(results.map(({ error }) => error !== undefined)).toEqual([false, true, true, true, false])
  const single = await runProgram(['inspect', file], { HTTP_PORT: 'none' })
  expect(single.code).toBe(0)
  expect(JSON.parse(single.stdout)).toMatchObject({ file, origin: { ip: '198.51.100.23' } })
})

test('a command whose reader has ended says nothing', async () => {
  const script = '"$0" src/main.ts "$@" | true; echo "${PIPESTATUS[0]}"'
  const unread = (...args: string[]) =>
    promisify(execFile)('bash', ['-c', script, process.execPath, ...args])
  expect(await unread('help')).toEqual({ stdout: '0\n', stderr: '' })
  const file = path.join(place.dataDir, 'unread.eml')
  await writeFile(file, spamMessage('unread'))
  expect(await unread('inspect', file)).toEqual({ stdout: '141\n', stderr: '' })
})

test('queue list, purge and migrate work', async () => {
  const lines = ['queue list', 'queue purge analyze-report', 'queue list', 'migrate']
  const outcomes = await runSeveral(
    lines.map((line) => line.split(' ')),
    site.env,
  )
  const [list, purged, listed, migrated] = outcomes
  expect(list).toMatchObject({ code: 0, stderr: '' })
  expect(list?.stdout).toMatch(/^queue +ready +later +oldest +state$/m)
  expect(list?.stdout).toMatch(/^analyze-report +1 +0 +\d+ s +runs$/m)
  expect(purged).toMatchObject({ code: 0 })
  expect(listed?.stdout).toMatch(/^analyze-report +0 +0 +0 s +runs$/m)
  expect(migrated).toMatchObject({ code: 0, stdout: 'The database is up to date.\n' })
})

test('counters prints the counts, and its exit code says whether there are any', async () => {
  const known = await runProgram(['counters', '--json', 'hxxp://shop[.]example/a'], site.env)
  expect(known).toMatchObject({ code: 1, stderr: '' })
  expect(JSON.parse(known.stdout)).toMatchObject({
    question: { kind: 'link', isGuessed: true },
    told: null,
  })
})
