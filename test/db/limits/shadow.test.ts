import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Db, inTransaction } from '../../../src/db/pool.ts'
import { findReport } from '../../../src/db/reports.ts'
import {
  dropHeldReports,
  imposeShadowBan,
  liftShadowBan,
  releaseHeldReports,
} from '../../../src/intake/limits/shadow.ts'
import { retractIn } from '../../../src/intake/retract-report.ts'
import { settleShadowed } from '../../../src/jobs/settle-shadowed.ts'
import { signedInBrowser } from '../http/browser.ts'
import { sampleMessage, startWebSite, type Person, type WebSite } from '../http/web-site.ts'

let site: WebSite
let admin: Person
let made = 0

beforeAll(async () => {
  site = await startWebSite()
  admin = await site.addPerson('admin@desk.example', { isAdmin: true })
})
afterAll(() => site.close())

const deed = () => ({ at: new Date(), reporterId: admin.id })

async function banned(): Promise<Person> {
  const person = await site.addPerson(`eve${++made}@reporters.example`)
  await imposeShadowBan(site.app, { reporterId: person.id, reason: 'reports rivals' }, deed())
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

const ofReporter = (table: 'reports' | 'shadowed_reports', { id }: Person) =>
  count(`select count(*) as n from ${table} where reporter_id = $1`, [id])
const jobsOf = (queue: string, id: string) =>
  count(`select count(*) as n from pgboss.job where name = $1 and data ->> 'reportId' = $2`, [
    queue,
    id,
  ])

test('a banned reporter is answered as any other, and the report is put aside', async () => {
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
  expect(await ofReporter('shadowed_reports', ann)).toBe(1)
  expect(await ofReporter('reports', ann)).toBe(0)
  expect(await jobsOf('analyze-report', aside.body.id)).toBe(0)
  expect(await jobsOf('settle-shadowed', aside.body.id)).toBe(1)
})

test('the same bytes again are the same report, answered 200', async () => {
  const ann = await banned()
  const [first, second] = [await report(ann, 'twice'), await report(ann, 'twice')]
  expect([first.answer.status, second.answer.status]).toEqual([202, 200])
  expect(second.body).toEqual(first.body)
})

test('what a banned reporter changes is answered as usual, and put aside', async () => {
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
  expect([await jobsOf('settle-shadowed', id), await jobsOf('analyze-report', id)]).toEqual([2, 0])
  // What bob reported before a ban is put aside when bob changes it afterwards.
  await imposeShadowBan(site.app, { reporterId: bob.id, reason: 'reports rivals' }, deed())
  const later = await say(bob, 'phishing')
  expect(later.shown).toEqual([202, 'received', true])
  expect(later.id).toBe(usual[0]?.id)
  expect([await ofReporter('reports', bob), await ofReporter('shadowed_reports', bob)]).toEqual([
    ...[0, 1],
  ])
  expect(await jobsOf('redeem-report', later.id)).toBe(1)
  const raw = await api(bob, `/${later.id}/raw`)
  expect(Buffer.from(await raw.arrayBuffer())).toEqual(sampleMessage('changed'))
})

test('every door puts aside: plug-ins, the form, several at once', async () => {
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
  expect(await ofReporter('shadowed_reports', ann)).toBe(4)
  expect(await ofReporter('reports', ann)).toBe(0)
})

test('its own history shows nothing unusual, before and after it is settled', async () => {
  const ann = await banned()
  const { body } = await report(ann, 'history')
  const browser = await signedInBrowser(site.url, ann)
  expect(await (await browser.get('/reports')).text()).toContain('Cheap watches history')
  expect((await browser.get(`/reports/${body.id}`)).status).toBe(200)
  expect(await (await api(ann, `/${body.id}`)).json()).toMatchObject({ status: 'received' })
  await settleShadowed([{ reportId: body.id }], site.app)
  const settled = (await (await api(ann, `/${body.id}`)).json()) as Record<string, unknown>
  expect(settled).toMatchObject({
    status: 'kept',
    verdict: { class: 'undecided', score: 0 },
    timeline: [{ event: 'received' }, { event: 'analyzed' }],
  })
  expect(JSON.stringify(settled)).not.toMatch(/shadow|aside|ban/i)
  const page = await (await browser.get(`/reports/${body.id}`)).text()
  expect(page).toContain('The verdict is undecided.')
  expect(page).not.toMatch(/shadow|put aside|banned/i)
  const raw = await api(ann, `/${body.id}/raw`)
  expect(Buffer.from(await raw.arrayBuffer())).toEqual(sampleMessage('history'))
})

test('of a message that is not spam it says what is said of all others', async () => {
  const ann = await banned()
  const options = { method: 'POST', body: sampleMessage('wanted') }
  const { id } = (await (await api(ann, '?kind=not-spam', options)).json()) as { id: string }
  await settleShadowed([{ reportId: id }], site.app)
  const page = await (await (await signedInBrowser(site.url, ann)).get(`/reports/${id}`)).text()
  expect(page).toContain('You say that this is not spam.')
  expect(page).not.toContain('The verdict is undecided.')
})

test('others do not see it', async () => {
  const [ann, bob] = [await banned(), await site.addPerson('carl@reporters.example')]
  const { body } = await report(ann, 'mine')
  expect((await api(bob, `/${body.id}`)).status).toBe(404)
})

test('its reporter takes it back, and sees so', async () => {
  const ann = await banned()
  const { body } = await report(ann, 'regretted')
  const answer = await api(ann, `/${body.id}`, { method: 'DELETE' })
  expect(await answer.json()).toMatchObject({
    status: 'retracted',
    timeline: [{ event: 'received' }, { event: 'retracted' }],
  })
  expect(await releaseHeldReports(site.app, { reportId: body.id }, deed())).toBe(0)
})

test('what is released goes the way of all others, under its id', async () => {
  const ann = await banned()
  const { body } = await report(ann, 'released')
  await settleShadowed([{ reportId: body.id }], site.app)
  expect(await releaseHeldReports(site.app, { reportId: body.id }, deed())).toBe(1)
  expect(await findReport(site.app.pool, body.id)).toMatchObject({ state: 'received' })
  expect(await jobsOf('analyze-report', body.id)).toBe(1)
  expect(await ofReporter('shadowed_reports', ann)).toBe(0)
  expect(await (await api(ann, `/${body.id}`)).json()).toMatchObject({ status: 'received' })
  const raw = await api(ann, `/${body.id}/raw`)
  expect(Buffer.from(await raw.arrayBuffer())).toEqual(sampleMessage('released'))
  expect(await releaseHeldReports(site.app, { reportId: body.id }, deed())).toBe(0)
})

test('all of a reporter are released, however many', async () => {
  const ann = await banned()
  await Promise.all(Array.from({ length: 130 }, (_, n) => report(ann, `many ${n}`)))
  expect(await releaseHeldReports(site.app, { reporterId: ann.id }, deed())).toBe(130)
  expect(await ofReporter('reports', ann)).toBe(130)
})

test('what is dropped never counts, but its reporter sees it and its message', async () => {
  const ann = await banned()
  const { body } = await report(ann, 'dropped')
  expect(await dropHeldReports(site.app, { reporterId: ann.id }, deed())).toBe(1)
  expect((await api(ann, `/${body.id}`)).status).toBe(200)
  const raw = await api(ann, `/${body.id}/raw`)
  expect(Buffer.from(await raw.arrayBuffer())).toEqual(sampleMessage('dropped'))
  expect(await releaseHeldReports(site.app, { reportId: body.id }, deed())).toBe(0)
})

test('what is taken back while it is being released is taken back', async () => {
  const ann = await banned()
  const { body } = await report(ann, 'in between')
  await inTransaction(site.app.pool, async (tx) => {
    // The release comes between looking among the others and looking among what is put aside.
    let asked = 0
    const between: Db = {
      query: async (...given: Parameters<Db['query']>) => {
        if (++asked === 2) await releaseHeldReports(site.app, { reportId: body.id }, deed())
        return tx.query(...given)
      },
    } as Db
    expect(await retractIn(between, site.app, body.id, { isReporter: true })).toBe(true)
  })
  expect(await findReport(site.app.pool, body.id)).toMatchObject({ state: 'retracted' })
})

test('once the ban is lifted, what comes counts; what is held stays held', async () => {
  const ann = await banned()
  await report(ann, 'before')
  expect(await liftShadowBan(site.app, ann.id, deed())).toBe(true)
  const { body } = await report(ann, 'after')
  expect(await findReport(site.app.pool, body.id)).toBeDefined()
  expect(await ofReporter('shadowed_reports', ann)).toBe(1)
  expect(await liftShadowBan(site.app, ann.id, deed())).toBe(false)
})

test('administrators ban, see, release, drop and lift on pages', async () => {
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
    'One report was',
  )
  await browser.post(path, { do: 'lift' })
  expect(await (await browser.get(path)).text()).toContain('not banned')
  expect(await findReport(site.app.pool, two.body.id)).toBeUndefined()
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
