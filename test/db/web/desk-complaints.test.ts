import { expect, test } from 'vitest'
import { findFeedback } from '../../../src/db/feedback-reports.ts'
import { dateOf, DAY_MS } from '../../../src/durations.ts'
import { consumerLink } from '../../../src/feedback/enroll.ts'
import { importNetworks } from '../../../src/processes/import-networks.ts'
import { readComplaintFigures } from '../../../src/reports/complaint-figures.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { sampleNetworks, spamMessage } from '../../support/messages.ts'
import { parser } from '../../support/parser.ts'
import { createSentFeedback, type SentFeedback } from '../../support/sent-feedback.ts'
import { Browser } from './browser.ts'
import { startWebSite } from './web-site.ts'

const site = await closeAfterTests(startWebSite())
await importNetworks(sampleNetworks, site.app)
const { pool } = site.app
const told: SentFeedback[] = []
for (const name of ['ann', 'ben', 'eve']) {
  const person = await site.addPerson(`${name}@provider.example`)
  for (let count = 1; count <= 4; count++) {
    const id = await site.report(person, spamMessage(`${name}-${count}`))
    told.push(await createSentFeedback(site.app, parser, id))
  }
}
const [first = { reportId: '', number: 1 }] = told
const { consumerId = '' } = (await findFeedback(pool, first)) ?? {}
const own = new URL(consumerLink(consumerId, site.app.config).url).pathname
const visitor = new Browser(site.url)

const figuresIn = (days: number) => {
  const clock = () => new Date(site.app.clock().getTime() + days * DAY_MS)
  return readComplaintFigures({ pool, clock }, consumerId)
}

test('complaints are counted by day, range and address when the day is settled', async () => {
  const day = dateOf(site.app.clock())
  const figures = await figuresIn(4)
  expect(figures.days).toHaveLength(30)
  expect(figures.days.filter(({ complaints }) => complaints !== null)).toEqual([
    { day, complaints: 12 },
  ])
  expect(figures.ranges).toEqual([{ day, name: '198.51.100.0/24', complaints: 12 }])
  expect(figures.addresses).toEqual([{ day, name: '198.51.100.23', complaints: 12 }])
  expect(figures.rates).toEqual([])
  const early = await figuresIn(1)
  expect(early.days.every(({ complaints }) => complaints === null)).toBe(true)
})

test('what was not sent to the desk does not count, and merged reports do', async () => {
  const states = ['withdrawn', 'held', 'shadowed']
  for (const [at, state] of states.entries()) {
    const text = `update feedback_reports set state = $1 where report_id = $2`
    await pool.query(text, [state, told[at]?.reportId])
  }
  expect((await figuresIn(4)).addresses).toEqual([])
  for (const { reportId } of told.slice(0, 3)) {
    const text = `update feedback_reports set state = 'merged', merged_into = $1, merged_number = 1
      where report_id = $2`
    await pool.query(text, [told[4]?.reportId, reportId])
  }
  expect((await figuresIn(4)).addresses).toMatchObject([{ complaints: 12 }])
})

test('the page, the CSV file and the API show the same, by the link of the desk only', async () => {
  const page = await visitor.get(`${own}/complaints`)
  const text = await page.text()
  expect([page.status, text]).toEqual([200, expect.stringContaining('fewer than 10')])
  expect(text).toContain('No day of the last 30 has enough complaints')
  const csv = await (await visitor.get(`${own}/complaints.csv`)).text()
  expect(csv).toBe('day,of,name,complaints\r\n')
  const token = own.replace(/.*\//, '')
  const ask = (authorization: string) =>
    fetch(`${site.url}/api/v1/desk/complaints`, { headers: { authorization } })
  const answer = await ask(`Bearer ${token}`)
  expect([answer.status, await answer.json()]).toMatchObject([200, { addresses: [], rates: [] }])
  expect((await ask('Bearer sp_none')).status).toBe(401)
  const forged = `${own.slice(0, -1)}${own.endsWith('a') ? 'b' : 'a'}`
  expect((await visitor.get(`${forged}/complaints`)).status).toBe(404)
})
