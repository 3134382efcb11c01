import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { promisify } from 'node:util'
import { pino } from 'pino'
import { afterAll, expect, test } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { updatePage } from '../../src/db/pages.ts'
import { runPublishLists } from '../../src/lists/publish-lists.ts'
import { createResolver } from '../../src/net/resolver.ts'
import { zoneTypes } from '../../src/verdict/lists/list.ts'
import { freshDatabase } from '../support/database.ts'
import { freePort } from '../support/free-port.ts'
import { until } from '../support/process.ts'
import { ringOf } from '../support/key-ring.ts'
import { confirmPages } from '../support/listed-pages.ts'
import { openFolder, startDaemon } from './daemon.ts'
import { serveFolder } from './rbldnsd.ts'
import { recipe } from './recipes.ts'
import { rspamc } from './rspamc.ts'

const run = promisify(execFile)
const now = new Date()
const database = await freshDatabase()
const folder = await openFolder('page-feeds')
const zone = 'pages.lists.ours.example'
const whole = 'https://login.evil.example/in?step=1'
const onPlatform = 'https://sites.google.com/view/my-bank'
const [page] = await confirmPages(database.pool, [
  { url: whole, at: now },
  { url: 'https://login.evil.example/second', at: now },
  { url: onPlatform, at: now, scope: 'path' },
  { url: 'http://192.0.2.7/bank', at: now, type: 'malware' },
  { url: 'https://xn--bnk-rla.evil.example/', at: now },
])
await publish()

afterAll(async () => {
  await database.close()
  await folder.clear()
})

async function publish(): Promise<void> {
  const lists = path.join(folder.at, 'lists')
  const env = {
    LISTS_DIR: lists,
    LISTS_ZONE: 'lists.ours.example',
    PUBLIC_URL: 'https://o.example',
  }
  const config = {
    ...readConfig(env, { cores: 1, cwd: '/nowhere' }),
    databaseUrl: database.url,
    secret: ringOf('a secret of the tests'),
  }
  const log = pino({ level: 'silent' })
  await runPublishLists({ pool: database.pool, clock: () => now, config, log })
  await chmod(lists, 0o755)
}

const published = (name: string) => path.join(folder.at, 'lists', name)

/** Asks a server; undefined if the name does not exist. */
async function ask(server: string, name: string): Promise<readonly string[] | undefined> {
  const resolver = createResolver({ servers: [server], clock: () => new Date() })
  const answer = await resolver.resolve(name, 'A').finally(() => resolver.close())
  if (answer.is === 'unknown') throw new Error(answer.why)
  return answer.is === 'found' ? answer.records : undefined
}

const passing = [
  ['login.evil.example', undefined],
  ['xn--bnk-rla.evil.example', undefined],
  // Neither the domain of a listed host, nor names below it, nor a platform.
  ['evil.example', ['198.51.100.1']],
  ['x.login.evil.example', ['198.51.100.1']],
  ['sites.google.com', ['198.51.100.1']],
] as const

async function expectPassing(port: number): Promise<void> {
  for (const [name, records] of passing) {
    expect([name, await ask(`127.0.0.1:${port}`, name)]).toEqual([name, records])
  }
}

/** Starts a BIND with its own folder. */
async function startBind(name: string, options: string, zones: string) {
  const port = await freePort()
  const at = path.join(folder.at, name)
  await mkdir(at, { recursive: true })
  await chmod(at, 0o777)
  const configuration = `
options {
  directory "${at}"; pid-file none; session-keyfile none; dnssec-validation no;
  listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; }; allow-query { any; };
  ${options}
};
controls {};
${zones}`
  await writeFile(path.join(at, 'named.conf'), configuration)
  const account = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
  const server = await startDaemon(
    ['/usr/sbin/named', '-g', '-c', path.join(at, 'named.conf'), ...account],
    { port, package: 'bind9' },
  )
  // It listens before it has read its zones.
  const ready = options.includes('response-policy') ? /rpz: .* reload done/ : /all zones loaded/
  await until('the zones of BIND', () => ready.test(server.said()) || undefined)
  return { port, stop: server.stop }
}

/** Starts a name server that stands for the rest of the Internet: every name exists. */
async function startWorld() {
  const records = ['$TTL 60', '@ SOA localhost. a. 1 60 60 60 60', '@ NS localhost.']
  await mkdir(path.join(folder.at, 'world'), { recursive: true })
  const root = path.join(folder.at, 'world', 'root')
  await writeFile(root, `${[...records, '*. A 198.51.100.1'].join('\n')}\n`)
  return startBind('world', 'recursion no;', `zone "." { type primary; file "root"; };`)
}

test('named-checkzone accepts the RPZ zone, full or empty', async () => {
  for (const name of ['pages.rpz', 'pages-delayed.rpz']) {
    const checked = await run('named-checkzone', [
      '-i',
      'full',
      '-k',
      'fail',
      zone,
      published(name),
    ])
    expect(checked.stdout).toMatch(/loaded serial \d+\s+OK\s*$/)
    expect(checked.stderr).toBe('')
  }
})

test('BIND answers that the hosts of pages do not exist, and answers for others', async () => {
  const policy = { '/var/lib/bind/pages.rpz': published('pages.rpz') }
  const world = await startWorld()
  const server = await startBind(
    'bind',
    `forwarders port ${world.port} { 127.0.0.1; }; forward only;
  ${recipe('/etc/bind/named.conf.options')}`,
    recipe('/etc/bind/named.conf.local', policy),
  )
  try {
    await expectPassing(server.port)
  } finally {
    await server.stop()
    await world.stop()
  }
})

test('Unbound answers that the hosts of pages do not exist, and answers for others', async () => {
  const port = await freePort()
  const at = path.join(folder.at, 'unbound')
  await mkdir(at)
  const policy = { '/var/lib/unbound/pages.rpz': published('pages.rpz') }
  const file = path.join(at, 'unbound.conf')
  const world = await startWorld()
  const configuration = `
server:
  interface: 127.0.0.1
  port: ${port}
  do-daemonize: no
  use-syslog: no
  do-not-query-localhost: no
  username: ""
  chroot: ""
  directory: "${at}"
  pidfile: ""
  module-config: "respip iterator"
forward-zone:
  name: "."
  forward-addr: 127.0.0.1@${world.port}
${recipe('/etc/unbound/unbound.conf.d/pages.conf', policy)}`
  await writeFile(file, configuration)
  expect((await run('unbound-checkconf', [file])).stdout).toContain('no errors')
  const server = await startDaemon(['/usr/sbin/unbound', '-d', '-c', file], {
    port,
    package: 'unbound',
  })
  try {
    await expectPassing(port)
  } finally {
    await server.stop()
    await world.stop()
  }
})

test('rbldnsd answers for listed hosts and addresses, without a warning', async () => {
  const sets = zoneTypes.pages.map((type) => ({ zone, type, file: `pages.${type}` }))
  const server = await serveFolder(path.join(folder.at, 'lists'), sets)
  try {
    expect(server.said()).not.toMatch(/warn|invalid|bad |error|unable/i)
    const answers = {
      'login.evil.example': ['127.0.0.4'],
      '7.2.0.192': ['127.0.0.5'],
      'x.login.evil.example': undefined,
      'evil.example': undefined,
      'sites.google.com': undefined,
      test: ['127.0.0.2'],
      '2.0.0.127': ['127.0.0.2'],
      '1.0.0.127': undefined,
      invalid: undefined,
    }
    for (const [name, records] of Object.entries(answers)) {
      expect([name, await ask(server.address, `${name}.${zone}`)]).toEqual([name, records])
    }
  } finally {
    await server.stop()
  }
})

/** Serves the lists to programs that send a token as the password. */
async function serveLists(token: string) {
  const expected = `Basic ${Buffer.from(`:${token}`).toString('base64')}`
  const server = createServer((req, res) => {
    const [, , name = ''] = req.url?.split('/') ?? []
    if (req.headers.authorization !== expected) return void res.writeHead(401).end()
    void readFile(published(name)).then((text) => res.end(text))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { server, port: (server.address() as AddressInfo).port }
}

test('rspamd finds links to listed pages and hosts, and no others', async () => {
  const port = await freePort()
  const at = path.join(folder.at, 'rspamd')
  await mkdir(at)
  await chmod(at, 0o777)
  const site = await serveLists('sp_token')
  const maps = { 'https://:TOKEN@spam.example': `http://:sp_token@127.0.0.1:${site.port}` }
  await writeFile(path.join(at, 'suffixes'), 'example\ncom\n')
  await writeFile(
    path.join(at, 'rspamd.conf'),
    `options {
  pidfile = "${at}/rspamd.pid"; tempdir = "${at}"; filters = ""; disable_hyperscan = true;
  # To compile all public suffixes takes up to a minute.
  url_tld = "${at}/suffixes";
}
logging { type = "console"; level = "notice"; }
lua = "/usr/share/rspamd/rules/rspamd.lua";
modules { path = "/usr/share/rspamd/plugins/multimap.lua"; }
multimap { ${recipe('/etc/rspamd/local.d/multimap.conf', maps)} }
worker "normal" { bind_socket = "127.0.0.1:${port}"; count = 1; }
`,
  )
  const account = process.getuid?.() === 0 ? ['-u', 'nobody', '-g', 'nogroup'] : ['-i']
  const server = await startDaemon(
    ['/usr/bin/rspamd', '-f', ...account, '-c', path.join(at, 'rspamd.conf')],
    { port, package: 'rspamd' },
  )
  const symbolsOf = async (link: string) => {
    const message = ['From: a@b.example', 'Subject: x', '', `Sign in: ${link}`, ''].join('\r\n')
    const { text } = await rspamc(port, ['symbols'], Buffer.from(message))
    return [...text.matchAll(/Symbol: (CONFIRMED_PHISHING_\w+)/g)]
      .map(([, name]) => name)
      .toSorted()
  }
  try {
    // It reads its maps after its start.
    await until('the maps of rspamd', async () => (await symbolsOf(whole))[1])
    const [byUrl, byHost] = ['CONFIRMED_PHISHING_PAGE', 'CONFIRMED_PHISHING_HOST']
    expect(await symbolsOf(whole)).toEqual([byHost, byUrl])
    expect(await symbolsOf('https://login.evil.example/third')).toEqual([byHost])
    expect(await symbolsOf(onPlatform)).toEqual([byUrl])
    expect(await symbolsOf('https://sites.google.com/view/wanted')).toEqual([])
    expect(await symbolsOf('https://www.evil.example/')).toEqual([])
  } finally {
    await server.stop()
    site.server.close()
  }
})

test('Python reads the CSV file, and it has what the JSON lines have', async () => {
  const program =
    'import csv,json,sys; print(json.dumps(list(csv.DictReader(open(sys.argv[1], newline=""))))) '
  const { stdout } = await run('python3', ['-c', program, published('pages.csv')])
  const rows = JSON.parse(stdout) as Record<string, string>[]
  const lines = (await readFile(published('pages.jsonl'), 'utf8')).trimEnd().split('\n')
  const entries = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(rows).toHaveLength(5)
  const asText = (entry: Record<string, unknown>) =>
    Object.fromEntries(Object.entries(entry).map(([name, value]) => [name, String(value ?? '')]))
  expect(rows).toEqual(entries.map(asText))
})

test('a cleared page is gone from the next edition of the zone', async () => {
  if (!page) throw new Error('The page is missing.')
  const cleared = { state: 'cleared', confirmedBy: null, clearedAt: now } as const
  await updatePage(database.pool, { ...page, ...cleared })
  await database.pool.query(`delete from pages where url like '%/second'`)
  await publish()
  const checked = await run('named-checkzone', ['-D', '-o', '-', zone, published('pages.rpz')])
  expect(checked.stdout).toContain('xn--bnk-rla.evil.example')
  expect(checked.stdout).not.toContain('login.evil.example')
})
