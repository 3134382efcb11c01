import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { codeBlocks } from '../support/documents.ts'
import { makeTestFolder } from '../support/after-tests.ts'
import { sampleMessage } from '../db/web/web-site.ts'

const root = path.join(import.meta.dirname, '../..')
const readme = 'clients/mutt/README.md'
const documented = codeBlocks({ path: readme, text: readFileSync(path.join(root, readme), 'utf8') })
const folder = await makeTestFolder()
const spool = path.join(folder, 'spool')
await mkdir(spool)
const settings = path.join(folder, 'muttrc')
await writeFile(
  settings,
  `${documented.map((block) => block.text).join('\n')}
set folder=${folder} spoolfile=${folder}/INBOX mbox_type=mbox
set confirmappend=no confirmcreate=no delete=yes quit=yes copy=no sort=mailbox-order
`,
)

/** Opens the mailbox in a terminal and types the keys; ends when Mutt does. */
async function type(mailbox: string, keys: string): Promise<string> {
  const command = `mutt -n -F ${settings} -f ${path.join(folder, mailbox)} -e 'push "${keys}"'`
  const env = {
    ...process.env,
    PATH: `${path.join(root, 'clients/spool')}:${process.env['PATH'] ?? ''}`,
    SIGNALPOST_SPOOL: spool,
    TERM: 'xterm',
    HOME: folder,
  }
  const mutt = spawn('script', ['--quiet', '--command', command, '/dev/null'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: 20_000,
  })
  return text(mutt.stdout)
}

const line = 'From a@x.example Mon Nov 16 10:00:00 2026\n'
const one = sampleMessage('mutt one').toString().replaceAll('\r\n', '\n')
const two = sampleMessage('mutt two').toString().replaceAll('\r\n', '\n')
const inbox = path.join(folder, 'INBOX')

/** Returns what Mutt put into the spool: the sender removes the separators of mailbox files. */
async function spooled(): Promise<[kind: string, message: string][]> {
  const names = (await readdir(spool)).sort()
  const fields = /^(?:From a@x|Status:|Lines:|Content-Length:).*\n/gm
  return Promise.all(
    names.map(async (name) => {
      const message = await readFile(path.join(spool, name), 'utf8')
      return [path.extname(name).slice(1), message.replaceAll(fields, '')]
    }),
  )
}

test('the keys report the message as it is, and move it', async () => {
  await writeFile(inbox, `${line}${one}\n${line}${two}\n`)
  const said = await type('INBOX', 'SP<quit>')
  expect(await spooled(), said).toEqual([
    ['spam', one],
    ['phishing', two],
  ])
  expect((await readFile(path.join(folder, 'Junk'), 'utf8')).match(/^From a@x/gm)).toHaveLength(2)
  await type('Junk', 'H<quit>')
  expect((await spooled()).at(-1)).toEqual(['not-spam', one])
})
