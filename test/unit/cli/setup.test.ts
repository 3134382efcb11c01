import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { parseEnv } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { checkMailNames } from '../../../src/cli/doctor/mail-names.ts'
import { setup } from '../../../src/cli/setup.ts'
import { readConfig } from '../../../src/config.ts'
import { fakeDns } from '../../support/signing.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'signalpost-setup-'))
})
afterEach(() => rm(folder, { recursive: true }))

const file = (name: string) => path.join(folder, name)
const read = (name: string) => readFile(file(name), 'utf8')

async function answer(...lines: string[]): Promise<string> {
  let said = ''
  const input = Readable.from(lines.map((line) => `${line}\n`))
  await setup(folder, { input, print: (text) => (said += `${text}\n`) })
  return said
}

const answers = [
  ...['https://spam.example.org', "Ann's Network", 'https://example.org/contact'],
  ...['abuse@example.org', '', 'smtp://u:p@198.51.100.9:587', '198.51.100.9 2001:db8::9', '', ''],
  'ops@example.org',
]

test('the answers become settings that are valid, private, and keep the others', async () => {
  await writeFile(file('signalpost.env'), '# Ours\nDATA_DIR=/srv/signalpost\nSIGN_UP=closed\n')
  const said = await answer(...answers)
  expect(said).toContain('10/10 ')
  const text = await read('signalpost.env')
  expect(text).toMatch(/^# Ours\nDATA_DIR=\/srv\/signalpost\n/)
  const settings = parseEnv(text)
  expect(settings).toEqual({
    DATA_DIR: '/srv/signalpost',
    PUBLIC_URL: 'https://spam.example.org',
    OPERATOR_NAME: "Ann's Network",
    OPERATOR_CONTACT: 'https://example.org/contact',
    MAIL_FROM: 'abuse@example.org',
    RETURN_PATH_DOMAIN: 'bounces.example.org',
    SMTP_URL: 'smtp://u:p@198.51.100.9:587',
    SIGN_UP: 'closed',
    ALARM_MAIL: 'ops@example.org',
    DKIM_DOMAIN: 'example.org',
    DKIM_SELECTOR: 'signalpost',
    DKIM_KEY_FILE: file('dkim.pem'),
  })
  for (const name of ['signalpost.env', 'dkim.pem']) {
    expect((await stat(file(name))).mode & 0o007).toBe(0)
  }
})

test('the records to publish are those that doctor wants', async () => {
  await answer(...answers)
  const config = readConfig(parseEnv(await read('signalpost.env')) as Record<string, string>, {
    cores: 1,
    cwd: '/',
  })
  const zone = Object.fromEntries(
    (await read('dns-records.txt'))
      .trim()
      .split('\n')
      .map((line) => {
        const [, name = '', type = '', value = ''] = /^(\S+)\. IN (\S+) (.*)$/.exec(line) ?? []
        const text = value.replaceAll(/" "|"/g, '').replace(/^10 (\S+)\.$/, '$1')
        return [`${type} ${name}`, [text]]
      }),
  )
  const { resolve } = fakeDns({ ...zone, 'A spam.example.org': ['198.51.100.10'] })
  const findings = await checkMailNames({ config, resolve }, [])
  const problems = findings.filter(({ level }) => level !== 'ok').map(({ says }) => says)
  expect(problems).toEqual(['198.51.100.9 has no reverse name.'])
})

test('a second run proposes the first answers and keeps the DKIM key', async () => {
  await answer(...answers)
  const [settings, key] = [await read('signalpost.env'), await read('dkim.pem')]
  await answer(...answers.map(() => ''))
  expect(parseEnv(await read('signalpost.env'))).toEqual(parseEnv(settings))
  expect(await read('dkim.pem')).toBe(key)
})

test('a wrong answer is asked again; answers that end early write nothing', async () => {
  const said = answer('http://spam.example.org', 'https://spam.example.org', '', '', 'nobody')
  await expect(said).rejects.toThrow('The answers ended early. Nothing was written.')
  await expect(read('signalpost.env')).rejects.toThrow('ENOENT')
  const all = await answer('http://x', answers[0] ?? '', '', '', 'nobody', ...answers.slice(3))
  expect(all).toContain('This is not an https address.')
  expect(all).toContain('This is not a valid email address.')
})

test('a folder that does not exist is refused before the questions', async () => {
  const input = Readable.from([])
  const asked = setup(file('missing'), { input, print: () => undefined })
  await expect(asked).rejects.toMatchObject({
    problems: [`The folder ${file('missing')} does not exist. Create it first.`],
  })
})
