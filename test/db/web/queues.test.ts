import { expect, test } from 'vitest'
import { operations } from '../../../src/cli/queue.ts'
import { uuidv7 } from '../../../src/world.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { runCommand } from '../../support/command.ts'
import { signedInBrowser } from './browser.ts'
import { sampleMessage, startWebSite } from './web-site.ts'

const site = await closeAfterTests(startWebSite())
const ann = await site.addPerson('ann@reporters.example')
const oda = await site.addPerson('oda@desk.example', { role: 'operator' })
const desk = await signedInBrowser(site.url, oda)
const page = '/admin/queues'
const text = async (path: string) => (await desk.get(path)).text()

test('a pause is on every page for operators, in the metrics and in the health', async () => {
  const queue = 'forward-report'
  const paused = await desk.post(page, { do: 'pause', queue, reason: 'a desk complained' })
  expect(paused.headers.get('location')).toBe(`${page}?done=paused`)
  for (const path of ['/admin/audit', '/admin/reports', page]) {
    expect(await text(path)).toContain('<strong>Paused: forward-report.</strong>')
  }
  expect(await text(page)).toMatch(/by oda@desk\.example: a desk complained/)
  const headers = { authorization: `Bearer ${oda.token}` }
  // The metrics remember the queues for two seconds.
  await expect
    .poll(async () => (await fetch(`${site.url}/metrics`, { headers })).text(), { timeout: 5_000 })
    .toContain('signalpost_queue_paused{queue="forward-report"} 1')
  const health = await fetch(`${site.url}/api/v1/health`, { headers })
  const { conditions } = (await health.json()) as { conditions: { code: string }[] }
  expect(conditions.find(({ code }) => code === 'queues-paused')).toMatchObject({
    level: 'warning',
    action: 'queue resume',
  })
  // The advice follows the cause, here that no process runs.
  expect(conditions.find(({ code }) => code === 'database')).toMatchObject({
    advice: expect.stringContaining('signalpost start'),
  })
  await desk.post(page, { do: 'resume', queue })
  expect(await text(page)).not.toContain('<strong>Paused:')
})

test('the page of a queue shows what its jobs are about, and cancels them', async () => {
  const id = await site.report(ann, sampleMessage('listed'))
  const html = await text(`${page}/analyze-report`)
  expect(html).toContain(`<a href="/admin/reports/${id}">${id}</a>`)
  const job = new RegExp(`${id}[^]*?name="id" value="([0-9a-f-]{36})"`).exec(html)?.[1] ?? ''
  const answer = await desk.post(`${page}/analyze-report`, { do: 'cancel', id: job })
  expect(answer.headers.get('location')).toBe(`${page}/analyze-report?done=canceled`)
  expect(await text(`${page}/analyze-report`)).not.toContain(id)
  expect(await text('/admin/dead-letters')).toContain('Canceled by an operator.')
  expect((await desk.get(`${page}/unknown`)).status).toBe(404)
})

test('the API lists the queues and pauses one', async () => {
  const call = async (path: string, method: string, body?: object) => {
    const headers = { authorization: `Bearer ${oda.token}`, 'content-type': 'application/json' }
    const options = { method, headers, body: body ? JSON.stringify(body) : null }
    const answer = await fetch(`${site.url}/api/v1/queues${path}`, options)
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
  }
  const change = { paused: true, reason: 'by a script', concurrency: 2 }
  const changed = await call('/send-letter', 'PATCH', change)
  expect(changed).toMatchObject({ status: 200, body: { paused: true, concurrency: 2 } })
  const { body } = await call('', 'GET')
  expect(body['queues']).toContainEqual(
    expect.objectContaining({ name: 'send-letter', paused: true, reason: 'by a script' }),
  )
  const undone = await call('/send-letter', 'PATCH', { paused: false, concurrency: null })
  expect(undone.body).toMatchObject({ paused: false, concurrency: null })
  expect((await call('/send-letter', 'PATCH', { paused: true })).status).toBe(422)
  expect((await call('/unknown', 'PATCH', { concurrency: 1 })).status).toBe(422)
})

test('the command line pauses, lists and resumes', async () => {
  const run = (...args: string[]) => runCommand(operations, args, site.app)
  expect(await run('pause', 'send-letter', '--why', 'a test')).toMatchObject({ code: 0 })
  expect((await run('list')).stdout).toMatch(/^send-letter +0 +0 +0 s +paused since 20/m)
  expect(await run('resume')).toMatchObject({ code: 0 })
  expect((await run('list')).stdout).not.toContain('paused')
  await site.report(ann, sampleMessage('printed'))
  expect((await run('jobs', 'analyze-report')).stdout).toContain('"reportId"')
  expect((await run('chores')).stdout).toMatch(/^keep-house +\S+ .*not yet/m)
})

test('mail of a paused queue has no button that sends it', async () => {
  await site.app.pool.query(
    `insert into letters (id, reporter_id, address, kind, state, created_at, encoding, content)
     values ($1, $2, 'ann@reporters.example', 'advice', 'queued', now(), 'identity', '')`,
    [uuidv7(new Date()), ann.id],
  )
  await desk.post(page, { do: 'pause', queue: 'send-letter', reason: 'a restore' })
  const paused = await text('/admin/outbox/waiting')
  expect(paused).toContain('The queue is paused.')
  expect(paused).not.toContain('Send all waiting mail now')
  await desk.post(page, { do: 'resume', queue: 'send-letter' })
  expect(await text('/admin/outbox/waiting')).toContain('Send all waiting mail now')
})
