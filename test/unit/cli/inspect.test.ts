import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { afterAll, expect, test } from 'vitest'
import { inspect, type CommandIo } from '../../../src/cli/inspect.ts'
import { fakeDns } from '../../support/signing.ts'

const samples = path.join(import.meta.dirname, '../../../scripts/samples')
const newsletter = path.join(samples, 'newsletter.eml')
const folder = mkdtempSync(path.join(tmpdir(), 'inspect-'))

afterAll(() => {
  rmSync(folder, { recursive: true })
})

async function run(args: readonly string[], stdin: string | Buffer = '', dns?: CommandIo['dns']) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const texts = Promise.all([text(stdout), text(stderr)])
  const io = { stdin: Readable.from([Buffer.from(stdin)]), stdout, stderr, dns }
  const status = await inspect(args, io)
  stdout.end()
  stderr.end()
  const [out, err] = await texts
  return { status, out, err }
}

test('one file gives one object with every property of the contract, in order', async () => {
  const { status, out } = await run([newsletter])
  const found = JSON.parse(out) as Record<string, unknown>
  expect(status).toBe(0)
  expect(Object.keys(found)).toEqual([
    ...['file', 'bytes', 'sha256', 'kind', 'headers', 'hops', 'origin', 'origin_obstacle'],
    ...['submitter', 'authentication', 'listings', 'links', 'attachments', 'fingerprints'],
    ...['shingles', 'marketer', 'unsubscribe', 'bounce', 'feedback'],
  ])
  expect(found).toMatchObject({
    file: newsletter,
    headers: { message_id: '4711.20261106.reader@mailing.example.net' },
    unsubscribe: { one_click: true },
    origin: { ip: '192.0.2.112', hop: 1 },
  })
})

test('with --dns the DNS is queried; without it the results of look-ups are null', async () => {
  const { resolve, asked } = fakeDns({ 'TXT _dmarc.example.net': ['v=DMARC1; p=none'] })
  const dns = { resolve, listings: () => Promise.resolve([]) }
  const without = JSON.parse((await run([newsletter], '', dns)).out) as Record<string, unknown>
  expect(without).toMatchObject({ authentication: null, listings: null })
  expect(asked).toEqual([])
  const lines = await run(['--jsonl', '--dns'], `${newsletter}\n`, dns)
  const whole = await run(['--dns', newsletter], '', dns)
  for (const { status, out } of [lines, whole]) {
    expect(status).toBe(0)
    expect(JSON.parse(out)).toMatchObject({
      authentication: { spf: { result: 'none' }, dmarc: { result: 'fail', policy: 'none' } },
      listings: [],
    })
  }
})

test('with --pieces the output has the pieces of the message, else it does not', async () => {
  const found = async (...args: string[]) =>
    JSON.parse((await run([...args, newsletter])).out) as Record<string, unknown>
  expect(await found()).toMatchObject({ fingerprints: {}, shingles: null })
  const { fingerprints, shingles } = await found('--pieces')
  expect(shingles).toContainEqual({ type: 1, name: expect.any(String), hash: expect.any(String) })
  expect(fingerprints).toHaveProperty('words')
})

test('--dns without name servers is a usage error', async () => {
  expect((await run(['--dns', newsletter])).status).toBe(2)
})

test('--jsonl prints one line for each name, in order, and continues after errors', async () => {
  const names = [newsletter, path.join(folder, 'missing.eml'), folder, '', newsletter]
  const { status, out } = await run(['--jsonl', '--no-stamps'], `${names.join('\r\n')}\n`)
  const lines = out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(status).toBe(0)
  expect(lines.map(({ file }) => file)).toEqual(names)
  expect(lines.map((line) => 'error' in line)).toEqual([false, true, true, true, false])
})

test('more names than are read ahead stay in order', async () => {
  const names = Array.from({ length: 50 }, (_, index) => {
    const file = path.join(folder, `${index}.eml`)
    writeFileSync(file, `Subject: ${index}\nFrom: a@example.com\n\n`)
    return file
  })
  const { out } = await run(['--jsonl'], names.join('\n'))
  const lines = out
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { file: string }).file)
  expect(lines).toEqual(names)
})

test('--jsonl answers each name before the next one is written', async () => {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()]
  const running = inspect(['--jsonl'], { stdin, stdout, stderr: new PassThrough() })
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]()
  for (const name of [newsletter, path.join(folder, 'missing.eml'), newsletter]) {
    stdin.write(`${name}\n`)
    const { value } = await lines.next()
    expect(JSON.parse(value ?? '')).toMatchObject({ file: name })
  }
  stdin.end()
  expect(await running).toBe(0)
})

test('- means standard input', async () => {
  const { status, out } = await run(['-'], 'Subject: piped\nFrom: a@example.com\n\n')
  expect(status).toBe(0)
  expect(JSON.parse(out)).toMatchObject({ file: '-', headers: { subject: 'piped' } })
})

test('an unreadable file is reported, and the exit code is 1 after the others', async () => {
  const { status, out, err } = await run([path.join(folder, 'missing.eml'), newsletter])
  expect(status).toBe(1)
  expect(err).toContain('missing.eml')
  expect(JSON.parse(out)).toMatchObject({ file: newsletter })
})

test.for([
  ['no file', []],
  ['an unknown option', ['--what', newsletter]],
  ['a provider that is no CIDR', ['--provider', '192.0.2.0/24,nowhere', newsletter]],
  ['files beside --jsonl', ['--jsonl', newsletter]],
  ['a picture as a line of JSON', ['--jsonl', '--picture']],
] as const)('%s is a usage error: exit code 2, and the help', async ([, args]) => {
  const { status, out, err } = await run(args)
  expect(status).toBe(2)
  expect(out).toBe('')
  expect(err).toContain('Usage:')
})

test('--help prints the usage', async () => {
  const { status, out } = await run(['--help'])
  expect(status).toBe(0)
  expect(out).toContain('--provider')
})

test('--provider names trusted relays, separated by commas or repeated', async () => {
  const relay = 'Received: from a (a [198.51.100.1]) by mx.example.net; x\n'
  const others = [relay.replace('100.1', '100.2'), relay.replace('198.51.100.1', '203.0.113.5')]
  const message = `${relay}${others.join('')}From: a@example.com\n\n`
  const origin = async (...args: string[]) =>
    (JSON.parse((await run([...args, '-'], message)).out) as { origin: { ip: string } }).origin.ip
  expect(await origin()).toBe('198.51.100.1')
  expect(await origin('--provider', '198.51.100.1')).toBe('198.51.100.2')
  expect(await origin('--provider', '198.51.100.1,198.51.100.2/32')).toBe('203.0.113.5')
  expect(await origin('--provider', '198.51.100.1', '--provider', '198.51.100.2')).toBe(
    '203.0.113.5',
  )
})

const forged = path.join(samples, 'forged-chain-at-postfix.eml')

test('--picture draws the route, the origin, and where forgery becomes possible', async () => {
  const { status, out } = await run(['--picture', forged])
  expect(status).toBe(0)
  const marks = [
    /You won 950,000 euro/,
    /■ The mailbox/,
    /● imap1\.example\.net/,
    /● mx2\.example\.net \[10\.0\.5\.2\]/,
    /◆ 203\.0\.113\.88 {2}· THE ORIGIN/,
    /calls itself outlook\.example\.org/,
    /sure \(\d\d %\), because/,
    /nothing below this line can be verified/,
    /✗ relay3\.honest\.example\.com/,
    /✗ mail\.president\.example\.org \[192\.0\.2\.1\]/,
  ]
  const lines = out.split('\n')
  const places = marks.map((mark) => lines.findIndex((line) => mark.test(line)))
  expect(places).not.toContain(-1)
  expect(places).toEqual(places.toSorted((a, b) => a - b))
  expect(lines.filter((line) => line.length > 100)).toEqual([])
})

test('--picture is plain text outside a terminal, whatever the message contains', async () => {
  const wicked =
    'Received: from \x1b[2J\x1b]0;owned\x07.example ([198.51.100.1]) by mx.example.net; x\n'
  const { out } = await run(['--picture', '-'], `Subject: \x1b[31mred\u202e\n${wicked}\n`)
  expect(out).toContain('198.51.100.1')

  expect(out).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f\u202e]/)
})

test('--picture explains why there is no origin', async () => {
  const { out } = await run(['--picture', '-'], 'Subject: x\nFrom: a@example.com\n\n')
  expect(out).toMatch(/No origin: The message has no Received line/)
})

test('each message of a mailbox file is shown; --jsonl gives a line for each', async () => {
  const message = (mark: string) =>
    `From a@b.example Mon Nov 16 10:00:00 2026\nFrom: a@b.example\nSubject: ${mark}\n\nText\n\n`
  const box = path.join(folder, 'two.mbox')
  writeFileSync(box, message('one') + message('two'))
  const whole = await run([box])
  expect(whole.status).toBe(0)
  const found = JSON.parse(`[${whole.out.replaceAll('}\n{', '},{')}]`) as object[]
  expect(found).toMatchObject([
    { file: `${box} › 1`, headers: { subject: 'one' } },
    { file: `${box} › 2`, headers: { subject: 'two' } },
  ])
  const { out } = await run(['--jsonl'], `${box}\n${newsletter}\n`)
  const lines = out.trimEnd().split('\n')
  expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { file: box, message: 1, messages: 2, headers: { subject: 'one' } },
    { file: box, message: 2, messages: 2, headers: { subject: 'two' } },
    { file: newsletter },
  ])
  expect(JSON.parse(lines[2] ?? '')).not.toHaveProperty('messages')
})

test('a mailbox file with one message is that message; a damaged archive has none', async () => {
  const one = path.join(folder, 'one.mbox')
  writeFileSync(one, 'From a@b.example Mon Nov 16 10:00:00 2026\nSubject: one\n\nText\n')
  expect(JSON.parse((await run([one])).out)).toMatchObject({
    file: one,
    headers: { subject: 'one' },
  })
  const damaged = path.join(folder, 'damaged.zip')
  writeFileSync(damaged, 'PK\x03\x04 damaged')
  const { status, err } = await run([damaged])
  expect([status, err]).toEqual([1, `${damaged}: No message found: damaged-archive.\n`])
})

/** Returns the packages that a module imports statically, also through other modules. */
function packagesOf(file: string, seen = new Set<string>()): Set<string> {
  const packages = new Set<string>()
  if (seen.has(file)) return packages
  seen.add(file)
  const imports = readFileSync(file, 'utf8').matchAll(/^import\s(?!type\s)[^']*'([^']+)'/gm)
  for (const [, name = ''] of imports) {
    if (!name.startsWith('.')) packages.add(name)
    else for (const one of packagesOf(path.join(file, '..', name), seen)) packages.add(one)
  }
  return packages
}

test('the command loads no libraries that it does not need, so that it starts fast', () => {
  const source = path.join(import.meta.dirname, '../../../src')
  const needed = ['main.ts', 'cli/inspect.ts'].flatMap((file) => [
    ...packagesOf(path.join(source, file)),
  ])
  const packages = needed.filter((name) => !name.startsWith('node:'))
  const allowed = ['entities/decode', 'intl-messageformat', 'lru-cache', 'tldts']
  expect([...new Set(packages)].sort()).toEqual(allowed)
})
