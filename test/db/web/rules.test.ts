import { expect, test } from 'vitest'
import { listAudit } from '../../../src/db/audit-log.ts'
import { keepRuleProcess } from '../../../src/db/rule-sets.ts'
import { actingRules } from '../../../src/judging/rule-versions.ts'
import { packFacts } from '../../../src/verdict/facts/facts.ts'
import { uuidv7 } from '../../../src/world.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { keepJudgedFacts } from '../../support/judged-facts.ts'
import { ruleText } from '../../support/rule-facts.ts'
import { Browser, signedInBrowser } from './browser.ts'
import { startWebSite } from './web-site.ts'

const site = await closeAfterTests(startWebSite())
const admin = await site.addPerson('admin@desk.example', { role: 'administrator' })
const desk = await signedInBrowser(site.url, admin)

const page = async (path: string) => (await desk.get(`/admin/rules${path}`)).text()
/** Tests a text on past reports; returns the fields with which it may be applied. */
async function tested(fields: { content: string; base: string }) {
  const html = await (await desk.post('/admin/rules/edit', { ...fields, do: 'try' })).text()
  const [, proof = ''] = /name="proof" value="([\w-]+)"/.exec(html) ?? []
  return { ...fields, proof, do: 'apply' }
}

const good = ruleText('WORD', 'report.kind == "spam"', 5)

test('the shipped rules are listed while no others were applied', async () => {
  const html = await page('')
  expect(html).toContain('The rules shipped with the program are active')
  expect(html).toContain('REPORTED_SPAM')
  expect(await page('/versions')).toContain('No other versions have been applied.')
  expect(await page('/facts')).toContain('report.kind')
})

test('a text with errors is shown again with each of them, and nothing is applied', async () => {
  for (const wish of ['check', 'try', 'apply']) {
    const content = `${ruleText('WORD', 'report.knid == "<b>"', 99)}`
    const answer = await desk.post('/admin/rules/edit', { content, base: '0', do: wish })
    expect(answer.status).toBe(422)
    const html = await answer.text()
    expect(html).toContain(
      'Line 2, column 11, <code>WORD</code>: <span lang="en">A weight must be a number',
    )
    expect(html).toContain(
      'Line 4, column 9, <code>WORD</code>: <span lang="en">Unknown fact report.knid.',
    )
    expect(html).toContain('when: report.knid == &quot;&lt;b&gt;&quot;')
    expect(html).toContain('aria-describedby="faults"')
  }
  expect((await actingRules(site.app.pool)).version).toBe(0)
})

test('rules are tested on the requested number of reports, and their verdicts shown', async () => {
  const ids = [1, 2, 3].map((at) => uuidv7(new Date(Date.now() + at)))
  const facts = packFacts({ report: { kind: 'spam', karma: 1 }, message: { kind: 'message' } })
  await keepJudgedFacts(
    site.app.pool,
    ids.map((id) => ({ id, at: new Date(), facts })),
  )
  const content = ruleText('NOTHING', 'false')
  const answer = await desk.post('/admin/rules/edit', { content, base: '0', last: '2', do: 'try' })
  expect(answer.status).toBe(200)
  const html = await answer.text()
  expect(html).toContain('Test on the last 2 reports')
  expect(html).toContain('2: spam → undecided')
  expect(html).toContain(`/admin/reports/${ids[2]}`)
  expect(html).not.toContain(`/admin/reports/${ids[0]}`)
  expect((await actingRules(site.app.pool)).version).toBe(0)
})

test('rules are applied only after a test of the same text by the same person', async () => {
  const fields = { content: good, base: '0' }
  const proven = await tested(fields)
  const other = await site.addPerson('other@desk.example', { role: 'administrator' })
  const attempts = [
    { by: desk, sent: { ...fields, do: 'apply' } },
    { by: desk, sent: { ...proven, content: `${good}\n` } },
    { by: await signedInBrowser(site.url, other), sent: proven },
  ]
  for (const { by, sent } of attempts) {
    const answer = await by.post('/admin/rules/edit', sent)
    expect(answer.status).toBe(422)
    const html = await answer.text()
    expect(html).toContain('Nothing was applied yet')
    expect(html).toContain('Test on the last')
    expect(html).toContain('value="apply"')
  }
  expect(await page('/edit')).not.toContain('value="apply"')
  expect((await actingRules(site.app.pool)).version).toBe(0)
})

test('a script gets the errors of a text with their lines, and nothing is applied', async () => {
  const ask = async (content: string) => {
    const sent = { content, base: '0', do: 'apply' }
    const answer = await desk.post('/admin/rules/edit', sent, { accept: 'application/json' })
    expect(answer.status).toBe(200)
    return answer.json()
  }
  expect(await ask(ruleText('WORD', 'report.knid == "spam"'))).toEqual({
    summary: 'The rules have errors:',
    faults: [
      {
        line: 4,
        at: 'Line 4, column 9',
        symbol: 'WORD',
        reason: expect.stringContaining('Unknown fact report.knid.') as unknown,
      },
    ],
  })
  expect(await ask(good)).toEqual({ summary: 'The rules are valid.', faults: [] })
  expect(await ask('#'.repeat(100_001))).toMatchObject({ faults: [] })
  expect((await actingRules(site.app.pool)).version).toBe(0)
})

test('rules are applied with a note, without the line ends of browsers, and logged', async () => {
  const content = good.replaceAll('\n', '\r\n')
  const sent = { ...(await tested({ content, base: '0' })), note: 'Why <not>' }
  const answer = await desk.post('/admin/rules/edit', sent)
  expect(answer.status).toBe(303)
  expect(answer.headers.get('location')).toBe('/admin/rules?done=1')
  expect(await actingRules(site.app.pool)).toMatchObject({ version: 1, content: good })
  expect(await page('?done=1')).toContain('Version 1 applied.')
  expect(await page('/versions')).toMatch(/admin@desk\.example.*Why &lt;not&gt;/s)
  expect(await page('/versions/1')).toContain('+ WORD (+5)')
  const [entry] = await listAudit(site.app.pool, { before: undefined, limit: 1 })
  expect(entry).toMatchObject({ action: 'apply rules', reporterId: admin.id })
})

test('applying rules edited from an older version shows what changed meanwhile', async () => {
  const fields = { content: ruleText('OTHER', 'true'), base: '0' }
  const answer = await desk.post('/admin/rules/edit', await tested(fields))
  expect(answer.status).toBe(422)
  const html = await answer.text()
  expect(html).toContain('Version 1 was applied while you were editing.')
  expect(html).toContain('- WORD (+5)')
  expect(html).toContain('name="base" value="1"')
  const again = await desk.post('/admin/rules/edit', await tested({ ...fields, base: '1' }))
  expect(again.headers.get('location')).toBe('/admin/rules?done=2')
})

test('an older version is shown with the changes, and can be restored', async () => {
  const html = await page('/versions/1')
  expect(html).toContain('Changes if you restore this version')
  expect(html).toContain('- OTHER (+1)')
  expect(await page('/edit?from=1')).toContain('symbol: WORD')
  const answer = await desk.post('/admin/rules/versions/1', {})
  expect(answer.headers.get('location')).toBe('/admin/rules?done=3')
  expect((await actingRules(site.app.pool)).content).toBe(good)
  expect((await desk.post('/admin/rules/versions/77', {})).status).toBe(404)
  expect((await desk.get('/admin/rules/versions/x')).status).toBe(404)
})

test('processes are shown with their version, and rules with cost, errors and state', async () => {
  const seenAt = new Date()
  const cutOff = { why: 'slow always', costUs: 900 } as const
  const health = [{ symbol: 'WORD', costUs: 1.26, errors: 7, cutOff }]
  const both = { seenAt, fault: null, health, version: 3, name: 'work', modelVersion: null }
  const forgotten = new Date(0)
  await keepRuleProcess(site.app.pool, { ...both, id: uuidv7(seenAt) }, forgotten)
  const older = { ...both, id: uuidv7(seenAt), version: 2, fault: '4:9 WORD: no <fact>' }
  await keepRuleProcess(site.app.pool, older, forgotten)
  const html = await page('')
  expect(html).toContain('work: version 3')
  expect(html).toContain('outdated')
  expect(html).toContain('no &lt;fact&gt;')
  expect(html).toContain('switched off: its evaluations are always slow')
  expect(html).toMatch(/<td class="number"[^>]*>1\.3<\/td><td class="number"[^>]*>7<\/td>/)
  const metrics = await (await fetch(`${site.url}/metrics`)).text()
  expect(metrics).toContain('signalpost_rules_newest_version 3')
  expect(metrics).toMatch(/^signalpost_rules_version\{process="work",id="[0-9a-f]{12}"\} 3$/m)
  expect(metrics).toMatch(/^signalpost_rules_refused\{process="work",id="[0-9a-f]{12}"\} 1$/m)
  expect(metrics).toMatch(/^signalpost_rules_cut_off\{process="work",id="[0-9a-f]{12}"\} 1$/m)
  expect(metrics).toMatch(/^signalpost_rules_errors_total\{process="work",.*\} 7$/m)
})

test('only administrators apply rules, and only from our own pages', async () => {
  const sent = { content: ruleText('EVIL', 'true'), base: '3', do: 'apply' }
  const ann = await signedInBrowser(site.url, await site.addPerson('ann@reporters.example'))
  expect((await ann.get('/admin/rules')).status).toBe(403)
  expect((await ann.post('/admin/rules/edit', sent)).status).toBe(403)
  expect((await new Browser(site.url).post('/admin/rules/edit', sent)).status).toBe(303)
  const foreign = { 'sec-fetch-site': 'cross-site' }
  expect((await desk.post('/admin/rules/edit', sent, foreign)).status).toBe(403)
  expect((await desk.post('/admin/rules/versions/0', {}, foreign)).status).toBe(403)
  expect((await actingRules(site.app.pool)).version).toBe(3)
})
