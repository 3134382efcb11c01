import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '../support/free-port.ts'
import { openFolder, startDaemon } from './daemon.ts'
import { recipe } from './recipes.ts'

/** A real Haraka on the loopback interface. */
export type Haraka = {
  port: number
  log: () => string
  /** Ends the server and removes its files. */
  clear: () => Promise<void>
}

const run = promisify(execFile)
const program = path.join(import.meta.dirname, 'haraka/node_modules/Haraka/bin/haraka')
const installing = 'npm ci --ignore-scripts --omit=optional --prefix test/system/haraka'

/**
 * Starts a Haraka for `home.example` that sends checks to `checkPort` as documented, and sends
 * accepted mail to the mail server on `nextPort`.
 *
 * @throws Error if it is not installed, because a skipped test would show nothing
 */
export async function startHaraka(checkPort: number, nextPort: number): Promise<Haraka> {
  const folder = await openFolder('haraka')
  const at = path.join(folder.at, 'haraka')
  await run(process.execPath, [program, '--install', at]).catch((cause: unknown) => {
    throw new Error(`Haraka is missing: ${installing}`, { cause })
  })
  const port = await freePort()
  const asking = recipe('config/rspamd.ini', { 'port = 11400': `port = ${checkPort}` })
  const files = {
    plugins: 'rcpt_to.in_host_list\nrspamd\nqueue/smtp_forward\n',
    host_list: 'home.example\n',
    // The mail of these tests comes from this machine.
    'rspamd.ini': `${asking}[check]\nlocal_ip = true\n`,
    'smtp.ini': `listen = 127.0.0.1:${port}\n`,
    'smtp_forward.ini': `host = 127.0.0.1\nport = ${nextPort}\n`,
  }
  for (const [name, text] of Object.entries(files)) {
    await writeFile(path.join(at, 'config', name), text)
  }
  const daemon = await startDaemon([process.execPath, program, '--configs', at], {
    port,
    package: 'nodejs',
  })
  return {
    port,
    log: daemon.said,
    async clear() {
      await daemon.stop()
      await folder.clear()
    },
  }
}
