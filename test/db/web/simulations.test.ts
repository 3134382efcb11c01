import { expect, test } from 'vitest'
import { insertSimulationReports } from '../../../src/db/simulations.ts'
import { runAnalyzeReport } from '../../../src/reports/analyze-report.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { testJudge } from '../../support/judge.ts'
import { spamMessage } from '../../support/messages.ts'
import { parser } from '../../support/parser.ts'
import { signedInBrowser } from './browser.ts'
import { startWebSite } from './web-site.ts'

const site = await closeAfterTests(startWebSite())
const { app } = site
const ann = await site.addPerson('ann@reporters.example')
const operator = await site.addPerson('operator@desk.example', { role: 'operator' })
const viewer = await site.addPerson('viewer@desk.example', { role: 'viewer' })
const desk = await signedInBrowser(site.url, operator)

test('a simulation with a key is added, and its reporter is thanked', async () => {
  const key = (await (await desk.get('/admin/simulations/key.txt')).text()).trim()
  const readers = await signedInBrowser(site.url, viewer)
  expect((await readers.get('/admin/simulations/key.txt')).status).toBe(403)
  const form = { name: '=Spring', vendor: 'knowbe4', recipients: '4', do: 'add' }
  const added = await desk.post('/admin/simulations', { ...form, key })
  expect(added.headers.get('location')).toContain('done=added')

  const text = spamMessage('thanked').toString()
  const raw = Buffer.from(text.replace('From:', `X-PHISHTEST: 1\r\nX-Key: ${key}\r\nFrom:`))
  const id = await site.report(ann, raw)
  const judge = testJudge(app.pool, app.clock)
  await runAnalyzeReport([{ reportId: id }], { ...app, parser, judge, rdap: undefined })
  const own = await signedInBrowser(site.url, ann)
  const story = await (await own.get(`/reports/${id}`)).text()
  expect(story).toContain('Thank you. You recognized a phishing simulation of your organization.')
  expect(story).not.toContain('Please answer')
  const headers = { authorization: `Bearer ${ann.token}` }
  const read = await fetch(`${site.url}/api/v1/reports/${id}`, { headers })
  expect(await read.json()).toMatchObject({ outcome: 'simulation', status: 'kept' })

  const few = await (await desk.get('/admin/simulations')).text()
  expect(few).toContain('fewer than 3 of 4')
  const simulationId = /name="id" value="([0-9a-f-]{36})"/.exec(few)?.[1] ?? ''
  const others = ['bob', 'eve'].map((name, n) => ({
    ...{ simulationId, person: Buffer.from(name.padEnd(16)) },
    ...{ reportedAt: new Date(), seconds: 120 + n * 3_600 },
  }))
  await insertSimulationReports(app.pool, others)
  const csv = await (await desk.get('/admin/simulations/export.csv')).text()
  expect(csv).toMatch(/,'=Spring,knowbe4,[^,]*,,4,3,0\.75,120,\d+\r\n$/)
  for (const shown of [few, csv]) expect(shown).not.toContain(key)
})

test('a refused form says what to do', async () => {
  const refused = await desk.post('/admin/simulations', { name: 'x', vendor: 'other', do: 'add' })
  expect(refused.status).toBe(422)
  expect(await refused.text()).toContain('Without proof, anybody could write such mail.')
})
