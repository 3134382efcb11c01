import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { until } from '../support/process.ts'

const run = promisify(execFile)
const [plugin] = globSync('/usr/lib/*/claws-mail/plugins/spamreport.so')
const installing = 'apt-get install claws-mail-spam-report xvfb xdotool'

/** A real Claws Mail with its plug-in for reports, one message, and a display of its own. */
export type ClawsMail = {
  /** Chooses "Report spam online…" for the message. */
  report: () => Promise<void>
  said: () => string
  clear: () => Promise<void>
}

export type ClawsGiven = {
  message: Buffer
  smtpPort: number
  /** Lines of the section SpamReport of its settings. */
  settings: string
  /** Replace these files for Claws Mail alone. */
  hosts: string
  certificates: string
}

/**
 * Starts Claws Mail with an empty folder as its home.
 *
 * @throws Error if it is not installed, or if the test does not run as root, which mounts require
 */
export async function startClawsMail(home: string, given: ClawsGiven): Promise<ClawsMail> {
  if (plugin === undefined) throw new Error(`Claws Mail or its plug-in is missing: ${installing}`)
  await writeHome(home, given)
  const display = await startDisplay()
  const env = { PATH: process.env['PATH'], HOME: home, DISPLAY: `:${display.number}` }
  const mounted = [
    `mount --bind ${given.hosts} /etc/hosts`,
    `mount --bind ${given.certificates} /etc/ssl/certs/ca-certificates.crt`,
    "exec claws-mail --debug --select '#mh/Mail/inbox/1'",
  ].join(' && ')
  const claws = spawn('unshare', ['--mount', 'sh', '-c', mounted], { env })
  let text = ''
  for (const stream of [claws.stdout, claws.stderr]) {
    stream.on('data', (chunk) => (text += String(chunk)))
  }
  const ended = once(claws, 'exit')
  return {
    async report() {
      await until('the message', () => text.includes('summary_display_msg_full') || undefined)
      const window = ['search', '--onlyvisible', '--name', 'Claws Mail']
      await run('xdotool', [...window, 'windowfocus', '--sync', 'key', 'ctrl+F9'], { env })
    },
    said: () => text,
    async clear() {
      claws.kill('SIGKILL')
      await ended
      await display.clear()
    },
  }
}

/** Starts an X server without a screen, on a free display. */
async function startDisplay(): Promise<{ number: string; clear: () => Promise<void> }> {
  const args = ['-displayfd', '3', '-screen', '0', '1000x700x24', '-nolisten', 'tcp']
  const server = spawn('Xvfb', args, { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] })
  const failed = once(server, 'error').then(([cause]) => {
    throw new Error(`Xvfb is missing: ${installing}`, { cause })
  })
  const ended = once(server, 'exit')
  const lines = createInterface({ input: server.stdio[3] as Readable })
  const [number] = (await Promise.race([once(lines, 'line'), failed])) as [string]
  return {
    number,
    async clear() {
      server.kill()
      await ended
    },
  }
}

async function writeHome(home: string, given: ClawsGiven): Promise<void> {
  const folders = ['inbox', 'outbox', 'draft', 'queue', 'trash']
  for (const name of folders) await mkdir(path.join(home, 'Mail', name), { recursive: true })
  await writeFile(path.join(home, 'Mail/inbox/1'), given.message)
  const items = folders.map((name) => `<folderitem type="${name}" name="${name}" path="${name}"/>`)
  const files = {
    accountrc: `[Account: 1]
account_name=Ann
is_default=1
name=Ann
address=ann@reporters.example
protocol=4
smtp_server=127.0.0.1
set_smtpport=1
smtp_port=${given.smtpPort}
ssl_smtp=0
`,
    clawsrc: `[Common]
send_dialog_invisible=1
enable_aspell=0
[Plugins_GTK3]
${plugin}
[SpamReport]
${given.settings}
`,
    'folderlist.xml': `<?xml version="1.0" encoding="UTF-8"?>
<folderlist><folder type="mh" name="Mail" path="Mail">${items.join('')}</folder></folderlist>
`,
    menurc: '(gtk_accel_path "<Actions>/Menu/Message/ReportSpam" "<Primary>F9")\n',
  }
  await mkdir(path.join(home, '.claws-mail'))
  for (const [name, text] of Object.entries(files)) {
    await writeFile(path.join(home, '.claws-mail', name), text)
  }
}
