import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { ImapFlow } from 'imapflow'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { chanceFrom } from '../support/chance.ts'
import { checkedMail } from '../support/checked-mail.ts'
import { lettersTo } from '../support/letters.ts'
import { makeSite, providerToken, type Site } from '../support/parts.ts'
import { type Outcome, type Program, runProgram, startProgram } from '../support/process.ts'
import { openFolder } from './daemon.ts'
import { type Dovecot, startDovecot } from './dovecot.ts'

let site: Site
let web: Program
let dovecot: Dovecot
let folder: Awaited<ReturnType<typeof openFolder>>
let collectors: Program[] = []

beforeEach(async () => {
  site = await makeSite({ REPORTS_PER_MINUTE: '10000', SMTP_URL: 'smtp://127.0.0.1:9' })
  web = await site.start('web')
  folder = await openFolder('collect')
  dovecot = await startDovecot()
  await writeFile(path.join(folder.at, 'password'), 'password\n')
  await writeFile(path.join(folder.at, 'token'), `${await providerToken(site)}\n`)
})
afterEach(async () => {
  await Promise.all(collectors.map((one) => one.stop()))
  collectors = []
  await dovecot.clear()
  await folder.clear()
  await site.clear()
})

/** Writes the file of a collector; an account is a list of lines. */
async function configure(...accounts: string[][]): Promise<string> {
  const file = path.join(folder.at, 'collector.yaml')
  const lines = accounts.map((account) => `  - ${account.join('\n    ')}`)
  const top = [`to: ${site.url}`, 'token-file: token', 'message-bytes-max: 100000', 'accounts:']
  await writeFile(file, `${[...top, ...lines].join('\n')}\n`)
  return file
}

function account(user: string, ...folders: string[]): string[] {
  return [
    `user: ${user}`,
    'host: 127.0.0.1',
    `port: ${dovecot.port}`,
    'security: none',
    'password-file: password',
    `on-behalf-of: ${user}`,
    'folders:',
    ...folders.map((one) => `  - ${one}`),
  ]
}

function collect(file: string): Program {
  const program = startProgram(['collect', 'imap', file], {})
  collectors.push(program)
  return program
}

const collectOnce = (file: string): Promise<Outcome> =>
  runProgram(['collect', 'imap', file, '--once'], {})

/** Acts as a mail program of a user. */
async function asUser<T>(user: string, act: (client: ImapFlow) => Promise<T>): Promise<T> {
  const auth = { user, pass: 'password' }
  const client = new ImapFlow({ ...dovecotAt(), auth, logger: false })
  await client.connect()
  try {
    return await act(client)
  } finally {
    await client.logout()
  }
}

const dovecotAt = () => ({ host: '127.0.0.1', port: dovecot.port, secure: false })

async function marks(user: string, mailbox: string): Promise<string[][]> {
  return asUser(user, async (client) => {
    const box = await client.mailboxOpen(mailbox)
    if (box.exists === 0) return []
    const all = await client.fetchAll('1:*', { flags: true })
    return all.map(({ flags }) => [...(flags ?? [])].filter((flag) => flag.startsWith('$')))
  })
}

/** The kind of each report, and the hash of its message. */
async function reports(): Promise<{ kind: string; hash: string; user: boolean }[]> {
  const { rows } = await site.database.pool.query<{ kind: string; hash: string; user: boolean }>(
    `select kind, encode(content_hash, 'hex') as hash, provider_id is not null as user
     from reports
     join report_keys on report_id = reports.id
     join reporters on reporters.id = reports.reporter_id
     order by reports.id`,
  )
  return rows
}

const hashOf = (mail: Buffer) => createHash('sha256').update(mail).digest('hex')

test('what users move into folders is reported at once, then moved or marked', async () => {
  await asUser('ann', async (client) => {
    await client.mailboxCreate('Report phishing')
    await client.append('INBOX', checkedMail('moved', 'https://good.example/'))
    await client.append('Junk', checkedMail('there before', 'https://good.example/'))
  })
  const file = await configure(
    account(
      'ann',
      '{ name: Report phishing, kind: phishing, move-to: Trash }',
      '{ name: Junk, kind: spam }',
    ),
    account('bob', '{ name: Junk, kind: not-spam }'),
  )
  const collector = collect(file)
  await collector.says(/"Junk", UID 1: accepted/)
  await asUser('ann', async (client) => {
    await client.mailboxOpen('INBOX')
    await client.messageMove('1', 'Report phishing')
  })
  await collector.says(/"Report phishing", UID 1: accepted/)
  await asUser('bob', (client) =>
    client.append('Junk', checkedMail('bob', 'https://good.example/')),
  )
  await collector.says(/bob, folder "Junk", UID 1: accepted/)
  const sent = ['there before', 'moved', 'bob'].map((mark) =>
    hashOf(checkedMail(mark, 'https://good.example/')),
  )
  expect(await reports()).toEqual(
    ['spam', 'phishing', 'not-spam'].map((kind, at) => ({ kind, hash: sent[at], user: true })),
  )
  await expect.poll(() => marks('ann', 'Report phishing')).toEqual([])
  expect(await marks('ann', 'Trash')).toEqual([[]])
  expect(await marks('ann', 'Junk')).toEqual([['$SignalpostReported']])
  expect(await collector.stop()).toEqual({ code: 0, signal: null })
  const { code, stdout } = await collectOnce(file)
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
})

test('a collector killed at random moments loses no report and doubles none', async () => {
  const chance = chanceFrom(7)
  await asUser('ann', (client) => client.mailboxCreate('Reported'))
  const file = await configure(
    account('ann', '{ name: Junk, kind: spam, move-to: Reported }', '{ name: Trash, kind: spam }'),
  )
  let [arrived, kills] = [0, 0]
  // Mail arrives until the last kill, however slow the machine is: each collector finds some.
  const arriving = asUser('ann', async (client) => {
    for (; kills < 12 || arrived % 2 === 1; arrived++) {
      const mail = checkedMail(`number ${arrived}`, 'https://good.example/')
      await client.append(arrived % 2 === 0 ? 'Junk' : 'Trash', mail)
      await wait(100 * chance())
    }
  })
  for (; kills < 12; kills++) {
    const collector = collect(file)
    // Some are killed while they start or connect, others between two reports.
    if (chance() < 0.7) await collector.says(/accepted|reported before/).catch(() => undefined)
    await wait(500 * chance())
    collector.kill('SIGKILL')
    await collector.ended
  }
  await arriving
  expect(await collectOnce(file)).toMatchObject({ code: 0, stderr: '' })
  const expected = Array.from({ length: arrived }, (_, at) =>
    hashOf(checkedMail(`number ${at}`, 'https://good.example/')),
  )
  expect((await reports()).map(({ hash }) => hash).toSorted()).toEqual(expected.toSorted())
  expect(await marks('ann', 'Junk')).toEqual([])
  expect(await marks('ann', 'Reported')).toHaveLength(arrived / 2)
  expect(await marks('ann', 'Trash')).toEqual(Array(arrived / 2).fill(['$SignalpostReported']))
})

test('two collectors of one folder do not disturb each other', async () => {
  await asUser('ann', async (client) => {
    await client.mailboxCreate('Reported')
    for (let at = 0; at < 40; at++)
      await client.append('Junk', checkedMail(`shared ${at}`, 'https://good.example/'))
  })
  const file = await configure(account('ann', '{ name: Junk, kind: spam, move-to: Reported }'))
  const both = await Promise.all([collectOnce(file), collectOnce(file)])
  for (const outcome of both) expect(outcome).toMatchObject({ code: 0, stderr: '' })
  expect(await reports()).toHaveLength(40)
  expect(await marks('ann', 'Junk')).toEqual([])
})

test('a test message is asked for and reported, and nothing else of its folder', async () => {
  const file = await configure(account('ann', '{ name: INBOX, kind: test-messages }'))
  const other = checkedMail('of ann', 'https://good.example/')
  await asUser('ann', (client) => client.append('INBOX', other))
  expect(await collectOnce(file)).toMatchObject({ code: 0, stdout: '', stderr: '' })
  const [letter, ...more] = await lettersTo(site.database.pool, 'ann@reporters.example')
  expect([letter?.kind, more]).toEqual(['probe', []])
  const arrived = Buffer.from(
    `Received: from x by y; Mon, 16 Nov 2026 10:00:02 +0000\r\n${letter?.raw}`,
  )
  const forged = arrived.toString('latin1').replace(/^Message-ID: <letter/m, '$&2')
  await asUser('ann', async (client) => {
    await client.append('INBOX', Buffer.from(forged, 'latin1'))
    await client.append('INBOX', arrived)
  })
  const { code, stdout } = await collectOnce(file)
  expect([code, stdout]).toEqual([0, expect.stringMatching(/INBOX", UID 3: accepted/)])
  // It shows the way for the account of the token, and so for all its users.
  expect(await reports()).toEqual([{ kind: 'spam', hash: hashOf(arrived), user: false }])
  expect(await marks('ann', 'INBOX')).toEqual([[], [], ['$SignalpostReported']])
  expect(await collectOnce(file)).toMatchObject({ code: 0, stdout: '', stderr: '' })
  expect(await lettersTo(site.database.pool, 'ann@reporters.example')).toHaveLength(1)
})

test('a folder of complaints reports the message in each', async () => {
  const message = checkedMail('complained', 'https://good.example/')
  const complaint = [
    ...['Subject: FW: x', 'Content-Type: multipart/report; boundary=b', '', '--b'],
    ...['Content-Type: message/feedback-report', '', 'Feedback-Type: fraud', '', '--b'],
    ...['Content-Type: message/rfc822', '', `${message.toString()}`, '--b--', ''],
  ]
  await asUser('ann', async (client) => {
    await client.append('Junk', Buffer.from(complaint.join('\r\n')))
    await client.append('Junk', Buffer.from('Subject: Please confirm\r\n\r\nClick here.\r\n'))
  })
  const { stderr } = await collectOnce(
    await configure(account('ann', '{ name: Junk, kind: complaints, move-to: Trash }')),
  )
  expect(stderr).toMatch(/UID 2: This is not a complaint about a message\. It stays/)
  expect(await reports()).toEqual([{ kind: 'phishing', hash: hashOf(message), user: true }])
  expect(await marks('ann', 'Junk')).toEqual([['$SignalpostRefused']])
})

test('it goes on after the IMAP server or the service was away', async () => {
  const file = await configure(account('ann', '{ name: Junk, kind: spam }'))
  const collector = collect(file)
  await web.stop()
  const mail = checkedMail('away', 'https://good.example/')
  await asUser('ann', (client) => client.append('Junk', mail))
  await collector.says(/Cannot report to .* Next try in 5 s/)
  web = await site.start('web')
  await collector.says(/UID 1: accepted/)
  await dovecot.restart()
  await collector.says(/connection .* Next try in 5 s/i)
  await asUser('ann', (client) =>
    client.append('Junk', checkedMail('later', 'https://good.example/')),
  )
  await collector.says(/UID 2: accepted/)
  expect(await reports()).toHaveLength(2)
})

test('a server without MOVE and IDLE is enough', async () => {
  await dovecot.clear()
  dovecot = await startDovecot(undefined, 'IMAP4rev1 UIDPLUS')
  const mail = checkedMail('old server', 'https://good.example/')
  await asUser('ann', (client) => client.append('Junk', mail))
  const file = await configure(account('ann', '{ name: Junk, kind: spam, move-to: Trash }'))
  expect(await collectOnce(file)).toMatchObject({ code: 0, stderr: '' })
  expect(await reports()).toEqual([{ kind: 'spam', hash: hashOf(mail), user: true }])
  expect(await marks('ann', 'Junk')).toEqual([])
  expect(await marks('ann', 'Trash')).toEqual([[]])
})

test('a wrong password, a missing folder and a large message have clear errors', async () => {
  await writeFile(path.join(folder.at, 'wrong'), 'other')
  const wrong = account('bob', '{ name: Junk, kind: spam }').map((line) =>
    line.replace('password-file: password', 'password-file: wrong'),
  )
  const missing = '{ name: Spam, kind: spam }'
  const file = await configure(wrong, account('ann', missing, '{ name: Junk, kind: spam }'))
  await asUser('ann', (client) => client.append('Junk', Buffer.alloc(120_000, 'x\r\n')))
  const { code, stderr } = await collectOnce(file)
  expect(code).toBe(1)
  expect(stderr.replace(folder.at, 'DIR').split('\n').toSorted()).toEqual([
    '',
    expect.stringContaining('ann, folder "Junk", UID 1: The message has 120000 bytes'),
    expect.stringContaining('ann, folder "Spam": There is no folder "Spam". The account has "'),
    expect.stringContaining(
      '127.0.0.1 does not accept the user "bob" with the secret in DIR/wrong',
    ),
  ])
  expect(await marks('ann', 'Junk')).toEqual([['$SignalpostRefused']])
  expect(await reports()).toEqual([])
})
