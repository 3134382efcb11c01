import { expect, test } from 'vitest'
import { listAudit } from '../../../src/db/audit-log.ts'
import { listModels, updateAgreement, updateOwnTest } from '../../../src/db/models.ts'
import { keepModel } from '../../../src/judging/models.ts'
import { figuresOf, type ModelReport, shareOf } from '../../../src/verdict/model/figures.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { sureModel } from '../../support/models.ts'
import { signedInBrowser } from './browser.ts'
import { startWebSite } from './web-site.ts'

const scored = Array.from({ length: 40 }, (_, n) => ({
  probability: n / 40,
  isUnwanted: n % 10 < n / 4,
  isSure: n > 38,
}))
const report: ModelReport = {
  sources: ['40 files'],
  split: 'campaign',
  seed: 1,
  rows: { train: { phishing: 30, ham: 20 }, test: { ham: 9 }, leftOut: 3 },
  campaigns: 37,
  features: 12,
  ...figuresOf(scored),
  importance: [{ feature: 'links.hosts', share: 0.75 }],
  pieces: [{ text: '<i>your account</i>', weight: 0.5 }],
}

const site = await closeAfterTests(startWebSite())
const admin = await site.addPerson('admin@desk.example', { role: 'administrator' })
const desk = await signedInBrowser(site.url, admin)
for (const [origin, content] of [
  ['<b>the first</b>', sureModel(1)],
  ['the second', sureModel(2)],
  ['one that is broken', Buffer.from('{}')],
] as const) {
  const calibration = { slope: 1, intercept: 0 }
  const at = new Date()
  const model = {
    format: 'catboost',
    content,
    calibration,
    report,
    origin,
    trainedAt: at,
  } as const
  await keepModel(site.app.pool, model, { at, reporterId: null })
}

const states = async () =>
  (await listModels(site.app.pool, 10)).map(({ version, state }) => `${version} ${state}`)
const page = async (path = '') => (await desk.get(`/admin/models${path}`)).text()
const send = (fields: Record<string, string>) => desk.post('/admin/models', fields)

test('the versions are listed, and untrusted text is escaped', async () => {
  const html = await page()
  expect(html).toContain('&lt;b&gt;the first&lt;/b&gt;')
  expect(html).toContain('Promote 2')
  expect(html).not.toContain('Undo the last promotion')
})

test('a version shows its figures: the curve drawn, and a table of its points', async () => {
  const html = await page('/1')
  expect(html).toContain('&lt;i&gt;your account&lt;/i&gt;')
  expect(html).toContain('Surely unwanted')
  expect(html).toContain(report.auc?.toFixed(4))
  const [, points = ''] = /<polyline class="curve" points="([^"]+)"/.exec(html) ?? []
  expect(points.split(' ')).toHaveLength(report.roc.length)
  expect(points.split(' ')[0]).toBe('48,332')
  expect(points.split(' ').at(-1)).toBe('368,12')
  const [, table = ''] = /The curve as a table<\/summary>(.*?)<\/table>/s.exec(html) ?? []
  expect(table.match(/<tr>/g)).toHaveLength(report.roc.length + 1)
  expect(html).toContain('<code>links.hosts</code>')
  expect(html).toContain('30 phishing, 20 legitimate')
})

test('a version is promoted only after a test on own mail, and shows its figures', async () => {
  const answer = await send({ version: '1' })
  expect(answer.status).toBe(422)
  expect(await answer.text()).toContain('signalpost models test 1')
  expect(await page('/1')).toContain('This version was not tested on the mail of this site.')
  const figures = {
    rows: { spam: 20, ham: 40 },
    ...{ auc: 0.875, found: shareOf(15, 20), mistaken: shareOf(3, 40), sure: shareOf(0, 40) },
  }
  for (const version of [1, 2, 3]) {
    await updateOwnTest(site.app.pool, version, { testedAt: new Date().toISOString(), ...figures })
  }
  expect(await page()).toMatch(/>75\.0%<.*>7\.5%</s)
  const html = await page('/1')
  expect(html).toMatch(/Wanted mail called unwanted<\/dt><dd>7\.5% \(.*; 3 of 40\)/)
  expect(html).toContain('20 spam, 40 legitimate')
})

test('a version is promoted and rolled back, and the log says by whom', async () => {
  expect((await send({ version: '1' })).headers.get('location')).toBe('/admin/models?done=promoted')
  await send({ version: '2' })
  expect(await states()).toEqual(['3 candidate', '2 active', '1 retired'])
  expect(await page()).toContain('admin@desk.example')
  await send({ do: 'roll-back' })
  expect(await states()).toEqual(['3 candidate', '2 retired', '1 active'])
  const [last] = await listAudit(site.app.pool, { before: undefined, limit: 1 })
  expect(last).toMatchObject({ action: 'roll back model', detail: '2 to 1', reporterId: admin.id })
})

test('a model that fails is refused with the reason, and nothing changes', async () => {
  const before = await states()
  const answer = await send({ version: '3' })
  expect(answer.status).toBe(422)
  expect(await answer.text()).toContain('Refused: This is not a CatBoost model in JSON format')
  expect(await states()).toEqual(before)
})

test.for(['/9', '/nonsense', '/1e3'])('%s is not a model', async (path) => {
  expect((await desk.get(`/admin/models${path}`)).status).toBe(404)
})

test('forms that change models must come from our own pages', async () => {
  const answer = await fetch(`${site.url}/admin/models`, {
    method: 'POST',
    redirect: 'manual',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      origin: 'https://evil.example',
    },
    body: 'version=2',
  })
  expect([303, 403]).toContain(answer.status)
  expect(await states()).not.toContain('2 active')
})

test('a viewer sees the versions without buttons', async () => {
  const viewer = await site.addPerson('viewer@desk.example', { role: 'viewer' })
  const html = await (await (await signedInBrowser(site.url, viewer)).get('/admin/models')).text()
  expect(html).toContain('&lt;b&gt;the first&lt;/b&gt;')
  expect(html).not.toContain('>Promote ')
})

test('the drift is drawn beside the errors of the evaluation', async () => {
  expect(await page()).not.toContain('Drift')
  const at = new Date()
  const thresholds = [{ threshold: 0.5, precision: shareOf(90, 95), recall: shareOf(90, 100) }]
  const measured = {
    ...report,
    thresholds,
    rows: { ...report.rows, test: { spam: 100, ham: 200 } },
  }
  const model = { format: 'linear', content: Buffer.from('{}'), origin: 'measured' } as const
  const calibration = { slope: 1, intercept: 0 }
  const its = { ...model, calibration, report: measured, trainedAt: at }
  const version = await keepModel(site.app.pool, its, { at, reporterId: null })
  const day = at.toISOString().slice(0, 10)
  await updateAgreement(site.app.pool, version, [{ day, reports: 40, agreed: 37 }])
  const html = await page()
  expect(html).toContain('Contradicted by reports: Now 7.5%, Average 7.5%, Maximum 7.5%.')
  expect(html).toContain('Errors in the evaluation: Now 5.0%, Average 5.0%, Maximum 5.0%.')
})
