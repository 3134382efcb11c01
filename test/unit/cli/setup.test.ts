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
  expect(said).toContain(`SIGNALPOST_SETTINGS=${file('signalpost.env')}`)
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
    SENDING_ADDRESSES: '198.51.100.9 2001:db8::9',
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
  expect(problems).toEqual([
    '198.51.100.9 has no reverse name.',
    '2001:db8::9 has no reverse name.',
  ])
})

const all = ['signalpost.env', 'dkim.pem', 'dns-records.txt']

test('a second run keeps the first answers, the DKIM key and the DNS records', async () => {
  await answer(...answers)
  const before = await Promise.all(all.map(read))
  const said = await answer(...answers.map(() => ''))
  expect(await Promise.all(all.map(read))).toEqual(before)
  expect(before[2]).toContain('"v=spf1 ip4:198.51.100.9 ip6:2001:db8::9 -all"')
  expect(said).toContain('[smtp://u:***@198.51.100.9:587]; "-" removes it')
})

test('optional answers can be removed; without addresses SPF refuses no server', async () => {
  await answer(...answers)
  const said = await answer('', '-', '', '', '', '-', 'none', '', '', '-')
  const settings = parseEnv(await read('signalpost.env'))
  expect(settings).toMatchObject({ OPERATOR_CONTACT: 'https://example.org/contact' })
  for (const name of ['OPERATOR_NAME', 'SMTP_URL', 'SENDING_ADDRESSES', 'ALARM_MAIL']) {
    expect(settings).not.toHaveProperty(name)
  }
  expect(await read('dns-records.txt')).toContain('"v=spf1 mx ?all"')
  expect(said).toContain('The SPF record is incomplete')
})

test('settings that do not exist and relative paths are named; DKIM settings stay', async () => {
  const kept = ['SMTP_ULR=smtp://mail.example', 'BACKUP_DIR=backups', 'TZ=Europe/Paris']
  const dkim = [
    'DKIM_DOMAIN=mail.example.net',
    'DKIM_SELECTOR=s1',
    `DKIM_KEY_FILE=${file('k.pem')}`,
  ]
  await writeFile(file('signalpost.env'), [...kept, ...dkim, ''].join('\n'))
  const said = await answer(...answers)
  expect(said).toContain(
    'There is no setting SMTP_ULR, so it has no effect. Did you mean SMTP_URL?',
  )
  expect(said).toContain('such as BACKUP_DIR=/var/lib/signalpost/backups.')
  expect(said).not.toContain('no setting TZ')
  const text = await read('signalpost.env')
  for (const line of [...kept, ...dkim]) expect(text).toContain(line)
  expect(await read('dns-records.txt')).toContain('s1._domainkey.mail.example.net. ')
})

test('a wrong answer is asked again; answers that end early write nothing', async () => {
  const said = answer('http://spam.example.org', 'https://spam.example.org', '', '', 'nobody')
  await expect(said).rejects.toThrow('The answers ended early. Nothing was written.')
  await expect(read('signalpost.env')).rejects.toThrow('ENOENT')
  const talk = await answer('http://x', answers[0] ?? '', '', '', 'nobody', ...answers.slice(3))
  expect(talk).toContain('This is not an https address.')
  expect(talk).toContain('This is not a valid email address.')
})

test('a folder that does not exist is refused before the questions', async () => {
  const input = Readable.from([])
  const asked = setup(file('missing'), { input, print: () => undefined })
  await expect(asked).rejects.toMatchObject({
    problems: [`The folder ${file('missing')} does not exist. Create it first.`],
  })
})
