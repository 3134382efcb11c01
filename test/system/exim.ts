import { execFile } from 'node:child_process'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '../support/free-port.ts'
import { openFolder, startDaemon } from './daemon.ts'
import { recipe } from './recipes.ts'

/** A real Exim on the loopback interface, with a separate spool and mailbox. */
export type Exim = {
  port: number
  /** Returns all delivered mail, from the mailbox. */
  delivered: () => Promise<string>
  /** Returns the number of messages in Exim’s queue. */
  waiting: () => Promise<number>
  log: () => Promise<string>
  /** Ends the daemon and removes its files. */
  clear: () => Promise<void>
}

const run = promisify(execFile)

/**
 * Returns the path of the program: Debian's, or the one in EXIM.
 *
 * @throws Error if there is no Exim with content scanning, because a skipped test would show
 * nothing
 */
export async function findExim(): Promise<string> {
  const program = path.resolve(process.env['EXIM'] ?? '/usr/sbin/exim4')
  const { stdout } = await run(program, ['-C', '/dev/null', '-bV']).catch(() => ({ stdout: '' }))
  if (stdout.includes('Content_Scanning')) return program
  throw new Error('Exim with content scanning is missing: apt-get install exim4-daemon-heavy')
}

/** Starts an Exim that sends checks to `checkPort`, configured as documented. */
export async function startExim(checkPort: number): Promise<Exim> {
  const program = await findExim()
  const folder = await openFolder('exim')
  await mkdir(path.join(folder.at, 'mail'))
  await chmod(path.join(folder.at, 'mail'), 0o777)
  const port = await freePort()
  const file = path.join(folder.at, 'exim.conf')
  const asking = recipe('exim4.conf', { '127.0.0.1 11400': `127.0.0.1 ${checkPort}` })
  await writeFile(file, configuration({ folder: folder.at, port, asking, program }))
  const daemon = await startDaemon([program, '-C', file, '-bdf'], { port, package: 'exim4' })
  return {
    port,
    delivered: () => readFile(path.join(folder.at, 'mail', 'mbox'), 'utf8').catch(() => ''),
    waiting: async () => Number((await run(program, ['-C', file, '-bpc'])).stdout),
    log: () => readFile(path.join(folder.at, 'mainlog'), 'utf8'),
    async clear() {
      await daemon.stop()
      await folder.clear()
    },
  }
}

/**
 * Composes the configuration. Exim delivers as nobody if root runs it, and otherwise as the account
 * that runs it.
 */
function configuration({ folder, port, asking, program }: Setup): string {
  const { username } = userInfo()
  return `
spool_directory = ${folder}/spool
log_file_path = ${folder}/%slog
pid_file_path = ${folder}/pid
exim_user = ${username}
exim_path = ${program}
primary_hostname = mx.home.example
daemon_smtp_ports = ${port}
local_interfaces = 127.0.0.1
keep_environment =
acl_smtp_rcpt = accept
${asking}
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

type Setup = { folder: string; port: number; asking: string; program: string }
