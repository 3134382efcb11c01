import { expect, test } from 'vitest'
import { type Action, runAction } from '../../../src/actions.ts'
import { importNetworks } from '../../../src/processes/import-networks.ts'
import { findReport } from '../../../src/db/reports.ts'
import {
  banReporter,
  dropHeldReports,
  liftBan,
  releaseHeldReports,
} from '../../../src/reports/shadow-bans.ts'
import { runRedeemReport } from '../../../src/reports/redeem-report.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { analyzeReports } from '../../support/judge.ts'
import { sampleNetworks, spamMessage } from '../../support/messages.ts'
import { signedInBrowser } from '../web/browser.ts'
import { sampleMessage, startWebSite, type Person } from '../web/web-site.ts'
import { parser } from '../../support/parser.ts'

let made = 0

const site = await closeAfterTests(startWebSite())
await importNetworks(sampleNetworks, site.app)
const admin = await site.addPerson('admin@desk.example', { role: 'administrator' })

/** Runs an action of the administrator; returns the number of changes, or undefined. */
async function act(action: Action, given: Record<string, string>): Promise<number | undefined> {
  const outcome = await runAction(action, given, site.app, { ...admin, role: 'administrator' })
  if ('problems' in outcome) throw new Error(outcome.problems[0]?.message)
  return 'done' in outcome ? (outcome.count ?? 1) : undefined
}

async function banned(): Promise<Person> {
  const person = await site.addPerson(`eve${++made}@reporters.example`)
  await act(banReporter, { email: person.email, reason: 'reports rivals' })
  return person
}

function api(person: Person, path: string, options: RequestInit = {}) {
  const headers = { authorization: `Bearer ${person.token}`, 'content-type': 'message/rfc822' }
  return fetch(`${site.url}/api/v1/reports${path}`, { ...options, headers })
}

async function report(person: Person, mark: string) {
  const answer = await api(person, '', { method: 'POST', body: sampleMessage(mark) })
  return { answer, body: (await answer.json()) as { id: string; status: string; url: string } }
}

async function count(text: string, params: unknown[]): Promise<number> {
  const { rows } = await site.app.pool.query<{ n: number }>(text, params)
  return rows[0]?.n ?? -1
}

const held = ({ id }: Person) =>
  count(`select count(*)::int as n from reports where reporter_id = $1 and shadow = 'held'`, [id])
const counting = ({ id }: Person) =>
  count(`select count(*)::int as n from reports where reporter_id = $1 and shadow is null`, [id])
const jobsOf = (queue: string, id: string) =>
  count(`select count(*)::int as n from pgboss.job where name = $1 and data ->> 'reportId' = $2`, [
    queue,
    id,
  ])

const analyze = (...ids: string[]) => analyzeReports({ ...site.app, parser }, ids)

/** Returns the number of rows, by table, through which other people could notice a report. */
async function effectsOf(id: string) {
  const { pool } = site.app
  const { rows } = await pool.query<Record<string, number>>(
    `select (select count(*) from counted_reports where id = $1)::int as counted,
       (select count(*) from reported_evidence where id = $1)::int as evidence,
       (select count(*) from feedback_reports
        where report_id = $1 and state <> 'shadowed')::int as feedback,
       (select count(*) from pgboss.job
        where name = 'forward-report' and data ->> 'reportId' = $1::text)::int as mails`,
    [id],
  )
  return rows[0]
}

/** Returns the number of rows and reports that determine counts and reputations. */
const sums = () =>
  count(
    `select ((select count(*) from reports_to_count) + (select count(*) from counter_deltas)
       + (select count(*) from reputation_evidence)
       + (select coalesce(sum(reports), 0) from campaign_days))::int as n`,
    [],
  )

test('a banned reporter gets the usual answers, and the report is held', async () => {
  const [ann, bob] = [await banned(), await site.addPerson('bob@reporters.example')]
  const [aside, usual] = [await report(ann, 'same'), await report(bob, 'same')]
  expect(aside.answer.status).toBe(usual.answer.status)
  const names = ({ headers }: Response) => [...headers.keys()].sort()
  expect(names(aside.answer)).toEqual(names(usual.answer))
  expect(aside.answer.headers.get('ratelimit-policy')).toBe(
    usual.answer.headers.get('ratelimit-policy'),
  )
  expect(Object.keys(aside.body)).toEqual(Object.keys(usual.body))
  expect(aside.body.status).toBe('received')
  expect(await held(ann)).toBe(1)
  expect(await counting(ann)).toBe(0)
  expect(await jobsOf('analyze-report', aside.body.id)).toBe(1)
})

test('the same bytes again are the same report, with status 200', async () => {
  const ann = await banned()
  const [first, second] = [await report(ann, 'twice'), await report(ann, 'twice')]
  expect([first.answer.status, second.answer.status]).toEqual([202, 200])
  expect(second.body).toEqual(first.body)
})

test('a change by a banned reporter gets the usual answer, and is held', async () => {
  const [ann, bob] = [await banned(), await site.addPerson('erin@reporters.example')]
  const say = async (person: Person, kind: string) => {
    const body = sampleMessage('changed')
    const answer = await api(person, `?kind=${kind}`, { method: 'POST', body })
    const said = (await answer.json()) as { id: string; status: string; changed: boolean }
    return { id: said.id, shown: [answer.status, said.status, said.changed] }
  }
  const usual = [await say(bob, 'spam'), await say(bob, 'not-spam'), await say(bob, 'not-spam')]
  const aside = [await say(ann, 'spam'), await say(ann, 'not-spam'), await say(ann, 'not-spam')]
  expect(aside.map(({ shown }) => shown)).toEqual(usual.map(({ shown }) => shown))
  const id = aside[0]?.id ?? ''
  expect(await (await api(ann, `/${id}`)).json()).toMatchObject({ kind: 'not-spam' })
  expect(await jobsOf('analyze-report', id)).toBe(
    await jobsOf('analyze-report', usual[0]?.id ?? ''),
  )
  // A report made before a ban is held when its banned reporter changes it.
  await act(banReporter, { email: bob.email, reason: 'reports rivals' })
  const later = await say(bob, 'phishing')
  expect(later.shown).toEqual([202, 'received', true])
  expect(later.id).toBe(usual[0]?.id)
  expect([await counting(bob), await held(bob)]).toEqual([0, 1])
  expect(await jobsOf('redeem-report', later.id)).toBe(1)
  const raw = await api(bob, `/${later.id}/raw`)
  expect(Buffer.from(await raw.arrayBuffer())).toEqual(sampleMessage('changed'))
})

test('reports from plug-ins, the form and bulk requests are held too', async () => {
  const ann = await banned()
  const plugIn = await fetch(`${site.url}/api/signaler`, {
    method: 'POST',
    headers: {
      authorization: ann.basic,
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: new URLSearchParams({ message: sampleMessage('plug-in').toString('base64') }),
  })
  expect(plugIn.status).toBe(202)
  const browser = await signedInBrowser(site.url, ann)
  const form = new FormData()
  form.append('reporting[raw_email]', sampleMessage('form').toString())
  form.append('kind', 'spam')
  expect((await browser.postForm('/report', form)).status).toBe(200)
  const bulk = new FormData()
  for (const mark of ['x', 'y']) bulk.append('files', new Blob([sampleMessage(mark)]), mark)
  const several = await fetch(`${site.url}/api/v1/reports`, {
    method: 'POST',
    body: bulk,
    headers: { authorization: `Bearer ${ann.token}` },
  })
  expect(several.status).toBe(202)
  expect(await held(ann)).toBe(4)
  expect(await counting(ann)).toBe(0)
})

test('its own history shows the analysis', async () => {
  const ann = await banned()
  const id = await site.report(ann, spamMessage('history'))
  const browser = await signedInBrowser(site.url, ann)
  expect(await (await browser.get('/reports')).text()).toContain('Cheap watches history')
  await analyze(id)
  const seen = (await (await api(ann, `/${id}`)).json()) as Record<string, unknown>
  expect(seen).toMatchObject({
    status: 'analyzed',
    origin: { ip: '198.51.100.23' },
    timeline: [{ event: 'received' }, { event: 'analyzed' }],
  })
  const page = await (await browser.get(`/reports/${id}`)).text()
  expect(page).toContain('198.51.100.23')
  for (const shown of [JSON.stringify(seen), page])
    expect(shown).not.toMatch(/shadow|aside|banned/i)
})

test('an analyzed report has no effect on others', async () => {
  const [ann, bob] = [await banned(), await site.addPerson('frank@reporters.example')]
  const before = await sums()
  const id = await site.report(ann, spamMessage('no effect'))
  await analyze(id)
  const none = { counted: 0, evidence: 0, feedback: 0, mails: 0 }
  expect(await effectsOf(id)).toEqual(none)
  expect(await sums()).toBe(before)
  const usual = await site.report(bob, spamMessage('no effect'))
  await analyze(usual)
  expect(await effectsOf(usual)).toEqual({ counted: 1, evidence: 1, feedback: 1, mails: 1 })
})

test('others do not see it', async () => {
  const [ann, bob] = [await banned(), await site.addPerson('carl@reporters.example')]
  const { body } = await report(ann, 'mine')
  expect((await api(bob, `/${body.id}`)).status).toBe(404)
})

test('its reporter can retract it, and sees so', async () => {
  const ann = await banned()
  const { body } = await report(ann, 'regretted')
  const answer = await api(ann, `/${body.id}`, { method: 'DELETE' })
  expect(await answer.json()).toMatchObject({
    status: 'retracted',
    timeline: [{ event: 'received' }, { event: 'retracted' }],
  })
  expect(await act(releaseHeldReports, { reporter: ann.id, report: body.id })).toBe(0)
})

test('a released report takes effect once, and its timeline is unchanged', async () => {
  const ann = await banned()
  const id = await site.report(ann, spamMessage('released'))
  await analyze(id)
  const seen = await (await api(ann, `/${id}`)).text()
  expect(await act(releaseHeldReports, { reporter: ann.id, report: id })).toBe(1)
  expect(await (await api(ann, `/${id}`)).text()).toBe(seen)
  await Promise.all([analyze(id), analyze(id)])
  await analyze(id)
  expect(await effectsOf(id)).toEqual({ counted: 1, evidence: 1, feedback: 1, mails: 1 })
  expect(await (await api(ann, `/${id}`)).text()).toBe(seen)
  expect(await findReport(site.app.pool, id)).toMatchObject({ shadow: null })
  expect(await act(releaseHeldReports, { reporter: ann.id, report: id })).toBe(0)
})

test('a report released before its analysis is analyzed like all others', async () => {
  const ann = await banned()
  const id = await site.report(ann, spamMessage('early'))
  await act(releaseHeldReports, { reporter: ann.id, report: id })
  await Promise.all([analyze(id), analyze(id)])
  expect(await effectsOf(id)).toEqual({ counted: 1, evidence: 1, feedback: 1, mails: 1 })
  expect(await findReport(site.app.pool, id)).toMatchObject({ shadow: null, state: 'analyzed' })
})

test('a report that is retracted after its release takes no effect', async () => {
  const ann = await banned()
  const id = await site.report(ann, spamMessage('too late'))
  await analyze(id)
  await act(releaseHeldReports, { reporter: ann.id, report: id })
  await api(ann, `/${id}`, { method: 'DELETE' })
  await analyze(id)
  await runRedeemReport([{ reportId: id }], site.app)
  expect(await effectsOf(id)).toMatchObject({ counted: 0, evidence: 0, mails: 0 })
})

test('a counted report stops counting when its banned reporter changes it', async () => {
  const bob = await site.addPerson('gina@reporters.example')
  const id = await site.report(bob, spamMessage('stops'))
  await analyze(id)
  await act(banReporter, { email: bob.email, reason: 'reports rivals' })
  await api(bob, '?kind=phishing', { method: 'POST', body: spamMessage('stops') })
  await analyze(id)
  await runRedeemReport([{ reportId: id }], site.app)
  expect(await effectsOf(id)).toMatchObject({ counted: 0, evidence: 0 })
  expect(await (await api(bob, `/${id}`)).json()).toMatchObject({
    kind: 'phishing',
    status: 'analyzed',
  })
})

test('all reports of a reporter are released, however many', async () => {
  const ann = await banned()
  await Promise.all(Array.from({ length: 130 }, (_, n) => report(ann, `many ${n}`)))
  expect(await act(releaseHeldReports, { reporter: ann.id })).toBe(130)
  expect(await held(ann)).toBe(0)
})

test('a discarded report never counts, but its reporter sees it and its message', async () => {
  const ann = await banned()
  const { body } = await report(ann, 'dropped')
  expect(await act(dropHeldReports, { reporter: ann.id })).toBe(1)
  await analyze(body.id)
  expect(await effectsOf(body.id)).toMatchObject({ counted: 0, evidence: 0, mails: 0 })
  expect((await api(ann, `/${body.id}`)).status).toBe(200)
  const raw = await api(ann, `/${body.id}/raw`)
  expect(Buffer.from(await raw.arrayBuffer())).toEqual(sampleMessage('dropped'))
  expect(await act(releaseHeldReports, { reporter: ann.id, report: body.id })).toBe(0)
})

test('after the ban new reports count; held ones stay held', async () => {
  const ann = await banned()
  await report(ann, 'before')
  expect(await act(liftBan, { reporter: ann.id })).toBe(1)
  const { body } = await report(ann, 'after')
  expect(await findReport(site.app.pool, body.id)).toMatchObject({ shadow: null })
  expect(await held(ann)).toBe(1)
  expect(await act(liftBan, { reporter: ann.id })).toBeUndefined()
})

test('administrators ban, view, release, discard and lift on pages', async () => {
  const browser = await signedInBrowser(site.url, admin)
  const ann = await site.addPerson('dora@reporters.example')
  const path = `/admin/limits/shadow/${ann.id}`
  const ban = { email: ann.email, reason: 'reports rivals' }
  expect(
    (await browser.post('/admin/limits/shadow', { ...ban, email: 'no@x.example' })).status,
  ).toBe(422)
  expect((await browser.post('/admin/limits/shadow', { ...ban, reason: ' ' })).status).toBe(422)
  const own = await browser.post('/admin/limits/shadow', { ...ban, email: admin.email })
  expect(own.status).toBe(422)
  const answer = await browser.post('/admin/limits/shadow', ban)
  expect(answer.headers.get('location')).toBe(`${path}?done=banned`)
  const [one, two] = [await report(ann, 'page one'), await report(ann, 'page two')]
  expect(await (await browser.get('/admin/limits/shadow')).text()).toContain('page two')
  expect(await (await browser.get(path)).text()).toContain('page one')
  const source = await browser.get(`/admin/limits/shadow/reports/${one.body.id}/message.eml`)
  expect(Buffer.from(await source.arrayBuffer())).toEqual(sampleMessage('page one'))
  const misspelled = await browser.post(path, { do: 'drop', report: `${one.body.id}0` })
  expect(misspelled.status).toBe(422)
  const others = await report(await banned(), 'of another')
  const wrong = await browser.post(path, { do: 'release', report: others.body.id })
  expect(wrong.status).toBe(422)
  const released = await browser.post(path, { do: 'release', report: one.body.id })
  expect(released.headers.get('location')).toBe(`${path}?done=released&count=1`)
  const dropped = await browser.post(path, { do: 'drop' })
  expect(dropped.headers.get('location')).toBe(`${path}?done=dropped&count=1`)
  expect(await (await browser.get(path)).text()).not.toContain('page two')
  expect(await (await browser.get(`${path}?done=released&count=1`)).text()).toContain(
    '1 report was',
  )
  await browser.post(path, { do: 'lift' })
  expect(await (await browser.get(path)).text()).toContain('not banned')
  expect(await findReport(site.app.pool, two.body.id)).toMatchObject({ shadow: 'dropped' })
  const deeds = await site.app.pool.query<{ action: string }>(
    `select action from audit_log where detail like $1 order by id`,
    [`%${ann.id}%`],
  )
  expect(deeds.rows.map(({ action }) => action)).toEqual([
    'shadow ban',
    'drop reports',
    'lift shadow ban',
  ])
})

test('the pages are for administrators', async () => {
  const browser = await signedInBrowser(site.url, await banned())
  expect((await browser.get('/admin/limits/shadow')).status).toBe(403)
})
