import { expect, test } from 'vitest'
import { closeAfterTests } from '../../../support/after-tests.ts'
import { spamMessage } from '../../../support/messages.ts'
import { signedInBrowser } from '../browser.ts'
import { startWebSite } from '../web-site.ts'

const site = await closeAfterTests(startWebSite())
const ann = await site.addPerson('ann@reporters.example')
const bob = await site.addPerson('bob@reporters.example')

test('a message is shown as text without links, to its reporter only', async () => {
  const body = 'Pay at https://www.bank.example/login.php <script>alert(1)</script>'
  const raw = Buffer.from(`${spamMessage('shown').toString()}\r\n${body}\r\n`)
  const id = await site.report(ann, raw)
  const browser = await signedInBrowser(site.url, ann)
  const page = await (await browser.get(`/reports/${id}/message`)).text()
  expect(page).toContain('Pay at hxxps://www[.]bank[.]example/login.php &lt;script&gt;alert(1)')
  const paper = /<pre class="paper"[\s\S]*<\/pre>/.exec(page)?.[0] ?? ''
  expect(paper).not.toMatch(/<a |<img|https?:/)
  const stranger = await signedInBrowser(site.url, bob)
  expect((await stranger.get(`/reports/${id}/message`)).status).toBe(404)
})

test('a message that is no longer stored says so', async () => {
  const id = await site.report(ann, spamMessage('gone'))
  await site.app.pool.query('delete from raw_messages where id = $1', [id])
  const browser = await signedInBrowser(site.url, ann)
  const page = await (await browser.get(`/reports/${id}/message`)).text()
  expect(page).toContain('The message is no longer stored.')
})
