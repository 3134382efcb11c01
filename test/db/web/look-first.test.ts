import { expect, test } from 'vitest'
import { closeAfterTests } from '../../support/after-tests.ts'
import { zipFile } from '../../support/containers/zip-file.ts'
import { spamMessage } from '../../support/messages.ts'
import { Browser, signedInBrowser } from './browser.ts'
import { startWebSite } from './web-site.ts'

const site = await closeAfterTests(startWebSite())
const ann = await site.addPerson('ann@reporters.example')
const browser = await signedInBrowser(site.url, ann)

type Given = readonly (readonly [name: string, content: Buffer])[]

/** Sends files to be looked into, and returns the part of the answer that the form shows. */
async function look(files: Given, by = browser): Promise<{ status: number; shown: string }> {
  const form = new FormData()
  for (const [name, content] of files)
    form.append('messages', new File([new Uint8Array(content)], name))
  const answer = await by.postForm('/report/look', form)
  const page = await answer.text()
  const shown = /<div id="look"[\s\S]*?<\/div>/.exec(page)?.[0] ?? ''
  return { status: answer.status, shown: shown.replaceAll(/\s+/g, ' ') }
}

async function countReports(): Promise<number> {
  const { rows } = await site.app.pool.query<{ n: number }>('select count(*) as n from reports')
  return Number(rows[0]?.n)
}

test('a message is shown as it was understood, and nothing is stored', async () => {
  const { status, shown } = await look([['spam.eml', spamMessage('looked at')]])
  expect(status).toBe(200)
  expect(shown).toContain('Cheap watches looked at')
  expect(shown).toContain('offers@shop.example')
  expect(shown).toContain('This is the complete message.')
  expect(shown).toContain('data-kind="spam"')
  expect(await countReports()).toBe(0)
})

test('a message without its route is said to be incomplete', async () => {
  const raw = spamMessage('forwarded')
    .toString()
    .replaceAll(/^Received:.*\r\n(?:[ \t].*\r\n)*/gm, '')
  const { shown } = await look([['forwarded.eml', Buffer.from(raw)]])
  expect(shown).toContain('The hidden lines that show its route are missing')
})

test('a message that asks for a password in haste is guessed to be phishing', async () => {
  const text = 'Your account is suspended. Verify your password immediately.'
  const raw = Buffer.from(`${spamMessage('hasty').toString()}\r\n${text}\r\n`)
  expect((await look([['a.eml', raw]])).shown).toContain('data-kind="phishing"')
})

test('the messages of an archive are listed, and those beyond ten are counted', async () => {
  const entries = Array.from({ length: 13 }, (_, at) => {
    return { name: `${at}.eml`, content: spamMessage(`number ${at}`) }
  })
  const { shown } = await look([['all.zip', zipFile(entries)]])
  expect(shown).toContain('(13 messages)')
  expect(shown.match(/Cheap watches number/g)).toHaveLength(10)
  expect(shown).toContain('and 3 more')
})

test('a file without a message says why it cannot be reported', async () => {
  const { shown } = await look([['<b>.txt', Buffer.from('nothing')]])
  expect(shown).toContain('&lt;b&gt;.txt')
  expect(shown).toContain('This is not a complete mail message')
  expect(shown).not.toContain('data-kind')
})

test('only a signed-in reporter may have files looked into', async () => {
  const stranger = await look([['spam.eml', spamMessage('stranger')]], new Browser(site.url))
  expect(stranger).toEqual({ status: 303, shown: '' })
  const form = new FormData()
  form.append('messages', new File([new Uint8Array(7_000_000)], 'large.eml'))
  expect((await browser.postForm('/report/look', form)).status).toBe(413)
})

test('a message that is too old to be passed on is said to be so before it is sent', async () => {
  const strict = await closeAfterTests(startWebSite({ MESSAGE_AGE_MAX: '168' }))
  const person = await strict.addPerson('eve@reporters.example')
  const by = await signedInBrowser(strict.url, person)
  const dated = (days: number) => {
    const at = new Date(Date.now() - days * 86_400_000).toUTCString().replace('GMT', '+0000')
    const text = spamMessage('dated').toString()
    return Buffer.from(`Date: ${at}\r\n${text.replaceAll(/^Date:.*\r\n/gm, '')}`)
  }
  const old =
    'The message is more than 7 days old. Your report counts, but no abuse team is notified.'
  expect((await look([['old.eml', dated(8)]], by)).shown).toContain(old)
  expect((await look([['new.eml', dated(6)]], by)).shown).not.toContain('days old')
  expect((await look([['old.eml', dated(8)]])).shown).not.toContain('days old')
})
