import { expect, test } from 'vitest'
import { operations } from '../../../src/cli/explain.ts'
import type { ReportJson } from '../../../src/web/api/reports.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { checkedMail } from '../../support/checked-mail.ts'
import { runCommand } from '../../support/command.ts'
import { signedInBrowser } from './browser.ts'
import { openCheckSite } from './check-site.ts'
import { keepAnalysis } from './kept-analysis.ts'
import { sampleMessage, startWebSite } from './web-site.ts'

const part = '--b\r\nContent-Type: text/plain\r\n\r\nSee https://b.example/ now\r\n'

/** A message with more parts than are read. */
function withManyParts(raw: Buffer): Buffer<ArrayBuffer> {
  const [header = ''] = raw.toString().split(/(?<=\r\n)\r\n/, 1)
  const others = header.replace(/^Content-[^\n]*\n/gim, '')
  const type = 'Content-Type: multipart/mixed; boundary=b'
  return Buffer.from(`${others}${type}\r\n\r\n${part.repeat(1_500)}--b--\r\n`)
}

test('a report that is analyzed from header and links alone says so everywhere', async () => {
  const site = await closeAfterTests(startWebSite())
  const admin = await site.addPerson('admin@desk.example', { role: 'administrator' })
  const desk = await signedInBrowser(site.url, admin)
  const [raw, other] = [sampleMessage('reduced'), sampleMessage('whole')]
  const [id, wholeId] = [await site.report(admin, raw), await site.report(admin, other)]
  await keepAnalysis(site.app.pool, id, withManyParts(raw))
  await keepAnalysis(site.app.pool, wholeId, other)
  const headers = { authorization: `Bearer ${admin.token}` }
  for (const [one, isReduced] of [
    [id, true],
    [wholeId, false],
  ] as const) {
    const answer = await fetch(`${site.url}/api/v1/reports/${one}`, { headers })
    const report = (await answer.json()) as ReportJson
    expect(report.is_reduced).toBe(isReduced)
    const page = await (await desk.get(`/reports/${one}`)).text()
    expect(page.includes('We could not read the body of this message.')).toBe(isReduced)
    const adminPage = await (await desk.get(`/admin/reports/${one}`)).text()
    expect(adminPage.includes('The body could not be read.')).toBe(isReduced)
    const explained = await runCommand(operations, [one], site.app)
    expect(explained.stdout.includes('The body could not be read.')).toBe(isReduced)
  }
})

test('a mail server gets a verdict on a message whose body or parts cannot be read', async () => {
  const site = await closeAfterTests(openCheckSite())
  const client = { ip: '9.9.9.10', helo: 'mx.shop.example', from: 'offers@shop.example' }
  const mail = checkedMail('odd', 'https://good.example/')
  const odd = ['; name="x.jpg"', '', ';', '"";'].map((type) =>
    Buffer.from(mail.toString().replace(/^Content-Type:.*$/m, `Content-Type: ${type}\r`)),
  )
  for (const raw of [withManyParts(mail), ...odd]) {
    const { json } = await site.post('/checkv2', raw, client)
    expect(json).toMatchObject({ is_skipped: false, action: 'no action' })
    expect(json.symbols).not.toHaveProperty('NO_VERDICT')
  }
})
