import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { checkedMail } from '../support/checked-mail.ts'
import { makeSite, type Site } from '../support/parts.ts'
import type { Program } from '../support/process.ts'
import { openFolder } from './daemon.ts'
import { type Dovecot, startDovecot } from './dovecot.ts'
import { startThunderbird, type Thunderbird } from './thunderbird.ts'

const run = promisify(execFile)
let site: Site
let web: Program
let dovecot: Dovecot
let folder: Awaited<ReturnType<typeof openFolder>>
let thunderbird: Thunderbird | undefined

beforeEach(async () => {
  site = await makeSite()
  web = await site.start('web')
  dovecot = await startDovecot()
  folder = await openFolder('thunderbird')
})
afterEach(async () => {
  await thunderbird?.quit()
  await dovecot.clear()
  await folder.clear()
  await site.clear()
})

async function receive(mark: string): Promise<void> {
  const file = path.join(folder.at, mark)
  await writeFile(file, checkedMail(mark, 'https://good.example/'))
  await run('curl', ['--silent', '--show-error', '-T', file, dovecot.url('INBOX')])
}

/** Returns the SHA-256 of a message on the IMAP server. */
async function hashOnServer(mailbox: string, uid: number): Promise<string> {
  const url = `${dovecot.url(mailbox)};UID=${uid}`
  const { stdout } = await run('curl', ['--silent', url], { encoding: 'buffer' })
  return createHash('sha256').update(stdout).digest('hex')
}

type Reported = { id: string; kind: string }

async function reports(): Promise<Reported[]> {
  const { rows } = await site.database.pool.query<Reported>(
    'select id, kind from reports order by id',
  )
  return rows
}

async function hashOfReport({ id }: Reported): Promise<string> {
  const headers = { authorization: `Bearer ${site.token}` }
  const response = await fetch(`${site.url}/api/v1/reports/${id}/raw`, { headers })
  return createHash('sha256')
    .update(Buffer.from(await response.arrayBuffer()))
    .digest('hex')
}

const start = (more: Record<string, unknown> = {}) =>
  startThunderbird(folder.at, {
    imapPort: dovecot.port,
    policy: { server: site.url, token: site.token, ...more },
  })

/** Opens a message of the inbox, by its number in the list. */
const openMessage = (number = 0) => `
  const pane = window.gTabmail.currentAbout3Pane
  await find('message', () => pane.gDBView?.rowCount > ${number} && pane.threadTree)
  pane.threadTree.selectedIndex = ${number}
  const page = window.gTabmail.currentAboutMessage
  const button = await find('button', () =>
    page.document.querySelector('[id$="-messageDisplayAction-toolbarbutton"]'))
  const { messageKey } = pane.gDBView.getMsgHdrAt(${number})
  await find('message shown', () => page.gMessage?.messageKey === messageKey)`

/** A press of the mouse, which is the event that Thunderbird's buttons act on. */
const click = "button.dispatchEvent(new page.MouseEvent('mousedown', { button: 0, bubbles: true }))"

test('a click in the header reports the message byte for byte and moves it to Junk', async () => {
  await receive('clicked')
  const before = await hashOnServer('INBOX', 1)
  thunderbird = await start()
  await thunderbird.run(`${openMessage()}; ${click}`)
  await expect.poll(reports).toMatchObject([{ kind: 'spam' }])
  await expect.poll(() => hashOnServer('Junk', 1)).toBe(before)
  const [report] = await reports()
  expect(report && (await hashOfReport(report))).toBe(before)
})

test('several messages are reported as phishing from the context menu', async () => {
  await receive('first')
  await receive('second')
  thunderbird = await start({ movesToJunk: false })
  await thunderbird.run(`
    const pane = window.gTabmail.currentAbout3Pane
    await find('messages', () => pane.gDBView?.rowCount === 2 && pane.threadTree)
    pane.threadTree.selectedIndices = [0, 1]
    const row = await find('row', () => pane.threadTree.getRowAtIndex(0))
    row.dispatchEvent(new pane.MouseEvent('contextmenu', { bubbles: true, button: 2 }))
    const menu = pane.document.getElementById('mailContext')
    await find('open menu', () => menu.state === 'open')
    const item = await find('item', () => menu.querySelector('[label="Report phishing"]'))
    item.parentNode.openPopup?.(null)
    await find('open items', () => !item.parentNode.state || item.parentNode.state === 'open')
    item.parentNode.activateItem(item)`)
  await expect.poll(reports).toMatchObject([{ kind: 'phishing' }, { kind: 'phishing' }])
})

test('a message that the user marks as Junk is reported, if wished', async () => {
  await receive('junk')
  thunderbird = await start({ reportsJunk: true })
  await thunderbird.run(`${openMessage()}; pane.commandController.doCommand('cmd_markAsJunk')`)
  await expect.poll(reports).toMatchObject([{ kind: 'spam' }])
})

test('a message is sent once, however often it is reported', async () => {
  await receive('often')
  await receive('later')
  thunderbird = await start({ reportsJunk: true, movesToJunk: false })
  await thunderbird.run(`${openMessage(1)}; ${click}; ${click}`)
  await expect.poll(reports).toHaveLength(1)
  const mark = "pane.commandController.doCommand('cmd_markAsJunk')"
  await thunderbird.run(`${openMessage(1)}; ${click}; ${mark}`)
  // The reports are sent in order.
  await thunderbird.run(`${openMessage()}; ${click}`)
  await expect.poll(reports).toHaveLength(2)
  const metrics = await (await fetch(`${site.url}/metrics`)).text()
  const posts = [...metrics.matchAll(/_count\{method="POST",route="\/api\/v1\/reports".*\} (\d+)/g)]
  expect(posts.map(([, count]) => Number(count))).toEqual([2])
})

test('what was reported while the service was away is sent after a restart', async () => {
  await receive('kept')
  const before = await hashOnServer('INBOX', 1)
  await web.stop()
  thunderbird = await start()
  await thunderbird.run(`${openMessage()}; ${click}`)
  await expect.poll(() => hashOnServer('Junk', 1)).toBe(before)
  await thunderbird.quit()
  web = await site.start('web')
  expect(await reports()).toEqual([])
  thunderbird = await start()
  await expect.poll(reports).toMatchObject([{ kind: 'spam' }])
  const [report] = await reports()
  expect(report && (await hashOfReport(report))).toBe(before)
})
