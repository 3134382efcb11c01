import { execFile } from 'node:child_process'
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { reportFiles } from '../../../src/cli/report.ts'
import { reportSpool } from '../../../src/cli/report-spool.ts'
import { findRawMessage } from '../../../src/db/reports.ts'
import { insertToken, type TokenScope } from '../../../src/db/sessions.ts'
import { createToken } from '../../../src/people/credentials.ts'
import { closeAfterTests, makeTestFolder } from '../../support/after-tests.ts'
import { outlookFile, traveledHeader } from '../../support/containers/outlook-file.ts'
import { sampleMessage, startWebSite } from '../web/web-site.ts'

const site = await closeAfterTests(startWebSite())
const ann = await site.addPerson('ann@reporters.example')
const root = await makeTestFolder()
const script = path.join(import.meta.dirname, '../../../clients/spool/signalpost-spool')

async function openSpool(name: string): Promise<string> {
  const folder = path.join(root, name)
  await mkdir(folder)
  return folder
}

/** Puts a message into the spool as a mail server does. Rejects with the exit code. */
async function put(
  folder: string,
  kind: string,
  message: Buffer | string,
  user = '',
): Promise<void> {
  const env = { ...process.env, SIGNALPOST_SPOOL: folder }
  const running = promisify(execFile)(script, [kind, user], { env })
  running.child.stdin?.on('error', () => undefined).end(message)
  await running
}

/** Reports the spool until `rounds` pauses are over; returns what was printed. */
async function run(folder: string, { url = site.url, token = ann.token, rounds = 1 } = {}) {
  const stop = new AbortController()
  const said: string[] = []
  const pauses: number[] = []
  const say = (line: string) => void said.push(line)
  const pause = async (ms: number) => {
    pauses.push(ms)
    if (pauses.length === rounds) stop.abort()
  }
  const io = { print: say, complain: say, signal: stop.signal, pause }
  await reportSpool({ folder, url, token }, io)
  return { said, pauses }
}

const waiting = async (folder: string) =>
  (await readdir(folder)).filter((name) => name !== 'refused').map((name) => path.extname(name))

async function kindsOf(mark: string): Promise<string[]> {
  const { rows } = await site.app.pool.query<{ kind: string }>(
    'select kind from reports where subject like $1 order by id',
    [`%${mark}%`],
  )
  return rows.map(({ kind }) => kind)
}

test('what was put into the spool is reported in order, and leaves it', async () => {
  const folder = await openSpool('order')
  await put(folder, 'spam', sampleMessage('spool-one'))
  await put(folder, 'phishing', sampleMessage('spool-two'))
  await put(folder, 'not-spam', sampleMessage('spool-one'))
  expect(await waiting(folder)).toEqual(['.spam', '.phishing', '.not-spam'])
  const { said } = await run(folder)
  expect(
    said.map((line) =>
      line
        .replace(/ as .*/, '')
        .split('.')
        .at(-1),
    ),
  ).toEqual(['spam: accepted', 'phishing: accepted', 'not-spam: accepted'])
  expect(await waiting(folder)).toEqual([])
  expect(await kindsOf('spool-one')).toEqual(['not-spam'])
})

test.for([
  ['nobody listens', { url: 'http://127.0.0.1:9' }],
  ['the token is not valid', { token: 'sp_wrong' }],
] as const)('while %s, everything stays, with growing pauses', async ([name, wrong]) => {
  const folder = await openSpool(name)
  await put(folder, 'spam', sampleMessage(`stays while ${name}`))
  const { said, pauses } = await run(folder, { ...wrong, rounds: 8 })
  expect(pauses.map((ms) => ms / 1_000)).toEqual([5, 10, 20, 40, 80, 160, 300, 300])
  expect(said[0]).toContain('next try in 5 s')
  expect(await waiting(folder)).toEqual(['.spam'])
  await run(folder)
  expect(await waiting(folder)).toEqual([])
})

test('what is no message, no file or not readable does not hold up the others', async () => {
  const folder = await openSpool('hostile')
  await promisify(execFile)('mkfifo', [path.join(folder, '1.pipe.spam')])
  await symlink('/etc/passwd', path.join(folder, '2.link.spam'))
  await writeFile(path.join(folder, '3.text.spam'), 'no message')
  await writeFile(path.join(folder, '.unfinished'), sampleMessage('unfinished'))
  await writeFile(path.join(folder, 'notes.txt'), sampleMessage('notes'))
  await put(folder, 'spam', sampleMessage('after the others'))
  const { said } = await run(folder)
  expect(said).toHaveLength(4)
  expect(await kindsOf('after the others')).toEqual(['spam'])
  expect((await readdir(path.join(folder, 'refused'))).sort()).toEqual([
    ...['1.pipe.spam', '2.link.spam', '3.text.spam'],
  ])
  expect((await waiting(folder)).sort()).toEqual(['', '.txt'])
})

test('users of a mail server are reporters of their own, without their names', async () => {
  const folder = await openSpool('users')
  for (const user of ['ann@provider.example', 'bob@provider.example']) {
    await put(folder, 'spam', sampleMessage('for a user'), user)
  }
  expect((await readdir(folder)).join()).not.toMatch(/ann|bob/)
  const made = createToken()
  const scopes: TokenScope[] = ['report', 'on-behalf']
  const about = { reporterId: ann.id, name: 'x', createdAt: new Date(), scopes }
  await insertToken(site.app.pool, { ...made, ...about })
  await run(folder, { token: made.token })
  const { rows } = await site.app.pool.query(
    `select distinct reporter_id from reports join reporters on reporters.id = reporter_id
     where provider_id = $1`,
    [ann.id],
  )
  expect(rows).toHaveLength(2)
})

test('the separator of a mailbox file is not part of the message', async () => {
  const folder = await openSpool('mbox')
  const message = sampleMessage('from a mailbox file')
  await put(folder, 'spam', Buffer.concat([Buffer.from('From a@x Mon Nov 16\n'), message]))
  await run(folder)
  const { rows } = await site.app.pool.query<{ id: string }>(
    `select id from reports where subject like '%from a mailbox file%'`,
  )
  expect(await findRawMessage(site.app.pool, rows[0]?.id ?? '')).toEqual(message)
})

test('a message that was sent before a crash is sent again, and counts once', async () => {
  const folder = await openSpool('again')
  const message = sampleMessage('sent twice')
  await put(folder, 'spam', message)
  const [name = ''] = await readdir(folder)
  await run(folder)
  await writeFile(path.join(folder, name), message)
  const { said } = await run(folder)
  expect(said[0]).toContain('reported before')
  expect(await kindsOf('sent twice')).toEqual(['spam'])
})

test('nothing incomplete gets into the spool', async () => {
  const folder = await openSpool('incomplete')
  await expect(put(folder, 'spam', '')).rejects.toMatchObject({ code: 75 })
  await expect(put(folder, 'eggs', 'x')).rejects.toMatchObject({ code: 64 })
  await expect(put('/nowhere', 'spam', 'x')).rejects.toMatchObject({ code: 75 })
  expect(await readdir(folder)).toEqual([])
})

test('an Outlook file is sent as it is', async () => {
  const file = path.join(root, 'saved.msg')
  await writeFile(file, outlookFile({ header: traveledHeader, text: 'x' }))
  const said: string[] = []
  const say = (line: string) => void said.push(line)
  const io = { stdin: process.stdin, print: say, complain: say }
  const request = { files: [file], url: site.url, token: ann.token, kind: 'spam' }
  expect(await reportFiles(request, io)).toBe(0)
  expect(said[0]).toMatch(/saved\.msg: accepted as [\da-f-]{36}/)
})
