import { expect, test } from 'vitest'
import { runAction } from '../../../src/actions.ts'
import { keepHeartbeat } from '../../../src/db/health.ts'
import { listEnabledPartners, putPartner } from '../../../src/db/partners.ts'
import { inTransaction } from '../../../src/db/pool.ts'
import { openBytes, sealBytes } from '../../../src/db/sealed-bytes.ts'
import { insertSecret, listSecrets } from '../../../src/db/secrets.ts'
import { createKeyRing, type KeyRing } from '../../../src/key-ring.ts'
import { queueLetter } from '../../../src/letters/send-letter.ts'
import { runSealAudit, verifyAudit } from '../../../src/people/audit-seals.ts'
import { createMailboxUsers } from '../../../src/people/mailbox-users.ts'
import { rotateSecret } from '../../../src/people/rotate-secret.ts'
import { codeAt, takeCode } from '../../../src/people/second-step.ts'
import { readSecretState } from '../../../src/people/secret-state.ts'
import { insertAudit } from '../../../src/db/audit-log.ts'
import { openLetter } from '../../../src/letters/send-letter.ts'
import { findLetterMessage } from '../../../src/db/letters.ts'
import { makeMailInAddress, mailInAddressOf } from '../../../src/reports/take-mailed.ts'
import { uuidv7 } from '../../../src/world.ts'
import { closeAfterThisTest } from '../../support/after-tests.ts'
import { openTestApp } from '../../support/app.ts'

const [old, fresh] = [
  'the old secret of the tests, long enough',
  'the new secret of the tests, too',
]
const MINUTE_MS = 60_000

/**
 * A site with two processes' key rings: one that has only the old secret, and one that is prepared
 * for the change. Each look at the clock is a minute later, so nothing waits.
 */
async function site() {
  const app = await closeAfterThisTest(openTestApp())
  let now = Date.now()
  const clock = () => new Date((now += MINUTE_MS))
  const still = () => new Date(now)
  const sleep = (minutes: number) => void (now += minutes * MINUTE_MS)
  const ring = (secret: string, ...previous: string[]) => createKeyRing(secret, previous, still)
  const with_ = (secret: KeyRing) => ({ ...app, clock, config: { ...app.config, secret } })
  const name = ring(old).names[0] ?? ''
  await insertSecret(app.pool, { number: 1, name, inForceAt: new Date(now - MINUTE_MS) })
  return {
    ...app,
    clock,
    sleep,
    ring,
    before: with_(ring(old)),
    after: with_(ring(fresh, old)),
    as: with_,
  }
}

type Its = Awaited<ReturnType<typeof site>>

const rotate = (its: Its, given: { leaked?: true } = {}, app = its.after) =>
  runAction(rotateSecret, given, app, null)

const totp = Buffer.from('12345678901234567890')

async function addSecondSteps(its: Its, count: number): Promise<string[]> {
  const at = its.clock()
  const ids = Array.from({ length: count }, () => uuidv7(at))
  for (const id of ids) {
    const about = { purpose: 'second step', owner: id } as const
    await its.rows(
      `insert into reporters (id, email, totp_secret, totp_step, created_at)
       values ($1, $2, $3, 0, now())`,
      [id, `${id}@example.org`, sealBytes(totp, about, its.before.config.secret)],
    )
  }
  return ids
}

function letterOf(its: Its): Promise<string> {
  const link = 'https://here.example/letters/off/abcdefghijklmnopqrstuvwxyz'
  const unsubscribe = { url: link, key: link.slice(-16) }
  const letter = { kind: 'news', to: 'ann@reporters.example', subject: 'x', text: 'x' } as const
  const how = { language: 'en', unsubscribe, autoSubmitted: 'generated' } as const
  return inTransaction(its.pool, (tx) =>
    queueLetter(tx, { ...letter, ...how }, its.before, its.clock()),
  )
}

test('what is stored is encrypted again, and then the old secret is not needed', async () => {
  const its = await site()
  const [one = ''] = await addSecondSteps(its, 450)
  const letter = await letterOf(its)
  const about = { purpose: 'partner key', owner: 'urlhaus' } as const
  const sealedKey = sealBytes(Buffer.from('our key'), about, its.before.config.secret)
  const partner = { key: 'urlhaus', contact: null, enabledAt: its.clock() }
  await putPartner(its.pool, { ...partner, sealedKey })
  expect(await rotate(its)).toMatchObject({ done: 'converted', count: 451 })
  const alone = createKeyRing(fresh, [], its.clock)
  const now = its.clock()
  expect(await takeCode({ db: its.pool, secret: alone }, one, codeAt(totp, now), now)).toBe(true)
  const copy = await findLetterMessage(its.pool, letter)
  const raw = copy && (await openLetter(letter, copy, alone))
  expect(raw?.toString('latin1')).toContain('abcdefghijklmnopqrstuvwxyz')
  const [kept] = await listEnabledPartners(its.pool)
  expect(kept?.sealedKey && openBytes(kept.sealedKey, about, alone)).toEqual(Buffer.from('our key'))
  const { change, isPrepared } = await readSecretState(its.after)
  expect(change?.converted).toEqual({ secondSteps: 450, letters: 1 })
  expect(change?.convertedAt).not.toBeNull()
  expect(isPrepared).toBe(false)
  // It may be repeated, and finds nothing to do.
  expect(await rotate(its)).toMatchObject({ done: 'converted', count: 0 })
  expect(await listSecrets(its.pool)).toHaveLength(2)
})

test('it continues where it was killed', async () => {
  const its = await site()
  await addSecondSteps(its, 450)
  await its.rows(`create function stop_it() returns trigger language plpgsql as $$
    begin raise exception 'killed'; end $$`)
  // The third batch fails.
  const [{ id = '' } = {}] = await its.rows(
    'select id from reporters where totp_secret is not null order by id desc limit 1',
  )
  await its.rows(`create trigger stop_it before update on reporters for each row
    when (old.id = '${String(id)}') execute function stop_it()`)
  await expect(rotate(its)).rejects.toThrow('killed')
  expect((await readSecretState(its.after)).change).toMatchObject({
    convertedAt: null,
    converted: { secondSteps: 400 },
  })
  await its.rows('drop trigger stop_it on reporters')
  expect(await rotate(its)).toMatchObject({ done: 'converted', count: 50 })
  expect((await readSecretState(its.after)).change?.converted.secondSteps).toBe(450)
})

test('nothing changes while a process does not have the new secret', async () => {
  const its = await site()
  const beat = { host: 'mx', name: 'work', duty: '', version: '1', startedAt: its.clock() }
  const secrets = its.before.config.secret.names
  const at = { facts: { secrets }, now: new Date() }
  await keepHeartbeat(its.pool, { id: uuidv7(its.clock()), ...beat, ...at })
  expect(await rotate(its)).toMatchObject({
    problems: [{ message: expect.stringContaining('first: work on mx. Nothing was changed.') }],
  })
  expect(await listSecrets(its.pool)).toHaveLength(1)
  await its.rows('delete from processes')
  expect(await rotate(its, {}, its.as(its.ring(fresh)))).toMatchObject({
    problems: [{ message: expect.stringContaining('SECRET_PREVIOUS does not contain') }],
  })
  await rotate(its)
  expect(await rotate(its, {}, its.as(its.ring(old, fresh)))).toMatchObject({
    problems: [{ message: expect.stringContaining('was used before') }],
  })
})

test('users of a mail server and addresses of reporters stay the same', async () => {
  const its = await site()
  const provider = { id: its.ann, email: 'ann@reporters.example', role: null }
  const user = (app: typeof its.after) => createMailboxUsers(app, false)(provider, 'box-7')
  const [known, address] = [await user(its.before), await makeMailInAddress(its.before, its.bob)]
  await rotate(its)
  expect(await user(its.after)).toMatchObject({ id: (known as { id: string }).id })
  expect(await user(its.as(createKeyRing(fresh, [], its.clock)))).toMatchObject({
    id: (known as { id: string }).id,
  })
  expect((await mailInAddressOf(its.after, its.bob))?.address).toBe(address)
  const { dependences } = await readSecretState(its.after)
  const counts = Object.fromEntries(dependences.map(({ purpose, count }) => [purpose, count]))
  expect(counts).toMatchObject({ 'mailbox user': null, 'mail-in address': 1, 'consumer page': 0 })
})

test('older seals of the audit log stay valid, and need the secret of their time', async () => {
  const its = await site()
  await insertAudit(its.pool, { at: its.clock(), reporterId: null, action: 'purge', detail: 'a' })
  its.sleep(60)
  await runSealAudit(its.before)
  await rotate(its)
  its.sleep(60)
  await runSealAudit(its.after)
  expect(await verifyAudit(its.after)).toMatchObject({ seals: 2, faults: [] })
  const alone = createKeyRing(fresh, [], its.clock)
  alone.update(await listSecrets(its.pool))
  const { faults } = await verifyAudit(its.as(alone))
  expect(faults).toEqual([expect.stringContaining('SECRET_PREVIOUS lacks the secret')])
})

test('a leaked secret ends at once, also after an ordinary change', async () => {
  const its = await site()
  const [one = ''] = await addSecondSteps(its, 1)
  await makeMailInAddress(its.before, its.bob)
  await rotate(its)
  const needs = async () => {
    const { dependences, change } = await readSecretState(its.after)
    const need = new Map(dependences.map((one) => [one.purpose, one.need]))
    return { need, isLeaked: change?.isLeaked }
  }
  const before = await needs()
  expect(before.isLeaked).toBe(false)
  expect(before.need.get('second step')).toBe('over')
  expect(before.need.get('answer link')).toBe('fades')
  expect(await rotate(its, { leaked: true })).toMatchObject({ done: 'leaked' })
  const after = await needs()
  expect(after.isLeaked).toBe(true)
  expect(after.need.get('answer link')).toBe('ended')
  expect(after.need.get('consumer page')).toBe('ended')
  expect(after.need.get('audit log')).toBe('fades')
  const rows = await listSecrets(its.pool)
  expect(rows.map(({ endedAt }) => endedAt !== null)).toEqual([true, false])
  expect(its.after.config.secret.accepted('answer link')).toHaveLength(1)
  expect(await its.rows('select 1 from mail_in_addresses')).toEqual([])
  const now = its.clock()
  const keys = { db: its.pool, secret: its.after.config.secret }
  expect(await takeCode(keys, one, codeAt(totp, now), now)).toBe(true)
  const audit = await its.rows(
    `select detail from audit_log where action = 'change secret' order by id`,
  )
  expect(audit.map(({ detail }) => String(detail).includes('ended'))).toEqual([false, true])
})

test('a lost secret can be replaced', async () => {
  const its = await site()
  const alone = its.as(its.ring(fresh))
  expect(await rotate(its, { leaked: true }, alone)).toMatchObject({ done: 'leaked' })
  expect(alone.config.secret.isUsable()).toBe(true)
})
