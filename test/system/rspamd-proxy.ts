import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { freePort } from '../support/free-port.ts'
import { openFolder, startDaemon } from './daemon.ts'
import { recipe } from './recipes.ts'

/** A real rspamd that is only a proxy, configured as documented. */
export type RspamdProxy = {
  /** The milter port of the proxy. */
  port: number
  log: () => string
  clear: () => Promise<void>
}

/** Starts a proxy in front of `checkPort`. */
export async function startRspamdProxy(checkPort: number): Promise<RspamdProxy> {
  const folder = await openFolder('rspamd')
  const port = await freePort()
  const changes = {
    '127.0.0.1:11332': `127.0.0.1:${port}`,
    '127.0.0.1:11400': `127.0.0.1:${checkPort}`,
  }
  const files = {
    'override.d/worker-proxy.inc': recipe('/etc/rspamd/override.d/worker-proxy.inc', changes),
    'override.d/worker-normal.inc': recipe('/etc/rspamd/override.d/worker-normal.inc'),
    'rspamd.conf': configuration(folder.at),
    suffixes: 'example\n',
  }
  await mkdir(path.join(folder.at, 'override.d'))
  for (const [name, text] of Object.entries(files))
    await writeFile(path.join(folder.at, name), text)
  const account = process.getuid?.() === 0 ? ['-u', 'nobody', '-g', 'nogroup'] : ['-i']
  const daemon = await startDaemon(
    ['/usr/bin/rspamd', '-f', ...account, '-c', path.join(folder.at, 'rspamd.conf')],
    { port, package: 'rspamd' },
  )
  return {
    port,
    log: daemon.said,
    async clear() {
      await daemon.stop()
      await folder.clear()
    },
  }
}

/** Returns the workers as Debian configures them, without the modules that only a scanner needs. */
function configuration(folder: string): string {
  const worker = (name: string, file: string) => `
worker "${name}" {
  .include "/etc/rspamd/${file}"
  .include(priority=10) "${folder}/override.d/${file}"
}`
  return `
options {
  pidfile = "${folder}/rspamd.pid";
  tempdir = "${folder}";
  filters = "";
  # To compile all public suffixes takes up to a minute.
  url_tld = "${folder}/suffixes";
  disable_hyperscan = true;
}
logging { type = "console"; level = "notice"; }
${worker('normal', 'worker-normal.inc')}
${worker('rspamd_proxy', 'worker-proxy.inc')}
`
}
