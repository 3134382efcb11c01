import { expect, test } from 'vitest'
import { runAction } from '../../../src/actions.ts'
import { insertLetter } from '../../../src/db/letters.ts'
import type { Pool } from '../../../src/db/pool.ts'
import { releaseHeld } from '../../../src/feedback/release-held.ts'
import { refusal } from '../../../src/phrase.ts'
import { importNetworks } from '../../../src/processes/import-networks.ts'
import { UNDO_MS } from '../../../src/reports/restore-reports.ts'
import {
  runActOnReports,
  startDeletion,
  startMassAction,
  stopMassAction,
  undoMassAction,
} from '../../../src/search/mass-actions.ts'
import { isDeletion, massKinds } from '../../../src/search/mass-effects.ts'
import { uuidv7 } from '../../../src/world.ts'
import { TESTIFIED_BYTES, unpackTestified } from '../../../src/verdict/reputation/evidence.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { analyzeReports } from '../../support/judge.ts'
import { replyMessage, sampleNetworks, spamMessage } from '../../support/messages.ts'
import { signedInBrowser } from '../web/browser.ts'
import { startWebSite } from '../web/web-site.ts'
import { parser } from '../../support/parser.ts'

const site = await closeAfterTests(startWebSite({ SMTP_URL: 'smtp://127.0.0.1:9' }))
await importNetworks(sampleNetworks, site.app)
const admin = await site.addPerson('admin@desk.example', { role: 'operator' })
const operator = { id: admin.id, role: 'operator' } as const
const { pool } = site.app
let made = 0

/** Makes a reporter with `count` analyzed reports. */
async function reported(count: number) {
  const person = await site.addPerson(`r${++made}@reporters.example`)
  const ids: string[] = []
  for (let n = 0; n < count; n++) ids.push(await site.report(person, spamMessage(`m${made}-${n}`)))
  await analyzeReports({ ...site.app, parser }, ids)
  return { person, ids }
}

async function start(given: Record<string, unknown>): Promise<string> {
  const kind = massKinds.find((one) => one === given['kind'])
  const outcome = await runAction(
    kind && isDeletion(kind) ? startDeletion : startMassAction,
    { reason: 'a test', ...given },
    site.app,
    operator,
  )
  if (!('done' in outcome)) throw new Error(JSON.stringify(outcome))
  return outcome.id ?? ''
}

/** Does the steps of an action until it ends. */
async function finish(actionId: string, app = site.app): Promise<void> {
  while ((await runActOnReports({ actionId }, app)) !== 'done');
}

async function states(ids: readonly string[]): Promise<string[]> {
  const { rows } = await pool.query<{ state: string }>(
    'select state from reports where id = any($1::uuid[]) order by id',
    [ids],
  )
  return rows.map(({ state }) => state)
}

async function outcomes(actionId: string): Promise<(string | null)[]> {
  const { rows } = await pool.query<{ outcome: string | null }>(
    'select outcome from mass_action_items where action_id = $1 order by report_id',
    [actionId],
  )
  return rows.map(({ outcome }) => outcome)
}

const all = <T>(count: number, value: T) => Array.from({ length: count }, () => value)

test('an action on all that a search finds is done once to each, and audited', async () => {
  const { person, ids } = await reported(3)
  const others = await reported(1)
  const id = await start({ kind: 'retract', q: `reporter:${person.email}` })
  await finish(id)
  expect(await states(ids)).toEqual(all(3, 'retracted'))
  expect(await states(others.ids)).not.toContain('retracted')
  expect(await outcomes(id)).toEqual(all(3, 'changed'))
  const { rows } = await pool.query<{ detail: string }>(
    `select detail from audit_log where action = 'mass action' order by id desc limit 1`,
  )
  expect(rows[0]?.detail).toBe(`retract, 3 reports found by reporter:${person.email}: a test`)
  const again = await start({ kind: 'retract', q: `reporter:${person.email}` })
  await finish(again)
  expect(await outcomes(again)).toEqual(all(3, 'unchanged'))
})

/** A pool whose transactions fail at their commit from the given number on, as if killed. */
function dyingPool(commitsLeft: number): Pool {
  let left = commitsLeft
  return new Proxy(pool, {
    get(target, name) {
      if (name !== 'connect') return Reflect.get(target, name) as unknown
      return async () => {
        const client = await target.connect()
        return new Proxy(client, {
          get(inner, key) {
            const value: unknown = Reflect.get(inner, key)
            if (key === 'query') {
              return (text: unknown, ...rest: unknown[]) => {
                const isCommit = typeof text === 'string' && /^commit/i.test(text)
                if (isCommit && left-- <= 0) return Promise.reject(new Error('killed'))
                return (inner.query as (...all: unknown[]) => unknown)(text, ...rest)
              }
            }
            return typeof value === 'function' ? (value.bind(inner) as unknown) : value
          },
        })
      }
    },
  })
}

test('an action that is killed goes on, and acts on each report exactly once', async () => {
  const { ids, person } = await reported(5)
  const id = await start({ kind: 'retract', ids, speed: '120' })
  await expect(finish(id, { ...site.app, pool: dyingPool(1) })).rejects.toThrow('killed')
  expect((await states(ids)).filter((state) => state === 'retracted')).toHaveLength(2)
  expect((await outcomes(id)).filter((outcome) => outcome === 'changed')).toHaveLength(2)
  await finish(id)
  expect(await outcomes(id)).toEqual(all(5, 'changed'))
  const { rows } = await pool.query(
    `select report_id from report_events
       join reports on reports.id = report_id and reports.shard = report_events.shard
     where event = 'retracted' and reporter_id = $1`,
    [person.id],
  )
  expect(rows).toHaveLength(5)
})

test('a stopped action does nothing more, and what it did can be undone', async () => {
  const { ids } = await reported(3)
  const before = await states(ids)
  const id = await start({ kind: 'retract', ids, speed: '60' })
  await runActOnReports({ actionId: id }, site.app)
  await runAction(stopMassAction, { id }, site.app, operator)
  await finish(id)
  expect((await states(ids)).filter((state) => state === 'retracted')).toHaveLength(1)
  expect(await runAction(undoMassAction, { id }, site.app, operator)).toMatchObject({
    done: 'undoing',
  })
  await finish(id)
  expect(await outcomes(id)).toEqual(['undone', null, null])
  await analyzeReports({ ...site.app, parser }, ids)
  expect(await states(ids)).toEqual(before)
})

test('after an hour, or if nothing can be restored, there is no undo', async () => {
  const { ids } = await reported(1)
  const former = await start({ kind: 'retract', ids })
  await finish(former)
  // As a migration leaves what an earlier version did, of which there are no records.
  await pool.query('update mass_actions set settled_at = now() where id = $1', [former])
  expect(await runAction(undoMassAction, { id: former }, site.app, operator)).toHaveProperty(
    'problems',
  )
  const retract = await start({ kind: 'retract', ids })
  await finish(retract)
  const late = { ...site.app, clock: () => new Date(Date.now() + UNDO_MS) }
  expect(await runAction(undoMassAction, { id: retract }, late, operator)).toHaveProperty(
    'problems',
  )
  const remove = await start({ kind: 'delete-messages', ids })
  await finish(remove)
  expect(await runAction(undoMassAction, { id: remove }, site.app, operator)).toHaveProperty(
    'problems',
  )
})

test('messages are deleted, and such reports are not analyzed again', async () => {
  const { ids } = await reported(2)
  const [first = ''] = ids
  await finish(await start({ kind: 'delete-messages', ids: [first] }))
  const { rows } = await pool.query('select id from raw_messages where id = any($1::uuid[])', [ids])
  expect(rows).toEqual([{ id: ids[1] }])
  const again = await start({ kind: 'analyze-again', ids })
  await finish(again)
  expect((await outcomes(again)).toSorted()).toEqual(['changed', 'unchanged'])
  expect((await states(ids))[1]).toBe('received')
})

test('reporters are banned once each, and undoing leaves earlier bans', async () => {
  const { ids, person } = await reported(2)
  const banned = async () =>
    (await pool.query('select from shadow_bans where reporter_id = $1', [person.id])).rowCount
  const first = await start({ kind: 'shadow-ban', ids })
  await finish(first)
  expect(await banned()).toBe(1)
  expect((await outcomes(first)).toSorted()).toEqual(['changed', 'unchanged'])
  const second = await start({ kind: 'shadow-ban', ids })
  await finish(second)
  await runAction(undoMassAction, { id: second }, site.app, operator)
  await finish(second)
  expect(await banned()).toBe(1)
  await runAction(undoMassAction, { id: first }, site.app, operator)
  await finish(first)
  expect(await banned()).toBe(0)
})

/** What a report was judged to be, and what followed from it. */
async function judgment(id: string) {
  const { rows } = await pool.query<{ content: Buffer }>(
    `select verdict_class as verdict, state, reported_evidence.content,
       array(select feedback_reports.state from feedback_reports
         where report_id = reports.id and shard = reports.shard order by number) as feedback
     from reports
       join analyses on analyses.id = reports.id and analyses.shard = reports.shard
       join reported_evidence on reported_evidence.id = reports.id
         and reported_evidence.shard = reports.shard
     where reports.id = $1`,
    [id],
  )
  const [{ content = Buffer.alloc(0), ...found } = {}] = rows
  const [testified] = unpackTestified(content.subarray(0, TESTIFIED_BYTES))
  return { ...found, testified: testified?.what }
}

test('a corrected verdict decides on feedback, counts and karma until it is undone', async () => {
  const { ids } = await reported(1)
  const [report = ''] = ids
  const before = await judgment(report)
  expect(before).toMatchObject({ state: 'analyzed', feedback: ['queued'] })
  const wanted = await start({ kind: 'correct-legitimate', ids })
  await finish(wanted)
  await analyzeReports({ ...site.app, parser }, ids)
  expect(await judgment(report)).toEqual({
    ...{ verdict: 'legitimate', state: 'kept', feedback: ['withdrawn'], testified: 'wanted-mail' },
  })
  await runAction(undoMassAction, { id: wanted }, site.app, operator)
  await finish(wanted)
  await analyzeReports({ ...site.app, parser }, ids)
  expect(await judgment(report)).toEqual(before)
})

test('another analysis replaces unsent feedback, and repeats none that was sent', async () => {
  const { ids } = await reported(2)
  const [unsent = '', sent = ''] = ids
  await pool.query(
    `update feedback_reports set state = 'sent', finished_at = now() where report_id = $1`,
    [sent],
  )
  await finish(await start({ kind: 'analyze-again', ids }))
  await analyzeReports({ ...site.app, parser }, ids)
  expect(await judgment(unsent)).toMatchObject({ feedback: ['withdrawn', 'queued'] })
  expect(await judgment(sent)).toMatchObject({ feedback: ['sent'] })
})

test('a message that looks wanted is forwarded once its verdict is corrected to spam', async () => {
  const person = await site.addPerson('reply@reporters.example')
  const id = await site.report(person, replyMessage('corrected'))
  await analyzeReports({ ...site.app, parser }, [id])
  expect(await judgment(id)).toMatchObject({ state: 'kept', feedback: [] })
  await finish(await start({ kind: 'correct-spam', ids: [id] }))
  await analyzeReports({ ...site.app, parser }, [id])
  expect(await judgment(id)).toMatchObject({ verdict: 'spam', feedback: ['queued'] })
  const same = await start({ kind: 'correct-spam', ids: [id] })
  await finish(same)
  expect(await outcomes(same)).toEqual(['unchanged'])
})

test('waiting feedback is due now, and other feedback stays', async () => {
  const { ids } = await reported(2)
  const [first = ''] = ids
  const waits = `update feedback_reports set state = 'waiting', due_at = now() + interval '1 day'
    where report_id = $1`
  await pool.query(waits, [first])
  const id = await start({ kind: 'forward-now', ids })
  await finish(id)
  expect(await outcomes(id)).toEqual(['changed', 'unchanged'])
  const { rows } = await pool.query(
    'select state, due_at <= now() as "isDue" from feedback_reports where report_id = $1',
    [first],
  )
  expect(rows).toEqual([{ state: 'waiting', isDue: true }])
})

test('refused feedback and held letters about the reports are queued again', async () => {
  const { ids, person } = await reported(3)
  const [refused = '', advised = ''] = ids
  const mark = `update feedback_reports set state = $2, finished_at = now() where report_id = $1`
  await pool.query(mark, [refused, 'refused'])
  await pool.query(mark, [advised, 'sent'])
  const letter = { kind: 'advice', address: person.email, reporterId: person.id } as const
  const content = { encoding: 'identity', content: Buffer.from('x') } as const
  const createdAt = new Date()
  const letterId = uuidv7(createdAt)
  const about = { id: letterId, reportId: advised, consumerId: null, createdAt }
  await insertLetter(pool, {
    ...{ ...letter, ...about, ...content, sealedKeys: null, keysExpireAt: null },
  })
  await pool.query(`update letters set state = 'held' where id = $1`, [letterId])
  const id = await start({ kind: 'send-again', ids })
  await finish(id)
  expect(await outcomes(id)).toEqual(['changed', 'changed', 'unchanged'])
  const { rows } = await pool.query(
    `select state from feedback_reports where report_id = $1
     union all select state from letters where id = $2`,
    [refused, letterId],
  )
  expect(rows).toEqual([{ state: 'queued' }, { state: 'queued' }])
})

test('an action of a deleted account is not shown as one of the command line', async () => {
  const { ids } = await reported(1)
  const id = await start({ kind: 'forward-now', ids })
  await finish(id)
  const browser = await signedInBrowser(site.url, admin)
  const shownFor = async (person: string | null) => {
    await pool.query('update mass_actions set reporter_id = $2 where id = $1', [id, person])
    const html = await (await browser.get(`/admin/reports/actions/${id}`)).text()
    return /<dd><span class="stranger">([^<]*)<\/span>/.exec(html)?.[1]
  }
  expect(await shownFor(null)).toBe('the command line')
  expect(await shownFor(uuidv7(new Date()))).toBe('a deleted account')
  expect(await shownFor(admin.id)).toBe(admin.email)
})

test('nothing is sent again without a mail server: nothing that is held is touched', async () => {
  const { ids } = await reported(1)
  const hold = `update feedback_reports set state = 'held', finished_at = now()
    where report_id = any($1)`
  await pool.query(hold, [ids])
  const app = { ...site.app, config: { ...site.app.config, smtpUrl: undefined } }
  const given = { kind: 'send-again', ids, reason: 'a test' }
  const outcome = await runAction(startMassAction, given, app, operator)
  expect(outcome).toEqual({ problems: [{ message: refusal('refused.no-smtp') }] })
  expect(await runAction(releaseHeld, {}, app, operator)).toEqual(outcome)
  const other = await runAction(startMassAction, { ...given, kind: 'forward-now' }, app, operator)
  expect(other).toMatchObject({ done: 'started' })
})

test.for([
  ['list-origin', `select from reputation_marks where mark = 'listed'`],
  ['exempt-origin', 'select from list_exemptions'],
])(
  '%s changes each origin once, and undoing leaves earlier decisions',
  async ([kind, sql = '']) => {
    const { ids } = await reported(2)
    const count = async () => (await pool.query(sql)).rowCount
    const first = await start({ kind, ids })
    await finish(first)
    expect(await count()).toBe(1)
    expect((await outcomes(first)).toSorted()).toEqual(['changed', 'unchanged'])
    const second = await start({ kind, ids })
    await finish(second)
    expect(await outcomes(second)).toEqual(['unchanged', 'unchanged'])
    for (const [id, left] of [[second, 1] as const, [first, 0] as const]) {
      await runAction(undoMassAction, { id }, site.app, operator)
      await finish(id)
      expect(await count()).toBe(left)
    }
  },
)

test.for([
  ['list-origin', `update reputation_marks set reason = 'another', set_at = now()`],
  ['exempt-origin', `update list_exemptions set reason = 'another', created_at = now()`],
])('undoing %s leaves what someone decided since then', async ([kind, decide = '']) => {
  const { ids } = await reported(1)
  const id = await start({ kind, ids })
  await finish(id)
  await pool.query(decide)
  await runAction(undoMassAction, { id }, site.app, operator)
  await finish(id)
  expect(await outcomes(id)).toEqual(['overtaken'])
  const table = decide.split(' ')[1]
  expect((await pool.query(`delete from ${table}`)).rowCount).toBe(1)
})

test('held reports are discarded or released', async () => {
  const { ids } = await reported(2)
  await pool.query(`update reports set shadow = 'held' where id = any($1::uuid[])`, [ids])
  await finish(await start({ kind: 'drop', ids: ids.slice(0, 1) }))
  await finish(await start({ kind: 'release', ids }))
  const { rows } = await pool.query<{ shadow: string }>(
    'select shadow from reports where id = any($1::uuid[]) order by id',
    [ids],
  )
  expect(rows.map(({ shadow }) => shadow)).toEqual(['dropped', 'released'])
})

test('the pages preview, start, show, stop and undo an action', async () => {
  const { ids, person } = await reported(2)
  const desk = await signedInBrowser(site.url, admin)
  const q = `reporter:${person.email}`
  const at = '/admin/reports/actions'
  const preview = await desk.get(`${at}/new?${new URLSearchParams({ kind: 'retract', q })}`)
  expect(await preview.text()).toMatch(/2 reports found by[^]*can be undone within an hour/)
  expect((await desk.get(`${at}/new?kind=explode&q=`)).status).toBe(422)
  const refused = await desk.post(at, { kind: 'retract', q, reason: '', do: 'start' })
  expect(refused.status).toBe(422)
  const given = { kind: 'retract', q, reason: 'wrong <b>list</b>', do: 'start' }
  const started = await desk.post(at, given)
  const page = started.headers.get('location') ?? ''
  const running = await desk.get(page)
  expect(running.headers.get('refresh')).toBe('3')
  expect(await running.text()).toMatch(/has started[^]*0 of 2 reports processed/)
  const id = /actions\/([^?]+)/.exec(page)?.[1] ?? ''
  await finish(id)
  const ended = await (await desk.get(page)).text()
  expect(ended).toContain('2 changed')
  expect(ended).not.toContain('has started')
  await desk.post(`${at}/${id}`, { do: 'undo' })
  await finish(id)
  expect(await (await desk.get(page)).text()).toContain('2 reports undone')
  expect(await (await desk.get(at)).text()).toContain('wrong &lt;b&gt;list')
  expect(await states(ids)).toEqual(all(2, 'analyzed'))
})

test('deleting asks for the password again', async () => {
  const { ids } = await reported(1)
  const desk = await signedInBrowser(site.url, admin)
  await pool.query(`update sessions set sess = (sess::jsonb - 'provenAt')::json`)
  const at = '/admin/reports/actions'
  const preview = await desk.get(`${at}/new?kind=delete-messages&scope=selected&ids=${ids[0]}`)
  expect(await preview.text()).toContain('name="do" value="delete"')
  const form = { kind: 'delete-messages', ids: ids[0] ?? '', reason: 'a test', do: 'delete' }
  const asked = await desk.post(at, form)
  expect(asked.status).toBe(403)
  expect(await asked.text()).toContain('name="reason" value="a test"')
  const evaded = await desk.post(at, { ...form, do: 'start' })
  expect(evaded.status).toBe(422)
  const done = await desk.post(at, { ...form, now: admin.password })
  expect(done.headers.get('location')).toContain(`${at}/`)
})
