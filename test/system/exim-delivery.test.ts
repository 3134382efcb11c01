import { execFile } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { composeReturnPath } from '../../src/mail/verp.ts'
import { makeSite, type Site, sitePaths } from '../support/parts.ts'
import { findExim } from './exim.ts'
import { writePipeScript } from './pipe-script.ts'
import { recipe } from './recipes.ts'

const program = await findExim()
const account = userInfo().username === 'root' ? 'nobody' : userInfo().username
const good = composeReturnPath(
  { reportId: '01999999-0000-7000-8000-000000000001', number: 1 },
  sitePaths,
)
const forged = good.replace(/.(?=@)/, (last) => (last === 'a' ? 'b' : 'a'))

let site: Site
let folder: string

beforeEach(async () => {
  site = await makeSite({ RECEIVE_PROTOCOL: 'lmtp' })
  folder = await mkdtemp(path.join(tmpdir(), 'signalpost-exim-'))
  await chmod(folder, 0o755)
})
afterEach(async () => {
  await rm(folder, { recursive: true, maxRetries: 5 })
  await site.clear()
})

/** Delivers a mail with a real Exim over a transport, and returns the log lines about it. */
async function deliver(transport: string, recipients: readonly string[]): Promise<string> {
  const file = path.join(folder, 'exim.conf')
  const router = recipe('exim4.conf, the router of returned mail', {
    'bounces.example.org': sitePaths.domain,
  })
  await writeFile(file, configuration(router, transport))
  const args = ['-C', file, '-odi', '-oMr', 'local', '-f', '<>', ...recipients]
  const child = execFile(program, args)
  child.stdin?.end('From: mx@far.example\nSubject: Undelivered\n\nBack.\n.. and dots\n')
  await new Promise((resolve) => child.on('close', resolve))
  return readFile(path.join(folder, 'mainlog'), 'utf8')
}

function configuration(router: string, transport: string): string {
  const { username } = userInfo()
  return `
spool_directory = ${folder}/spool
log_file_path = ${folder}/%slog
exim_user = ${username}
exim_path = ${program}
trusted_users = ${username}
primary_hostname = mx.home.example
keep_environment =
begin routers
${router}
begin transports
${transport}
begin retry
* * F,1h,5s
`
}

function kept() {
  return site.database.pool.query(`select rcpt_to as "rcptTo", mail_from as "from"
    from inbound_mails`)
}

test('Exim delivers by LMTP, and gets a separate reply for each recipient', async () => {
  await site.start('receive')
  const lmtp = recipe('exim4.conf, its transport by LMTP', { 2525: site.receivePort })
  // Here Exim runs as the account of the tests, which may be root, and it never delivers as root.
  const log = await deliver(`${lmtp}  user = ${account}\n`, [good, forged])
  expect(log).toMatch(new RegExp(`=> ${good}.* C="250 2.6.0 Kept"`))
  expect(log).toMatch(new RegExp(`\\*\\* ${forged}.*550 5.7.1`))
  expect((await kept()).rows).toEqual([{ rcptTo: good, from: '' }])
})

test('Exim delivers through a pipe, and interprets the exit codes correctly', async () => {
  const script = await writePipeScript(folder, site.env)
  const pipe = recipe('exim4.conf, its transport by a pipe', {
    '/usr/local/bin/signalpost-receive': script,
    'user = signalpost': `user = ${account}`,
  })
  const log = await deliver(pipe, [good, forged])
  expect(log).toMatch(new RegExp(`=> ${good.split('@')[0]}`))
  expect(log).toMatch(new RegExp(`\\*\\* ${forged}`))
  expect((await kept()).rows).toEqual([{ rcptTo: good, from: '' }])
})
