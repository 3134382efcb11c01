import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '../../src/db/embedded.ts'
import { until } from '../support/process.ts'

/** A real Exim on the loopback interface, with a spool and a mailbox of its own. */
export type Exim = {
  port: number
  /** All that was delivered, as it stands in the mailbox. */
  delivered: () => Promise<string>
  /** How many messages wait in its queue. */
  waiting: () => Promise<number>
  log: () => Promise<string>
  /** Ends the daemon and removes its files. */
  clear: () => Promise<void>
}

const run = promisify(execFile)

/**
 * Starts an Exim that asks on `checkPort` as the README says.
 *
 * @throws Error where there is no Exim with content scanning: a test left out shows nothing
 */
export async function startExim(checkPort: number): Promise<Exim> {
  const program = process.env['EXIM'] ?? '/usr/sbin/exim4'
  const { stdout } = await run(program, ['-bV']).catch(() => ({ stdout: '' }))
  if (!stdout.includes('Content_Scanning')) {
    throw new Error('Exim with content scanning is missing: apt-get install exim4-daemon-heavy')
  }
  const folder = await mkdtemp(path.join(tmpdir(), 'signalpost-exim-'))
  await chmod(folder, 0o755)
  await mkdir(path.join(folder, 'mail'))
  await chmod(path.join(folder, 'mail'), 0o777)
  const port = await freePort()
  const file = path.join(folder, 'exim.conf')
  await writeFile(file, configuration({ folder, port, checkPort }))
  const child = spawn(program, ['-C', file, '-bdf'], { stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  child.stderr.on('data', (chunk) => (said += String(chunk)))
  const ended = once(child, 'exit')
  await Promise.race([
    until('Exim', () => greets(port)),
    ended.then(() => Promise.reject(new Error(`Exim ended.\n${said}`))),
  ])
  return {
    port,
    delivered: () => readFile(path.join(folder, 'mail', 'mbox'), 'utf8').catch(() => ''),
    waiting: async () => Number((await run(program, ['-C', file, '-bpc'])).stdout),
    log: () => readFile(path.join(folder, 'mainlog'), 'utf8'),
    async clear() {
      child.kill('SIGTERM')
      await ended
      await rm(folder, { recursive: true, maxRetries: 5 })
    },
  }
}

/** Exim delivers as nobody when root runs it, and as whoever else does. */
function configuration({ folder, port, checkPort }: Record<'folder', string> & Ports): string {
  const { username } = userInfo()
  return `
spool_directory = ${folder}/spool
log_file_path = ${folder}/%slog
pid_file_path = ${folder}/pid
exim_user = ${username}
primary_hostname = mx.home.example
daemon_smtp_ports = ${port}
local_interfaces = 127.0.0.1
keep_environment =
spamd_address = 127.0.0.1 ${checkPort} variant=rspamd tmo=10s
acl_smtp_rcpt = accept
acl_smtp_data = ask
begin acl
ask:
  deny spam = nobody:true/defer_ok
       condition = \${if eq{$spam_action}{reject}}
       message = This message looks like spam.
  warn spam = nobody:true/defer_ok
       condition = \${if eq{$spam_action}{add header}}
       add_header = X-Spam: Yes ($spam_score)
  accept
begin routers
here:
  driver = accept
  transport = mailbox
begin transports
mailbox:
  driver = appendfile
  file = ${folder}/mail/mbox
  user = ${username === 'root' ? 'nobody' : username}
begin retry
* * F,1h,5s
`
}

type Ports = { port: number; checkPort: number }

function greets(port: number): Promise<true | undefined> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => resolve(undefined))
    socket.on('data', () => {
      socket.end('QUIT\r\n')
      resolve(true)
    })
  })
}
