import { expect, test } from 'vitest'
import { readConfig, variableNames } from '../../src/config.ts'
import { UsageError } from '../../src/errors.ts'

const machine = { cores: 4, cwd: '/srv/signalpost' }

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    readConfig(env, machine)
    return []
  } catch (error) {
    if (error instanceof UsageError) return error.problems
    throw error
  }
}

test('an empty environment gives a working configuration that sends nothing', () => {
  expect(readConfig({}, machine)).toEqual({
    alarms: {
      mailTo: [],
      smtpUrl: undefined,
      webhookUrl: undefined,
      file: undefined,
      command: undefined,
      heartbeatUrl: undefined,
      quietHours: undefined,
    },
    checkGreylistScore: undefined,
    checkHost: '127.0.0.1',
    checkPassword: undefined,
    checkPort: undefined,
    checkRejectScore: 15,
    milter: undefined,
    databaseUrl: undefined,
    databaseDirectUrl: undefined,
    databaseBackend: 'postgres',
    webhookNetworks: [],
    dataDir: '/srv/signalpost/var',
    backups: {
      folder: '/srv/signalpost/var/backups',
      isScheduled: false,
      recipient: undefined,
      keep: { days: 7, weeks: 4, months: 6 },
    },
    spool: { folder: '/srv/signalpost/var/spool', bytesMax: 4_000_000_000 },
    httpHost: '127.0.0.1',
    httpPort: 8080,
    isSecondStepRequired: false,
    oidc: undefined,
    publicUrl: 'http://localhost:8080',
    signUpIsOpen: true,
    sendingAddresses: [],
    smtpUrl: undefined,
    trustedProxies: [],
    mailFrom: 'feedback@signalpost.example',
    returnPathDomain: 'bounces.signalpost.example',
    secret: undefined,
    previousSecrets: [],
    receiveHost: '127.0.0.1',
    receivePort: 2525,
    receiveProtocol: 'smtp',
    receiveProxies: [],
    checkProxies: [],
    feedbackHourlyMax: 100,
    pageNoticesDailyMax: 300,
    forwardScope: undefined,
    forwardTo: 'any',
    needsFourEyes: false,
    originConfidenceMin: 0.7,
    messageAgeMax: 168,
    formWaitMs: 1_000,
    workers: 4,
    rdapBootstrapUrl: 'https://data.iana.org/rdap',
    networkTables: [],
    dnsServers: 'system',
    blacklists: [],
    listsDir: '/srv/signalpost/var/lists',
    listsZone: 'lists.signalpost.example',
    listsArePublic: false,
    pagesDelayHours: 4,
    securityContact: undefined,
    securityPolicy: undefined,
    logLevel: 'info',
    messageBytesMax: 25_000_000,
    retentionDays: 400,
    databaseConnections: 10,
  })
})

test('all errors are reported at once, each with its variable', () => {
  const problems = problemsOf({
    DATABASE_URL: 'mysql://db/signalpost',
    HTTP_PORT: '80800',
    SMTP_URL: 'http://mail.example',
    MAIL_FROM: 'nobody',
    SECRET: 'short',
    RECEIVE_PROTOCOL: 'pop3',
    FORWARD_TO: 'everybody',
    ORIGIN_CONFIDENCE_MIN: '70',
    WORKERS: '0',
    LOG_LEVEL: 'chatty',
  })
  const named = problems.map((problem) => problem.split(' ')[0])
  expect(named).toEqual([
    'DATABASE_URL',
    'HTTP_PORT',
    'SMTP_URL',
    'MAIL_FROM',
    'SECRET',
    'RECEIVE_PROTOCOL',
    'FORWARD_TO',
    'ORIGIN_CONFIDENCE_MIN',
    'WORKERS',
    'LOG_LEVEL',
  ])
  expect(problems.every((problem) => problem.endsWith('(see .env.example)'))).toBe(true)
})

test('the milter needs the port on which its metrics are', () => {
  expect(problemsOf({ CHECK_MILTER_PORT: '11401' })).toEqual([
    expect.stringMatching(/^CHECK_MILTER_PORT also needs CHECK_PORT/),
  ])
  const { milter } = readConfig({ CHECK_PORT: '11400', CHECK_MILTER_PORT: '11401' }, machine)
  const usual = { reject: 'reject', firstFilter: 'mark' }
  expect(milter).toEqual({ host: '127.0.0.1', port: 11_401, ...usual })
})

test('a front needs a key, has no database, and leads to its main installation', () => {
  const MAIN_URL = 'https://spam.example/'
  const FRONT_KEY = 'k'.repeat(32)
  const DATABASE_URL = 'postgres://db.example/signalpost'
  expect(problemsOf({ MAIN_URL })).toEqual(['MAIN_URL also needs FRONT_KEY (see .env.example)'])
  expect(problemsOf({ MAIN_URL, FRONT_KEY, DATABASE_URL })).toHaveLength(1)
  expect(readConfig({ MAIN_URL, FRONT_KEY }, machine)).toMatchObject({
    mainUrl: 'https://spam.example',
    publicUrl: 'https://spam.example',
  })
})

test('a provider needs its credentials and an account for emergencies', () => {
  const OIDC_ISSUER = 'https://login.example.org'
  const known = { OIDC_ISSUER, OIDC_CLIENT_ID: 'signalpost', OIDC_CLIENT_SECRET: 'secret' }
  expect(problemsOf({ OIDC_ISSUER })).toEqual([expect.stringContaining('OIDC_CLIENT_SECRET')])
  expect(problemsOf(known)).toEqual([expect.stringContaining('OIDC_LOCAL_ACCOUNTS')])
  const roles = { OIDC_ROLES: '/spam/admins = administrator, a=b=viewer' }
  const local = { OIDC_LOCAL_ACCOUNTS: 'Emergency@example.org' }
  expect(readConfig({ ...known, ...roles, ...local }, machine).oidc).toMatchObject({
    name: 'login.example.org',
    roles: new Map([
      ['/spam/admins', 'administrator'],
      ['a=b', 'viewer'],
    ]),
    localAccounts: ['emergency@example.org'],
  })
})

test('an invalid secret is not repeated in the error', () => {
  expect(problemsOf({ SECRET: 'hunter2' }).join()).not.toContain('hunter2')
})

test.for([
  ['HTTP_PORT', '8080.5'],
  ['HTTP_PORT', '-1'],
  ['HTTP_PORT', 'http'],
  ['PUBLIC_URL', 'ftp://spam.example'],
  ['PUBLIC_URL', 'spam.example'],
  ['RETURN_PATH_DOMAIN', 'bounces example'],
  ['RETURN_PATH_DOMAIN', 'user@bounces.example'],
  ['SECRET', 'x'.repeat(31)],
  ['MAIN_URL', 'http://spam.example'],
  ['MAIN_URL', 'https://me:a-password@spam.example'],
  ['FRONT_KEY', 'x'.repeat(31)],
  ['WORKERS', '65'],
  ['WORKERS', 'NaN'],
  ['RETENTION_DAYS', '0'],
  ['DATABASE_CONNECTIONS', '501'],
  ['FORWARD_TO', 'Any'],
  ['DB_BACKEND', 'mysql'],
  ['DB_BACKEND', 'citus'],
  ['RDAP_BOOTSTRAP_URL', 'http://data.iana.org/rdap'],
  ['RDAP_BOOTSTRAP_URL', 'http://127.0.0.1.example.org/rdap'],
  ['RDAP_BOOTSTRAP_URL', 'nowhere'],
  ['ALARM_MAIL', 'ann@ops.example, nobody'],
  ['ALARM_WEBHOOK_URL', 'ftp://pager.example'],
  ['ALARM_QUIET_HOURS', '22-7'],
  ['ALARM_QUIET_HOURS', '22:00-24:00'],
  ['ALARM_QUIET_HOURS', '22:00-07:00 Mars/Olympus'],
  ['OIDC_ISSUER', 'http://login.example.org'],
  ['OIDC_ROLES', 'admins'],
  ['OIDC_ROLES', 'admins=root'],
  ['DNS_SERVERS', 'ns.example'],
  ['DNS_SERVERS', '192.0.2.53:0'],
  ['DNS_SERVERS', '192.0.2.53:65536'],
  ['DNS_SERVERS', '[192.0.2.53]:53'],
  ['DNS_SERVERS', 'none,192.0.2.53'],
] as const)('%s must not be %j', ([name, value]) => {
  expect(problemsOf({ [name]: value })).toHaveLength(1)
})

test.for([
  ['HTTP_PORT', '0'],
  ['HTTP_PORT', '65535'],
  ['DATABASE_URL', 'postgresql://u:p@[::1]:5432/signalpost'],
  ['SMTP_URL', 'smtps://user:pass@mail.example:465'],
  ['SECRET', 'x'.repeat(32)],
  ['RDAP_BOOTSTRAP_URL', 'https://rdap-bootstrap.example/'],
  ['RDAP_BOOTSTRAP_URL', 'http://127.0.0.1:8080/rdap'],
  ['WORKERS', '64'],
  ['PUBLIC_URL', 'https://spam.example/reports/'],
] as const)('%s may be %j', ([name, value]) => {
  expect(problemsOf({ [name]: value })).toEqual([])
})

test('a cluster of Citus is used if its address is given', () => {
  const env = { DB_BACKEND: 'citus', DATABASE_URL: 'postgres://coordinator.example/signalpost' }
  expect(readConfig(env, machine).databaseBackend).toBe('citus')
})

test('an empty variable counts as missing', () => {
  const empty = Object.fromEntries(variableNames.map((name) => [name, '']))
  expect(readConfig(empty, machine)).toEqual(readConfig({}, machine))
})

test('unknown variables are ignored', () => {
  expect(readConfig({ PATH: '/bin', HTTP_PORTS: 'x' }, machine)).toEqual(readConfig({}, machine))
})

test('PUBLIC_URL loses its trailing slashes; without it the default follows the port', () => {
  const given = { PUBLIC_URL: 'https://spam.example//' }
  expect(readConfig(given, machine).publicUrl).toBe('https://spam.example')
  expect(readConfig({ HTTP_PORT: '9000' }, machine).publicUrl).toBe('http://localhost:9000')
})

test('RDAP_BOOTSTRAP_URL=none switches registry look-ups off', () => {
  expect(readConfig({ RDAP_BOOTSTRAP_URL: 'none' }, machine).rdapBootstrapUrl).toBeUndefined()
})

test('a relative DATA_DIR is resolved against the working directory', () => {
  expect(readConfig({ DATA_DIR: 'data' }, machine).dataDir).toBe('/srv/signalpost/data')
  expect(readConfig({ DATA_DIR: '/data' }, machine).dataDir).toBe('/data')
})

test.for([
  ['192.0.2.53, 2001:db8::53', ['192.0.2.53', '2001:db8::53']],
  ['192.0.2.53:5353 [2001:db8::53]:5353', ['192.0.2.53:5353', '[2001:db8::53]:5353']],
  ['none', 'none'],
  [' ', 'system'],
] as const)('DNS_SERVERS %j is parsed as %j', ([given, servers]) => {
  expect(readConfig({ DNS_SERVERS: given }, machine).dnsServers).toEqual(servers)
})

test('each invalid name server is named', () => {
  const [problem] = problemsOf({ DNS_SERVERS: '192.0.2.53,ns.example,192.0.2.300' })
  expect(problem).toContain('names ns.example and 192.0.2.300, which is neither')
})

test('FORWARD_SCOPE has countries as registries write them, AS numbers and blocks', () => {
  const given = { FORWARD_SCOPE: 'fr, UK AS64496 192.0.2.0/24 2001:db8::1' }
  expect(readConfig(given, machine).forwardScope).toEqual({
    countries: ['FR', 'GB'],
    asns: [64_496],
    blocks: ['192.0.2.0/24', '2001:db8::1/128'],
  })
  const [problem] = problemsOf({ FORWARD_SCOPE: 'France,XX,AS-1,192.0.2.0/33' })
  expect(problem).toContain('names France and XX and AS-1 and 192.0.2.0/33, which is neither')
})

test('BLACKLISTS are separated by commas or spaces', () => {
  const { blacklists } = readConfig({ BLACKLISTS: 'zen.example, bl.example=addresses' }, machine)
  expect(blacklists).toEqual(['zen.example', 'bl.example=addresses'])
})

test('the return path domain is in lower case', () => {
  const { returnPathDomain } = readConfig({ RETURN_PATH_DOMAIN: 'Bounces.Example' }, machine)
  expect(returnPathDomain).toBe('bounces.example')
})

test('the quiet hours of alarms have a time zone', () => {
  const hoursOf = (text: string) =>
    readConfig({ ALARM_QUIET_HOURS: text }, machine).alarms.quietHours
  expect(hoursOf('22:00-07:30')).toEqual({ from: 1_320, to: 450, zone: 'UTC' })
  expect(hoursOf('00:00-06:00 Europe/Paris')).toMatchObject({ from: 0, zone: 'Europe/Paris' })
})

test('alarms use the mail server for all mail unless they have their own', () => {
  const SMTP_URL = 'smtp://mail.example'
  expect(readConfig({ SMTP_URL }, machine).alarms.smtpUrl).toBe(SMTP_URL)
  const ALARM_SMTP_URL = 'smtp://other.example'
  expect(readConfig({ SMTP_URL, ALARM_SMTP_URL }, machine).alarms.smtpUrl).toBe(ALARM_SMTP_URL)
})
