import { execFile } from 'node:child_process'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { reportSpool } from '../../src/cli/report-spool.ts'
import { checkedMail } from '../support/checked-mail.ts'
import { makeSite, providerToken, type Site } from '../support/parts.ts'
import { type Program, until } from '../support/process.ts'
import { openFolder } from './daemon.ts'
import { type Dovecot, startDovecot } from './dovecot.ts'

const run = promisify(execFile)
let site: Site
let web: Program
let dovecot: Dovecot
let folder: Awaited<ReturnType<typeof openFolder>>
let stop: AbortController
let sending: Promise<void>
const said: string[] = []

beforeEach(async () => {
  site = await makeSite()
  web = await site.start('web')
  folder = await openFolder('mail')
  const spool = path.join(folder.at, 'spool')
  await mkdir(spool)
  // As in the documents: users add, and only the sender lists and removes.
  await chmod(spool, 0o3733)
  dovecot = await startDovecot(spool)
  stop = new AbortController()
  const say = (line: string) => void said.push(line)
  const pause = () => setTimeout(50)
  const io = { print: say, complain: say, signal: stop.signal, pause }
  sending = reportSpool({ folder: spool, url: site.url, token: await providerToken(site) }, io)
})
afterEach(async () => {
  stop.abort()
  await sending
  await dovecot.clear()
  await folder.clear()
  await site.clear()
})

/** Puts a message into the inbox as the only one. */
async function receive(mark: string): Promise<void> {
  const file = path.join(folder.at, mark)
  await writeFile(file, checkedMail(mark, 'https://good.example/'))
  await run('curl', ['--silent', '--show-error', '-T', file, dovecot.url('INBOX')])
}

/** Moves the first message of a mailbox into another, as a mail program does. */
async function move(from: string, to: string): Promise<void> {
  await run('curl', ['--silent', '--show-error', dovecot.url(from), '-X', `MOVE 1 ${to}`])
}

async function kinds(): Promise<string[]> {
  const { rows } = await site.database.pool.query<{ kind: string }>(
    'select kind from reports order by id',
  )
  return rows.map(({ kind }) => kind)
}

/** Waits until the kinds of the reports are these. */
async function expectKinds(expected: readonly string[]): Promise<void> {
  await expect.poll(kinds, { message: `${dovecot.said()}\n${said.join('\n')}` }).toEqual(expected)
}

test('mail that users move into Junk is reported, mail they move out is retracted', async () => {
  await receive('moved')
  await move('INBOX', 'Junk')
  await expectKinds(['spam'])
  await move('Junk', 'INBOX')
  await expectKinds(['not-spam'])
  const { rows } = await site.database.pool.query(
    `select from reports join reporters on reporters.id = reporter_id
     where provider_id is not null`,
  )
  expect(rows).toHaveLength(1)
})

test('mail that they move from Junk to the trash stays reported as spam', async () => {
  await receive('trashed')
  await move('INBOX', 'Junk')
  await move('Junk', 'Trash')
  await receive('later')
  await move('INBOX', 'Junk')
  await expectKinds(['spam', 'spam'])
})

test('while Signalpost is away, moves succeed at once, and nothing is lost', async () => {
  await web.stop()
  await receive('kept')
  await move('INBOX', 'Junk')
  await until('an attempt', () => said.some((line) => line.includes('next try')) || undefined)
  expect(await kinds()).toEqual([])
  web = await site.start('web')
  await expectKinds(['spam'])
})
