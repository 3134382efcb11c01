import { simpleParser } from 'mailparser'
import { beforeEach, expect, test } from 'vitest'
import { runAction } from '../../../src/actions.ts'
import { disablePartner, enablePartner } from '../../../src/feedback/partner-actions.ts'
import { takeAnswer } from '../../../src/feedback/take-answer.ts'
import { openNoticingApp } from '../../support/noticed-pages.ts'

const at = await openNoticingApp()
const { app } = at

const apwg = 'reportphishing@apwg.org'
const cert = 'incidents@cert.example'
const enable = (partner: string, address?: string) =>
  runAction(enablePartner, { partner, address }, app, null)
const disable = (partner: string) => runAction(disablePartner, { partner }, app, null)
const partnersOf = async (pageId: string) =>
  (await at.contacts(pageId)).filter((line) => line.startsWith('partner'))

let pages = 0
const newUrl = () => `https://secure.partner-${String.fromCharCode(97 + pages++)}.com/login`

beforeEach(() => app.pool.query('delete from partners'))

test('a partner gets one notice about each page that is confirmed once it is enabled', async () => {
  const before = await at.confirmed([newUrl()])
  expect(await enable('apwg')).toMatchObject({ done: 'enabled' })
  expect(await enable('cert')).toMatchObject({ problems: [{ field: 'address' }] })
  expect(await enable('cert', cert)).toMatchObject({ done: 'enabled' })
  const url = `${newUrl()}/Zq9xK2vLw7RtB41nPs80`
  const { pageId } = await at.confirmed([url, url.replace('Zq9', 'Yr8')], {
    key: `${new URL(url).host}/login/*`,
  })
  for (const id of [pageId, pageId, before.pageId]) await at.notify(id)
  const mails = await at.send()
  const told = mails.flatMap(({ to }) => to)
  expect(told.filter((to) => to === apwg || to === cert).toSorted()).toEqual([cert, apwg])
  expect(await partnersOf(before.pageId)).toEqual([])
  expect(await partnersOf(pageId)).toEqual([`partner ${apwg} sent`, `partner ${cert} sent`])
  const mail = mails.find(({ to }) => to.includes(apwg))
  const { text = '' } = await simpleParser(mail?.raw ?? '')
  const line = text.replace(/\s+/g, ' ')
  expect(line).toContain('warn people of it if you agree with us')
  expect(line).toContain('/login/redacted-')
  expect(line).not.toMatch(/Digital Services Act|Need more|You did not ask/)
  expect(`${text} ${mail?.raw.toString()}`).not.toMatch(/K2vLw7RtB41nPs80|person-m/)
})

test('a partner gets only the types that it takes, and nothing once it is disabled', async () => {
  await enable('apwg')
  await enable('netcraft')
  const malware = await at.confirmed([newUrl()], { type: 'malware' })
  await at.notify(malware.pageId)
  expect(await partnersOf(malware.pageId)).toEqual(['partner scam@netcraft.com queued'])
  await disable('netcraft')
  expect(await disable('netcraft')).toMatchObject({ unchanged: 'off' })
  await app.pool.query(
    `update feedback_reports set state = 'withdrawn'
     where address = 'scam@netcraft.com' and state = 'queued'`,
  )
  await at.notify(malware.pageId)
  expect(await partnersOf(malware.pageId)).toEqual(['partner scam@netcraft.com withdrawn'])
  const after = await at.confirmed([newUrl()], { type: 'malware' })
  await at.notify(after.pageId)
  expect(await partnersOf(after.pageId)).toEqual([])
  await at.send()
})

test('nobody else is asked after a partner, and a stopped partner gets nothing', async () => {
  await enable('apwg')
  const { pageId } = await at.confirmed([newUrl()])
  await at.notify(pageId)
  await at.send()
  const [notice] = await app.rows(
    `select report_id as "reportId", number from page_notices
     where page_id = $1 and contact = $2`,
    [pageId, apwg],
  )
  const key = notice as { reportId: string; number: number }
  const before = await at.contacts(pageId)
  await takeAnswer(at.tools, key, { answer: 'not-ours', how: 'link', said: undefined })
  expect(await at.contacts(pageId)).toEqual(before)
  await takeAnswer(at.tools, key, { answer: 'stop', how: 'link', said: undefined })
  const next = await at.confirmed([newUrl()])
  await at.notify(next.pageId)
  expect(await partnersOf(next.pageId)).toEqual([`partner ${apwg} spare`])
  await at.send()
})

test('partners learn of no page of a brand', async () => {
  await enable('netcraft')
  const { pageId } = await at.confirmed(['https://www.paypal.com/signin'])
  await at.notify(pageId)
  expect(await at.contacts(pageId)).toEqual([])
})
