import { execFile } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { composeReturnPath } from '../../src/mail/verp.ts'
import { makeSite, type Site, siteSettings } from '../support/parts.ts'

const main = path.join(import.meta.dirname, '../../src/main.ts')
const program = process.env['EXIM'] ?? '/usr/sbin/exim4'
const good = composeReturnPath(
  { reportId: '01999999-0000-7000-8000-000000000001', number: 1 },
  siteSettings,
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

/** Has a real Exim deliver a mail over a transport, and answers what its log says of it. */
async function deliver(transport: string, recipients: readonly string[]): Promise<string> {
  const file = path.join(folder, 'exim.conf')
  await writeFile(file, configuration(transport))
  const args = ['-C', file, '-odi', '-oMr', 'local', '-f', '<>', ...recipients]
  const child = execFile(program, args)
  child.stdin?.end('From: mx@far.example\nSubject: Undelivered\n\nBack.\n.. and dots\n')
  await new Promise((resolve) => child.on('close', resolve))
  return readFile(path.join(folder, 'mainlog'), 'utf8')
}

function configuration(transport: string): string {
  const { username } = userInfo()
  return `
spool_directory = ${folder}/spool
log_file_path = ${folder}/%slog
exim_user = ${username}
trusted_users = ${username}
primary_hostname = mx.home.example
keep_environment =
begin routers
signalpost:
  driver = manualroute
  domains = ${siteSettings.domain}
  route_list = * 127.0.0.1
  self = send
  transport = signalpost
begin transports
signalpost:
${transport}
  user = ${username === 'root' ? 'nobody' : username}
begin retry
* * F,1h,5s
`
}

function kept() {
  return site.database.pool.query(`select rcpt_to as "rcptTo", mail_from as "from"
    from inbound_mails`)
}

test('Exim delivers by LMTP, and hears of each recipient what became of it', async () => {
  await site.start('receive')
  const lmtp = `  driver = smtp\n  protocol = lmtp\n  port = ${site.receivePort}`
  const log = await deliver(`${lmtp}\n  hosts_avoid_tls = *`, [good, forged])
  expect(log).toMatch(new RegExp(`=> ${good}.* C="250 2.6.0 Kept"`))
  expect(log).toMatch(new RegExp(`\\*\\* ${forged}.*550 5.7.1`))
  expect((await kept()).rows).toEqual([{ rcptTo: good, from: '' }])
})

test('Exim delivers through a pipe, and takes the exit codes for what they are', async () => {
  const script = path.join(folder, 'receive.sh')
  const env = Object.entries(site.env).map(([name, value]) => `export ${name}='${value}'\n`)
  const envelope = '"--to=$RECIPIENT" "--from=$SENDER"'
  const line = `exec '${process.execPath}' '${main}' receive --stdin ${envelope}\n`
  await writeFile(script, `#!/bin/sh\n${env.join('')}${line}`, { mode: 0o755 })
  const pipe = `  driver = pipe
  command = ${script}
  message_prefix =
  message_suffix =
  temp_errors = 75
  log_output = true`
  const log = await deliver(pipe, [good, forged])
  expect(log).toMatch(new RegExp(`=> ${good.split('@')[0]}`))
  expect(log).toMatch(new RegExp(`\\*\\* ${forged}`))
  expect((await kept()).rows).toEqual([{ rcptTo: good, from: '' }])
})
