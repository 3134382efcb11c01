import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { checkedMail } from '../support/checked-mail.ts'
import { makeSite, type Site } from '../support/parts.ts'
import { type Program, until } from '../support/process.ts'
import { openFolder } from './daemon.ts'
import { type Dovecot, startDovecot } from './dovecot.ts'

const run = promisify(execFile)
let site: Site
let web: Program
let dovecot: Dovecot
let folder: Awaited<ReturnType<typeof openFolder>>

beforeEach(async () => {
  site = await makeSite()
  web = await site.start('web')
  dovecot = await startDovecot(site)
  folder = await openFolder('mail')
})
afterEach(async () => {
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

test('mail that users move into Junk is reported, mail they move out is retracted', async () => {
  await receive('moved')
  await move('INBOX', 'Junk')
  expect(await kinds(), dovecot.said()).toEqual(['spam'])
  await move('Junk', 'INBOX')
  expect(await kinds(), dovecot.said()).toEqual(['not-spam'])
})

test('mail that they move from Junk to the trash stays reported as spam', async () => {
  await receive('trashed')
  await move('INBOX', 'Junk')
  await move('Junk', 'Trash')
  expect(await kinds(), dovecot.said()).toEqual(['spam'])
})

test('a move succeeds even if Signalpost does not answer', async () => {
  await web.stop()
  await receive('lost')
  await move('INBOX', 'Junk')
  await until('the log', () => /curl|fail|exit/i.test(dovecot.said()) || undefined)
  await move('Junk', 'INBOX')
  expect(await kinds()).toEqual([])
})
