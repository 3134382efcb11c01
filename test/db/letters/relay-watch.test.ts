import { beforeEach, expect, test } from 'vitest'
import { findMailRelay } from '../../../src/db/mail-relay.ts'
import { inTransaction } from '../../../src/db/pool.ts'
import { retryMail } from '../../../src/feedback/release-held.ts'
import { createReadHealth } from '../../../src/health/read-health.ts'
import { sendLetter } from '../../../src/letters/queues.ts'
import { createRelayGate } from '../../../src/letters/relay-gate.ts'
import type { SendOutcome } from '../../../src/letters/relay-memory.ts'
import { openLook } from '../../../src/letters/relay-watch.ts'
import { queueLetter, runSendLetter } from '../../../src/letters/send-letter.ts'
import type { OutgoingMail } from '../../../src/net/mailer.ts'
import { workQueue } from '../../../src/queue/work.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { openTestApp } from '../../support/app.ts'

const app = await closeAfterTests(openTestApp())
const accepted: SendOutcome = { outcome: 'accepted', reply: '250 taken' }
const silent: SendOutcome = {
  ...{ outcome: 'later', replyCode: undefined, reason: 'The mail server took too long to answer.' },
  fault: 'session',
}

beforeEach(async () => {
  await app.pool.query(
    `update mail_relay set refused_since = null, refused_at = null, reply = null, failures = 0,
       next_try_at = null, accepted_at = now() - interval '1 minute', resumed_at = null`,
  )
  await app.pool.query('delete from letters')
  await app.pool.query(`delete from pgboss.job where name = 'send-letter'`)
})

/** A process with a mail server that hangs until the test answers, and a clock of its own. */
function openProcess() {
  const far = {
    isHung: true,
    asksForData: false,
    mails: [] as { mail: OutgoingMail; answer: (outcome: SendOutcome) => void }[],
    probed: 0,
    probe: silent,
    now: Date.now(),
  }
  const send = (mail: OutgoingMail): Promise<SendOutcome> => {
    const { promise, resolve } = Promise.withResolvers<SendOutcome>()
    far.mails.push({ mail, answer: resolve })
    if (far.asksForData) mail.onData?.()
    if (!far.isHung) resolve(accepted)
    mail.signal?.addEventListener('abort', () => resolve(silent))
    return promise
  }
  const needs = {
    ...app,
    clock: () => new Date(far.now),
    mailer: { send, close: () => Promise.resolve() },
  }
  const relay = createRelayGate(needs)
  const probe = () => {
    far.probed++
    return Promise.resolve(far.probe)
  }
  return { far, needs, relay, look: openLook(needs, relay, probe) }
}

async function owe(to: string): Promise<string> {
  const said = { kind: 'account', subject: 'Sign up', text: 'Hello.', language: 'en' } as const
  return inTransaction(app.pool, (tx) =>
    queueLetter(tx, { ...said, to, autoSubmitted: 'generated' }, app, app.clock()),
  )
}

/** Owes letters to different people, and starts a worker that waits for them only briefly. */
async function startSending(count: number, { needs, relay, far }: ReturnType<typeof openProcess>) {
  for (let at = 0; at < count; at++) await owe(`person-${at}@there.example`)
  const worker = await workQueue(needs, sendLetter, (payloads) =>
    runSendLetter(payloads, needs, relay, 50),
  )
  await expect.poll(() => far.mails.length, { timeout: 30_000 }).toBe(count)
  return worker
}

/** The jobs that wait, with the seconds until they start. */
const jobs = () =>
  app.rows(
    `select extract(epoch from start_after - now())::float8 as seconds,
       data ? 'isUnderWay' as "isUnderWay" from pgboss.job
     where name = 'send-letter' and state < 'active' order by 1`,
  )

const leasedJobs = async () => (await jobs()).filter(({ isUnderWay }) => isUnderWay === true).length
const unsent = async () =>
  (await app.rows(`select count(*)::int as n from letters where state <> 'sent'`))[0]?.['n']

async function mailLeaving(now: number) {
  const config = { ...app.config, smtpUrl: 'smtp://relay.example' }
  const read = createReadHealth({ ...app, config, clock: () => new Date(now) })
  return (await read({ isFresh: true })).conditions.find(({ code }) => code === 'mail-leaving')
}

test('a server that hangs is noticed, tried again, and gets all mail when it answers', async () => {
  const here = openProcess()
  const { far, look, relay } = here
  const sending = await startSending(3, here)
  await expect.poll(leasedJobs, { timeout: 30_000 }).toBe(3)
  expect(far.mails).toHaveLength(3)
  expect(await look()).toBe(false)
  far.now += 6_000
  expect(await look()).toBe(true)
  expect((await findMailRelay(app.pool)).refusedSince).not.toBeNull()
  far.now += 15_000
  expect(await mailLeaving(far.now)).toMatchObject({ level: 'warning' })

  await look()
  await expect.poll(() => relay.attempts.size).toBe(0)
  await expect.poll(leasedJobs, { timeout: 30_000 }).toBe(0)
  expect((await jobs()).length).toBe(3)

  far.now += 10_000
  const probed = far.probed
  await look()
  expect(far.probed).toBe(probed + 1)
  far.now += 1_000
  await look()
  expect(far.probed).toBe(probed + 1)

  far.isHung = false
  far.probe = accepted
  far.now += 10_000
  await look()
  await expect.poll(unsent, { timeout: 10_000 }).toBe(0)
  expect(await findMailRelay(app.pool)).toMatchObject({ refusedSince: null, nextTryAt: null })
  expect(far.mails).toHaveLength(6)
  expect(await mailLeaving(far.now)).toMatchObject({ level: 'ok' })
  await sending.close()
})

test('a server that confirms no message counts as hung; none is repeated soon', async () => {
  const here = openProcess()
  const { far, look, relay } = here
  Object.assign(far, { asksForData: true, probe: accepted })
  const sending = await startSending(3, here)
  await expect.poll(leasedJobs, { timeout: 30_000 }).toBe(3)
  far.now += 6_000
  expect(await look()).toBe(true)
  expect((await findMailRelay(app.pool)).reply).toContain('does not confirm')
  far.now += 50_000
  await look()
  expect(relay.attempts.size).toBe(3)
  expect(await leasedJobs()).toBe(3)

  far.isHung = false
  await owe('person-late@there.example')
  await expect.poll(async () => far.mails.length, { timeout: 10_000 }).toBe(4)
  await expect.poll(unsent).toBe(3)
  far.now += 12_000
  await look()
  await expect.poll(leasedJobs, { timeout: 30_000 }).toBe(0)
  await app.pool.query(`update pgboss.job set start_after = now() where name = 'send-letter'`)
  await expect.poll(unsent, { timeout: 10_000 }).toBe(0)
  const ids = far.mails.map(({ mail }) => /^Message-ID: (\S+)/im.exec(String(mail.raw))?.[1])
  expect(new Set(ids).size).toBe(4)
  await sending.close()
})

test('mail that stalls at few addresses does not pause other mail', async () => {
  const here = openProcess()
  const { far, look } = here
  far.probe = accepted
  const sending = await startSending(2, here)
  await expect.poll(leasedJobs, { timeout: 30_000 }).toBe(2)
  far.now += 6_000
  expect(await look()).toBe(false)
  expect(await findMailRelay(app.pool)).toMatchObject({ refusedSince: null })
  for (const { answer } of far.mails) answer(accepted)
  await sending.close()
})

test('a try that ends early gives its job back at once, or drops it', async () => {
  const here = openProcess()
  const { far } = here
  const sending = await startSending(2, here)
  await expect.poll(leasedJobs, { timeout: 30_000 }).toBe(2)
  expect((await jobs())[0]?.['seconds']).toBeGreaterThan(600)
  far.mails[0]?.answer(accepted)
  await expect.poll(async () => (await jobs()).length).toBe(1)
  far.mails[1]?.answer({ outcome: 'later', replyCode: 451, reason: '451 busy', fault: 'message' })
  await expect.poll(leasedJobs, { timeout: 30_000 }).toBe(0)
  expect((await jobs())[0]?.['seconds']).toBeLessThanOrEqual(sendLetter.attempts.retryDelay)
  await sending.close()
  await Promise.all(app.boss.givingBack)
})

test('while no mail waits, an answer to a probe ends the pause', async () => {
  const { far, look, relay } = openProcess()
  await relay.pause('The mail server is away.', new Date(far.now))
  far.now += 10_000
  await look()
  expect(await findMailRelay(app.pool)).toMatchObject({ reply: expect.any(String) })
  far.probe = accepted
  far.now += 10_000
  await look()
  expect(await findMailRelay(app.pool)).toMatchObject({ refusedSince: null, nextTryAt: null })
})

test('of several processes, one tries the paused server', async () => {
  const [one, other] = [openProcess(), openProcess()]
  await one.relay.pause('The mail server is away.', new Date(one.far.now))
  for (const { far } of [one, other]) far.now = Date.now() + 10_000
  await Promise.all([one.look(), other.look()])
  expect(one.far.probed + other.far.probed).toBe(1)
})

test('the button acts on mail that waits in each way, not on mail that is being sent', async () => {
  const waits = {
    paused: [`'{}'`, `'created'`, '5 minutes'],
    refused: [`'{"refusedSince":"2026-01-01T00:00:00.000Z"}'`, `'created'`, '10 minutes'],
    stalled: [`'{"postponedSince":"2026-01-01T00:00:00.000Z"}'`, `'created'`, '1 hour'],
    retried: [`'{}'`, `'retry'`, '4 hours'],
    underWay: [`'{"isUnderWay":true}'`, `'created'`, '14 minutes'],
    reserved: [`'{}'`, `'created'`, '60 seconds'],
  }
  for (const [data, state, after] of Object.values(waits)) {
    await app.pool.query(
      `insert into pgboss.job (name, data, state, start_after)
       values ('forward-report', ${data}::jsonb, ${state}, now() + interval '${after}')`,
    )
  }
  const context = { ...app, at: app.clock() } as never
  const done = await inTransaction(app.pool, (tx) => retryMail.run(tx, {}, context))
  expect(done).toMatchObject({ done: 'retried', count: 4 })
  const left = await app.rows(
    `select data from pgboss.job where name = 'forward-report'
     and start_after > now() + interval '10 seconds'`,
  )
  expect(left.map(({ data }) => data)).toEqual(expect.arrayContaining([{ isUnderWay: true }, {}]))
  expect(left).toHaveLength(2)
  await app.pool.query(`delete from pgboss.job where name = 'forward-report'`)
})
