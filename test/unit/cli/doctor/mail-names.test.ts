import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { checkMailNames } from '../../../../src/cli/doctor/mail-names.ts'
import { readConfig } from '../../../../src/config.ts'
import { deadDns, ed25519Key, fakeDns, rsaKey } from '../../../support/signing.ts'

const folder = await mkdtemp(path.join(tmpdir(), 'signalpost-doctor-'))
afterAll(() => rm(folder, { recursive: true }))
const [key, otherKey] = [rsaKey(), ed25519Key()]
await writeFile(path.join(folder, 'dkim.pem'), key.privateKey)

const settings = {
  SMTP_URL: 'smtp://mail.example.org:587',
  MAIL_FROM: 'abuse@spam.example.org',
  RETURN_PATH_DOMAIN: 'bounces.example.org',
  DKIM_DOMAIN: 'example.org',
  DKIM_SELECTOR: 'sp',
  DKIM_KEY_FILE: path.join(folder, 'dkim.pem'),
  PUBLIC_URL: 'https://spam.example.org',
}

/** The records of a healthy installation. */
const healthy: Readonly<Record<string, readonly string[]>> = {
  'A mail.example.org': ['198.51.100.9'],
  'TXT bounces.example.org': ['v=spf1 ip4:198.51.100.9 -all'],
  'MX bounces.example.org': ['mx.example.org'],
  'A mx.example.org': ['198.51.100.10'],
  'TXT sp._domainkey.example.org': [key.record],
  'TXT _dmarc.example.org': ['v=DMARC1; p=reject'],
  'PTR 9.100.51.198.in-addr.arpa': ['mail.example.org'],
}

async function findingsOf(
  changes: Record<string, readonly string[] | undefined>,
  env: Record<string, string> = {},
  own: string[] = [],
) {
  const zone = Object.fromEntries(
    Object.entries({ ...healthy, ...changes }).flatMap(([name, records]) =>
      records ? [[name, records] as const] : [],
    ),
  )
  const config = readConfig({ ...settings, ...env }, { cores: 1, cwd: '/' })
  return checkMailNames({ config, resolve: fakeDns(zone).resolve }, own)
}

test('a healthy installation has no finding but good ones', async () => {
  const findings = await findingsOf({})
  expect(findings.map(({ level, says }) => [level, says])).toEqual([
    ['ok', 'SPF of bounces.example.org allows 198.51.100.9.'],
    ['ok', 'The DKIM record sp._domainkey.example.org has our key.'],
    ['ok', 'spam.example.org has a DMARC policy.'],
    ['ok', 'bounces.example.org receives mail at mx.example.org.'],
    ['ok', '198.51.100.9 is mail.example.org.'],
  ])
})

const broken: [string, Record<string, readonly string[] | undefined>, string, string][] = [
  [
    'no SPF record',
    { 'TXT bounces.example.org': ['unrelated'] },
    'bounces.example.org has no SPF record.',
    'Publish: bounces.example.org. IN TXT "v=spf1 ip4:198.51.100.9 -all"',
  ],
  [
    'SPF for another address',
    { 'TXT bounces.example.org': ['v=spf1 ip4:203.0.113.1 -all'] },
    'SPF of bounces.example.org does not allow 198.51.100.9.',
    'ip4:198.51.100.9',
  ],
  [
    'no DKIM record',
    { 'TXT sp._domainkey.example.org': undefined },
    'The DKIM record sp._domainkey.example.org does not exist.',
    'sp._domainkey.example.org. IN TXT "v=DKIM1; k=rsa; p=',
  ],
  [
    'the DKIM record of another key',
    { 'TXT sp._domainkey.example.org': [otherKey.record] },
    'The DKIM record sp._domainkey.example.org has another key.',
    'Publish: ',
  ],
  [
    'no DMARC policy',
    { 'TXT _dmarc.example.org': undefined },
    'spam.example.org has no DMARC policy, so large providers may refuse our mail.',
    '_dmarc.spam.example.org. IN TXT "v=DMARC1; p=none; rua=mailto:abuse@spam.example.org"',
  ],
  [
    'no MX record',
    { 'MX bounces.example.org': undefined },
    'bounces.example.org has no MX record, so no bounces or answers arrive.',
    'bounces.example.org. IN MX 10 spam.example.org.',
  ],
  [
    'an MX record that leads nowhere',
    { 'A mx.example.org': undefined },
    'The mail server mx.example.org of bounces.example.org has no address.',
    'Publish an A or AAAA record',
  ],
  [
    'no reverse name',
    { 'PTR 9.100.51.198.in-addr.arpa': undefined },
    '198.51.100.9 has no reverse name.',
    'set its reverse name',
  ],
  [
    'a reverse name of somebody else',
    { 'PTR 9.100.51.198.in-addr.arpa': ['mx.example.org'] },
    'The reverse name mx.example.org does not lead back to 198.51.100.9.',
    'set its reverse name',
  ],
]

test.for(broken)('%s is the only problem', async ([, changes, says, todo]) => {
  const problems = (await findingsOf(changes)).filter(({ level }) => level !== 'ok')
  expect(problems).toMatchObject([{ level: 'problem', says }])
  expect(problems[0]).toHaveProperty('todo', expect.stringContaining(todo))
})

test('a domain for bounces that is not the author’s needs a signature of the author', async () => {
  const env = { MAIL_FROM: 'abuse@example.net' }
  const findings = await findingsOf({ 'TXT _dmarc.example.net': ['v=DMARC1; p=none'] }, env)
  expect(findings).toContainEqual({
    level: 'problem',
    says: 'Our mail fails DMARC for example.net.',
    todo: 'Set RETURN_PATH_DOMAIN or DKIM_DOMAIN to a domain below example.net.',
  })
})

test('behind a local mail server, mail leaves from the addresses of this machine', async () => {
  const zone = { 'PTR 9.100.51.198.in-addr.arpa': undefined }
  const env = { SMTP_URL: 'smtp://127.0.0.1' }
  expect(await findingsOf(zone, env, ['10.0.0.1', '198.51.100.9'])).toContainEqual(
    expect.objectContaining({ level: 'problem', says: '198.51.100.9 has no reverse name.' }),
  )
  const unknown = await findingsOf(zone, env, ['10.0.0.1'])
  expect(unknown.filter(({ level }) => level !== 'ok')).toMatchObject([{ level: 'unknown' }])
})

test('name servers that do not answer, or are switched off, make all of it unknown', async () => {
  const config = readConfig(settings, { cores: 1, cwd: '/' })
  const silent = await checkMailNames({ config, resolve: deadDns }, [])
  expect(new Set(silent.map(({ level }) => level))).toEqual(new Set(['unknown']))
  expect(await checkMailNames({ config, resolve: undefined }, [])).toMatchObject([
    { level: 'unknown', todo: expect.stringContaining('DNS_SERVERS') },
  ])
})
