import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import path from 'node:path'
import { freePort } from '../support/free-port.ts'
import { openFolder, startDaemon } from './daemon.ts'
import { recipe } from './recipes.ts'

/** A real Dovecot on the loopback interface. Every user has the password "password". */
export type Dovecot = {
  port: number
  /** Returns a mailbox as an IMAP URL for `curl`. */
  url: (mailbox: string) => string
  said: () => string
  /** Ends the server and starts it again. */
  restart: () => Promise<void>
  /** Ends the server and removes its files. */
  clear: () => Promise<void>
}

/**
 * Starts a Dovecot. If a spool is given, it has the documented configuration and puts there what
 * users move to Junk. `capabilities` are those it announces, instead of its own.
 */
export async function startDovecot(spool?: string, capabilities?: string): Promise<Dovecot> {
  const folder = await openFolder('dovecot')
  const port = await freePort()
  const mail = path.join(folder.at, 'mail')
  await mkdir(mail)
  await chmod(mail, 0o777)
  const file = path.join(folder.at, 'dovecot.conf')
  const more = spool ? await configureReporting(folder.at, spool) : ''
  const announced = capabilities === undefined ? '' : `imap_capability = ${capabilities}\n`
  await writeFile(file, `${configuration(folder.at, port)}${more}${announced}`)
  const start = () =>
    startDaemon(['/usr/sbin/dovecot', '-F', '-c', file], {
      port,
      package: 'dovecot-imapd dovecot-sieve',
    })
  let daemon = await start()
  return {
    port,
    url: (mailbox) => `imap://ann:password@127.0.0.1:${port}/${mailbox}`,
    said: () => daemon.said(),
    async restart() {
      await daemon.stop()
      daemon = await start()
    },
    async clear() {
      await daemon.stop()
      await folder.clear()
    },
  }
}

/** Writes the documented scripts and returns the configuration that uses them. */
async function configureReporting(folder: string, spool: string): Promise<string> {
  const own = path.join(folder, 'signalpost')
  await mkdir(own)
  await chmod(own, 0o777)
  for (const name of ['spam.sieve', 'not-spam.sieve']) {
    await writeFile(path.join(own, name), recipe(`/etc/dovecot/signalpost/${name}`))
  }
  const source = path.join(import.meta.dirname, '../../clients/spool/signalpost-spool')
  const script = (await readFile(source, 'utf8')).replace('/var/spool/signalpost', spool)
  await writeFile(path.join(own, 'signalpost-spool'), script, { mode: 0o755 })
  return recipe('/etc/dovecot/conf.d/99-signalpost.conf, for Dovecot 2.3', {
    '/etc/dovecot/signalpost': own,
  })
}

/**
 * Returns the minimum configuration that Debian's Dovecot needs for IMAP, with all processes under
 * one account.
 */
function configuration(folder: string, port: number): string {
  const account = userInfo().username === 'root' ? 'nobody' : userInfo().username
  const [uid, gid] = account === 'nobody' ? [65_534, 65_534] : [userInfo().uid, userInfo().gid]
  return `
base_dir = ${folder}/run
state_dir = ${folder}/state
log_path = /dev/stderr
protocols = imap
listen = 127.0.0.1
ssl = no
disable_plaintext_auth = no
first_valid_uid = 1
mail_location = maildir:${folder}/mail/%u
passdb {
  driver = static
  args = password=password
}
userdb {
  driver = static
  args = uid=${uid} gid=${gid} home=${folder}/mail/%u
}
service imap-login {
  inet_listener imap {
    port = ${port}
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
`
}
