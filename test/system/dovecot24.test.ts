import { chmod, cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkedMail } from '../support/checked-mail.ts'
import { freePort } from '../support/free-port.ts'
import { type Daemon, startDaemon } from './daemon.ts'
import { run } from './installed.ts'
import { recipe } from './recipes.ts'

/**
 * The documented configuration of Dovecot 2.4, in a new Debian 13 that debootstrap makes. Without
 * root there is no chroot.
 */
const isRoot = process.getuid?.() === 0
const LONG = { timeout: 1_800_000 }
const folder = await mkdtemp(path.join(tmpdir(), 'signalpost-debian13-'))
const at = (file: string) => path.join(folder, file)
const spool = at('var/spool/signalpost')
let port = 0
let dovecot: Daemon | undefined

beforeAll(async () => {
  if (!isRoot) return
  const packages = '--include=dovecot-imapd,dovecot-sieve'
  await run('debootstrap', ['--variant=minbase', packages, 'trixie', folder])
  // The server changes to another account.
  await chmod(folder, 0o755)
  await run('mount', ['-t', 'proc', 'proc', at('proc')])
  const own = at('etc/dovecot/signalpost')
  for (const writable of [spool, own, at('srv/mail')]) {
    await mkdir(writable)
    await chmod(writable, 0o777)
  }
  for (const name of ['spam.sieve', 'not-spam.sieve']) {
    await writeFile(path.join(own, name), recipe(`/etc/dovecot/signalpost/${name}`))
  }
  const script = path.join(import.meta.dirname, '../../clients/spool/signalpost-spool')
  await cp(script, path.join(own, 'signalpost-spool'))
  const file = '/etc/dovecot/conf.d/99-signalpost.conf'
  await writeFile(at(file), recipe(`${file}, for Dovecot 2.4`))
  port = await freePort()
  await writeFile(at('etc/dovecot/dovecot.conf'), configuration(port, file))
  const command = ['/usr/sbin/chroot', folder, 'dovecot', '-F'] as const
  dovecot = await startDaemon(command, { port, package: 'debootstrap' })
}, LONG.timeout)
afterAll(async () => {
  await dovecot?.stop()
  if (isRoot) await run('umount', [at('proc')])
  await rm(folder, { recursive: true, force: true, maxRetries: 5 })
})

/** The minimum that Dovecot 2.4 needs for IMAP. Every user has the password "password". */
function configuration(imapPort: number, include: string): string {
  return `
dovecot_config_version = 2.4.1
dovecot_storage_version = 2.4.1
protocols = imap
listen = 127.0.0.1
ssl = no
log_path = /dev/stderr
auth_allow_cleartext = yes
first_valid_uid = 1
mail_driver = maildir
mail_path = /srv/mail/%{user}
passdb static {
  password = password
}
userdb static {
  fields {
    uid = 65534
    gid = 65534
    home = /srv/mail/%{user}
  }
}
service imap-login {
  inet_listener imap {
    port = ${imapPort}
  }
  inet_listener imaps {
    port = 0
  }
}
namespace inbox {
  inbox = yes
  mailbox Junk {
    auto = subscribe
    special_use = \\Junk
  }
  mailbox Trash {
    auto = create
  }
}
!include ${include}
`
}

const curl = (mailbox: string, ...args: string[]) =>
  run('curl', ['-sS', `imap://ann:password@127.0.0.1:${port}/${mailbox}`, ...args])

/** The kinds of the files in the spool, in their order. */
const kinds = async () => (await readdir(spool)).sort().map((name) => name.split('.').at(-1))

test.runIf(isRoot)('moves into Junk and out of it go to the spool, to the trash not', async () => {
  expect(await run('chroot', [folder, 'dovecot', '--version'])).toMatch(/^2\.4\./)
  await writeFile(at('mail'), checkedMail('moved', 'https://good.example/'))
  await curl('INBOX', '-T', at('mail'))
  await curl('INBOX', '-X', 'MOVE 1 Junk')
  expect(await kinds(), dovecot?.said()).toEqual(['spam'])
  await curl('Junk', '-X', 'MOVE 1 INBOX')
  expect(await kinds()).toEqual(['spam', 'not-spam'])
  await curl('INBOX', '-X', 'MOVE 1 Junk')
  await curl('Junk', '-X', 'MOVE 1 Trash')
  expect(await kinds()).toEqual(['spam', 'not-spam', 'spam'])
})
