import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { freePort } from '../support/free-port.ts'
import { codeBlocks } from '../support/documents.ts'
import { openFolder, startDaemon } from './daemon.ts'

const root = path.join(import.meta.dirname, '../..')
const readme = 'clients/roundcube/README.md'

/** A real Roundcube in PHP's own server, with the documented configuration. */
export type Roundcube = {
  /** Signs in and presses a button of `markasjunk` for the first message of a mailbox. */
  press: (button: 'junk' | 'not_junk', mailbox: string) => Promise<string>
  said: () => string
  clear: () => Promise<void>
}

/** Starts Roundcube for an IMAP server on this machine; its users report into the spool. */
export async function startRoundcube(imapPort: number, spool: string): Promise<Roundcube> {
  const folder = await openFolder('roundcube')
  const at = (...names: string[]) => path.join(folder.at, ...names)
  await cp('/etc/roundcube/defaults.inc.php', at('defaults.inc.php'))
  for (const name of ['temp', 'logs']) await mkdir(at(name))
  const [documented] = codeBlocks({
    path: readme,
    text: await readFile(path.join(root, readme), 'utf8'),
  }).filter(({ language }) => language === 'php')
  const command = `SIGNALPOST_SPOOL=${spool} ${path.join(root, 'clients/spool/signalpost-spool')}`
  const ours = `${documented?.text}
$config['db_dsnw'] = 'sqlite:///${at('roundcube.db')}?mode=0600';
$config['imap_host'] = '127.0.0.1:${imapPort}';
$config['plugins'] = ['markasjunk'];
$config['junk_mbox'] = 'Junk';
$config['temp_dir'] = '${at('temp')}';
$config['log_dir'] = '${at('logs')}';
$config['log_driver'] = 'stdout';
$config['des_key'] = 'a key of 24 characters !';
`
  const settings = ours.replaceAll('/usr/local/bin/signalpost-spool', command)
  await writeFile(at('config.inc.php'), settings)
  const port = await freePort()
  const daemon = await startDaemon(
    ['php', '-S', `127.0.0.1:${port}`, '-t', '/usr/share/roundcube'],
    {
      port,
      package: 'roundcube-core roundcube-sqlite3 php-cli',
      env: { ROUNDCUBE_CONFIG_DIR: folder.at },
    },
  )
  return {
    press: (button, mailbox) => press(`http://127.0.0.1:${port}/`, button, mailbox),
    said: daemon.said,
    async clear() {
      await daemon.stop()
      await folder.clear()
    },
  }
}

async function press(url: string, button: string, mailbox: string): Promise<string> {
  const jar = new Map<string, string>()
  async function ask(query: string, form?: Record<string, string>): Promise<string> {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(`${url}?${query}`, {
      headers: { cookie, ...(form && { 'x-roundcube-request': form['_token'] ?? '' }) },
      redirect: 'manual',
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    })
    for (const set of response.headers.getSetCookie()) {
      const [name = '', value = ''] = set.split(';', 1)[0]?.split('=') ?? []
      if (value === '-del-') jar.delete(name)
      else jar.set(name, value)
    }
    return response.text()
  }
  const tokenIn = (html: string) => /"request_token":"(\w+)"/.exec(html)?.[1] ?? ''
  const token = tokenIn(await ask('_task=login'))
  const account = { _user: 'ann', _pass: 'password', _task: 'login', _action: 'login' }
  await ask('_task=login', { ...account, _token: token })
  const inside = tokenIn(await ask(`_task=mail&_mbox=${mailbox}`))
  const chosen = { _uid: '1', _mbox: mailbox, _remote: '1', _token: inside }
  return ask(`_task=mail&_action=plugin.markasjunk.${button}`, chosen)
}
