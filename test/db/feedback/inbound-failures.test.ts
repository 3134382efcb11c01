import { beforeEach, expect, test } from 'vitest'
import { handleInboundMail, runHandleInbound } from '../../../src/feedback/handle-inbound.ts'
import { runKeepHouse, runMarkDead } from '../../../src/reports/keep-house.ts'
import { readInbound } from '../../../src/mail/inbound/read-inbound.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { openTestApp } from '../../support/app.ts'
import { arrive, reply } from '../../support/inbound-mail.ts'
import { findInboxMail } from '../../../src/db/inbox.ts'
import { phrase } from '../../../src/phrase.ts'
import { unpack } from '../../../src/db/rows.ts'
import type { ParserPool } from '../../../src/parsing/parser-pool.ts'

const app = await closeAfterTests(openTestApp())

beforeEach(() => app.pool.query('delete from pgboss.job'))

/** A pool whose thread crashes on mails that contain a certain word. */
const parser: Pick<ParserPool, 'readInbound'> = {
  async readInbound(packed, mailFrom) {
    const raw = await unpack(packed)
    if (raw.includes('deadly')) throw new Error('The thread died.')
    return readInbound(raw, mailFrom)
  },
}

const arrived = (text: string) =>
  arrive(app, reply('bob@desk.example', [text]), { purpose: 'other', mailFrom: 'bob@desk.example' })

async function stateOf({ mailId }: { mailId: string }) {
  const [row] = await app.rows('select state, kind from inbound_mails where id = $1', [mailId])
  return row
}

async function die({ mailId }: { mailId: string }) {
  const id = await app.boss.send('dead-letter', { mailId })
  await app.pool.query(`update pgboss.job set source_name = 'handle-inbound' where id = $1`, [id])
}

test('a mail that crashes its parser fails only its own job', async () => {
  const mails = [await arrived('one'), await arrived('deadly'), await arrived('two')]
  expect(await runHandleInbound(mails, { ...app, parser })).toEqual([
    'done',
    { retry: 'The thread died.' },
    'done',
  ])
  expect(await Promise.all(mails.map(stateOf))).toEqual([
    { state: 'handled', kind: 'reply' },
    { state: 'received', kind: null },
    { state: 'handled', kind: 'reply' },
  ])
})

test('a mail whose job is a dead letter is failed; redriven, it is handled normally', async () => {
  const mail = await arrived('hello')
  await die(mail)
  await runMarkDead(app)
  await runMarkDead(app)
  expect(await stateOf(mail)).toEqual({ state: 'failed', kind: null })
  expect((await findInboxMail(app.pool, mail.mailId))?.phrases).toEqual([phrase('inbound-failed')])
  await handleInboundMail(mail, { ...app, parser })
  expect(await stateOf(mail)).toEqual({ state: 'handled', kind: 'reply' })
  await runMarkDead(app)
  expect(await stateOf(mail)).toEqual({ state: 'handled', kind: 'reply' })
})

test('a mail without a job gets one; a mail with a dead letter does not', async () => {
  const [lost, dead, fresh] = [await arrived('lost'), await arrived('dead'), await arrived('fresh')]
  await handleInboundMail(fresh, { ...app, parser })
  await die(dead)
  const inAnHour = () => new Date(Date.now() + 3_600_000)
  await runKeepHouse({ ...app, clock: inAnHour })
  const jobs = await app.rows(
    `select data ->> 'mailId' as "mailId" from pgboss.job where name = 'handle-inbound'`,
  )
  expect(jobs.map(({ mailId }) => mailId)).toContain(lost.mailId)
  expect(jobs.map(({ mailId }) => mailId)).not.toContain(dead.mailId)
  expect(jobs.map(({ mailId }) => mailId)).not.toContain(fresh.mailId)
})
