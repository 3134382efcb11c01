import { execFile } from 'node:child_process'
import { chmod, chown, mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '../support/free-port.ts'
import { descendants, killAll } from '../support/process.ts'
import { openFolder, startDaemon } from './daemon.ts'

/** A real Postfix on the loopback interface, with a separate queue and mailbox. */
export type Postfix = {
  port: number
  /** Returns all mail delivered to `home.example`, from the mailbox. */
  delivered: () => Promise<string>
  log: () => Promise<string>
  /** Kills the processes that receive mail and speak to milters; Postfix starts others. */
  killReceivers: () => Promise<void>
  /** Ends the server and removes its files. */
  clear: () => Promise<void>
}

const run = promisify(execFile)

/**
 * The services of `master.cf` as in Debian, without chroot, and only the services that these tests
 * use.
 */
const services = `
pickup unix n - n 60 1 pickup
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
tlsmgr unix - - n 1000? 1 tlsmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
proxymap unix - - n - - proxymap
smtp unix - - n - - smtp
error unix - - n - - error
retry unix - - n - - error
discard unix - - n - - discard
virtual unix - n n - - virtual
lmtp unix - - n - - lmtp
anvil unix - - n - 1 anvil
scache unix - - n - 1 scache
postlog unix-dgram n - n - 1 postlogd
`

/**
 * Starts a Postfix; `main` and `master` are added to a minimal configuration.
 *
 * @throws Error if Postfix is not installed, or if the test does not run as root, which Postfix
 * requires
 */
export async function startPostfix(main: string, master = ''): Promise<Postfix> {
  const folder = await openFolder('postfix')
  const port = await freePort()
  for (const name of ['config', 'queue', 'data']) await mkdir(path.join(folder.at, name))
  await mkdir(path.join(folder.at, 'mail'))
  await chmod(path.join(folder.at, 'mail'), 0o777)
  const nobody = 65_534
  const own = `
compatibility_level = 3.6
queue_directory = ${folder.at}/queue
data_directory = ${folder.at}/data
maillog_file = ${folder.at}/log
maillog_file_prefixes = ${folder.at}
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
myhostname = mx.home.example
mydestination =
alias_maps =
mynetworks = 127.0.0.0/8
smtputf8_enable = no
service_throttle_time = 1s
virtual_mailbox_domains = home.example
virtual_mailbox_base = ${folder.at}/mail
virtual_mailbox_maps = static:mbox
virtual_uid_maps = static:${nobody}
virtual_gid_maps = static:${nobody}
virtual_minimum_uid = 1
`
  const config = path.join(folder.at, 'config')
  await writeFile(path.join(config, 'main.cf'), `${own}${main}`)
  const smtpd = `127.0.0.1:${port} inet n - n - - smtpd`
  await writeFile(path.join(config, 'master.cf'), `${smtpd}${services}${master}`)
  const { stdout } = await run('id', ['-u', 'postfix']).catch((cause: unknown) => {
    throw new Error('Postfix is missing: apt-get install postfix', { cause })
  })
  await chown(path.join(folder.at, 'data'), Number(stdout), 0)
  const log = () => readFile(path.join(folder.at, 'log'), 'utf8').catch(() => '')
  const daemon = await startDaemon(['/usr/sbin/postfix', '-c', config, 'start-fg'], {
    port,
    package: 'postfix',
  })
  return {
    port,
    delivered: () => readFile(path.join(folder.at, 'mail', 'mbox'), 'utf8').catch(() => ''),
    log,
    async killReceivers() {
      const file = path.join(folder.at, 'queue', 'pid', 'master.pid')
      const master = Number(await readFile(file, 'utf8'))
      const receivers = descendants(master).filter(({ command }) =>
        /^(smtpd|cleanup) /.test(command),
      )
      await killAll(receivers.map(({ pid }) => pid))
    },
    async clear() {
      // "start-fg" is a shell that waits for the server and does not pass signals on.
      await run('/usr/sbin/postfix', ['-c', config, 'stop'])
      await daemon.stop()
      await folder.clear()
    },
  }
}
