import { expect, test } from 'vitest'
import { ask } from '../../../src/counting/headline.ts'
import { putShadowBan } from '../../../src/db/shadow-bans.ts'
import { createToken } from '../../../src/people/credentials.ts'
import { insertToken, type TokenScope } from '../../../src/db/sessions.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { append, foldAll, reportedBy, standing } from '../../support/evidence.ts'
import { rollUpAll } from '../../support/counter-rows.ts'
import { analyzeReports } from '../../support/judge.ts'
import { changeLimit } from '../../support/limits.ts'
import { sampleMessage, startWebSite } from './web-site.ts'
import { parser } from '../../support/parser.ts'

const site = await closeAfterTests(startWebSite())
const { pool } = site.app
// Limits are read anew each second, so this one is set before the first request.
expect(await changeLimit(pool, 'mailbox-user-hour', { attempts: 5 })).toEqual([])
const provider = await site.addPerson('postmaster@provider.example')
const token = await tokenWith(['report', 'on-behalf'])

async function tokenWith(scopes: TokenScope[], reporterId = provider.id): Promise<string> {
  const made = createToken()
  await insertToken(pool, { ...made, reporterId, name: 'test', createdAt: new Date(), scopes })
  return made.token
}

async function report(user: string | undefined, mark: string, { as = token, path = '' } = {}) {
  const response = await fetch(`${site.url}/api/v1/reports${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${as}`,
      'content-type': path ? 'application/x-ndjson' : 'message/rfc822',
      ...(user !== undefined && { 'on-behalf-of': user }),
    },
    body: path
      ? JSON.stringify({ message_base64: sampleMessage(mark).toString('base64') })
      : sampleMessage(mark),
  })
  const { id = '' } = (await response.json()) as { id?: string }
  return { status: response.status, id }
}

async function rowOf(id: string) {
  const { rows } = await pool.query<{ reporterId: string; email: string; provider: string | null }>(
    `select reporter_id as "reporterId", email, provider_id as provider
     from reports join reporters on reporters.id = reporter_id where reports.id = $1`,
    [id],
  )
  if (!rows[0]) throw new Error('There is no such report.')
  return rows[0]
}

test('each mailbox user is a reporter of its own, created at first use', async () => {
  const [one, other, again, own] = [
    await report('user-1', 'of several'),
    await report('user-2', 'of several'),
    await report('user-1', 'of several'),
    await report(undefined, 'of several'),
  ]
  expect([one, other, again, own].map(({ status }) => status)).toEqual([202, 202, 200, 202])
  expect(again.id).toBe(one.id)
  const [first, second] = [await rowOf(one.id), await rowOf(other.id)]
  expect(first.reporterId).not.toBe(second.reporterId)
  expect([first.provider, second.provider]).toEqual([provider.id, provider.id])
  expect((await rowOf(own.id)).reporterId).toBe(provider.id)
  // The key itself is not stored, and the address receives no mail.
  expect(first.email).toMatch(/^[\da-f-]{36}@[\da-f-]{36}\.signalpost\.invalid$/)
  const { rows } = await pool.query(
    `select wants_answers, wants_advice, password_hash from reporters where id = $1`,
    [first.reporterId],
  )
  expect(rows).toEqual([{ wants_answers: false, wants_advice: false, password_hash: null }])
})

test('the bulk address reports for a user too', async () => {
  expect((await report('bulk-user', 'in bulk', { path: '/bulk' })).status).toBe(202)
  const { rows } = await pool.query(
    `select from reporters join reports on reporter_id = reporters.id
     where provider_id = $1 and subject like '%in bulk%'`,
    [provider.id],
  )
  expect(rows).toHaveLength(1)
})

test('a key of one provider is not the user of another', async () => {
  const otherProvider = await site.addPerson('postmaster@other.example')
  const as = await tokenWith(['report', 'on-behalf'], otherProvider.id)
  const [mine, theirs] = [await report('same', 'a'), await report('same', 'b', { as })]
  expect((await rowOf(mine.id)).reporterId).not.toBe((await rowOf(theirs.id)).reporterId)
})

test('only a token with the scope, of an account that an operator created, may', async () => {
  const usual = await report('user', 'x', { as: await tokenWith(['report']) })
  expect(usual.status).toBe(403)
  const selfMade = await site.addPerson('self@made.example')
  await pool.query('update karmas set is_vouched = false where reporter_id = $1', [selfMade.id])
  const as = await tokenWith(['report', 'on-behalf'], selfMade.id)
  expect((await report('user', 'x', { as })).status).toBe(403)
  for (const bad of ['', 'two words', 'é', 'x'.repeat(201)]) {
    expect([bad, (await report(bad, 'x')).status]).toEqual([bad, 400])
  }
})

test('limits and bans touch only the hostile users', async () => {
  const hostile = ['hostile-1', 'hostile-2', 'hostile-3']
  const floods = hostile.flatMap((user) =>
    Array.from({ length: 8 }, (_, n) => report(user, `${user} ${n}`)),
  )
  const users = Array.from({ length: 60 }, (_, n) => report(`peaceful-${n}`, `peaceful ${n}`))
  const said = (await Promise.all(floods)).map(({ status }) => status)
  expect(said.filter((status) => status === 429)).toHaveLength(9)
  expect(new Set((await Promise.all(users)).map(({ status }) => status))).toEqual(new Set([202]))

  const before = await report('banned', 'before the ban')
  const { reporterId } = await rowOf(before.id)
  await putShadowBan(pool, { reporterId, reason: 'x', imposedAt: new Date(), imposedBy: null })
  const [held, free] = [await report('banned', 'held'), await report('not-banned', 'not held')]
  expect([held.status, free.status]).toEqual([202, 202])
  const { rows } = await pool.query(`select id from reports where shadow = 'held'`)
  expect(rows).toEqual([{ id: held.id }])
})

test('all users of one provider count as one reporter', async () => {
  const ids: string[] = []
  for (let n = 0; n < 6; n++) ids.push((await report(`counted-${n}`, 'counted together')).id)
  await analyzeReports({ ...site.app, parser }, ids)
  await rollUpAll(pool, new Date())
  const { rows } = await pool.query<{ subject: string }>(
    'select subject from reports where id = $1',
    [ids[0]],
  )
  const answer = await ask(site.app, { kind: 'subject', value: rows[0]?.subject ?? '' }, 'told')
  if ('fault' in answer) throw new Error('The subject was refused.')
  const counts = answer.pieces.flatMap(({ uniques }) =>
    uniques.filter(({ type }) => type.endsWith('-reporters')).map(({ different }) => different),
  )
  expect(counts.length).toBeGreaterThan(0)
  expect(new Set(counts.map(({ reports }) => reports))).toEqual(new Set([1]))

  // Even if all of them are trusted, they weigh no more than the provider with as many reports.
  const reporters = await Promise.all(ids.map(async (id) => (await rowOf(id)).reporterId))
  const all = [...reporters, provider.id]
  await pool.query('update karmas set agreed = 50 where reporter_id = any($1)', [all])
  const subject = { kind: 'address', name: '192.0.2.99' } as const
  const [together, alone] = [subject, { ...subject, name: '192.0.2.98' }]
  const at = new Date()
  const some = await reportedBy(pool, reporters, { subjects: [together], at })
  const repeated = ids.map(() => provider.id)
  const own = await reportedBy(pool, repeated, { subjects: [alone], at })
  await append(pool, [...some, ...own], at)
  await foldAll(pool, at)
  const [weight, one] = [await standing(pool, together, at), await standing(pool, alone, at)]
  expect(one.weight).toBeGreaterThan(0.2)
  expect(weight.weight).toBeLessThanOrEqual(one.weight)
  expect(weight.score).toBeGreaterThanOrEqual(one.score)
})
