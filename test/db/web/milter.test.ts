import { expect, test } from 'vitest'
import { createCounterReader } from '../../../src/counting/reader.ts'
import { readSending } from '../../../src/counting/sending.ts'
import { systemClock } from '../../../src/world.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { checkedMail } from '../../support/checked-mail.ts'
import { rollUpAll } from '../../support/counter-rows.ts'
import { listByHand } from '../../support/listed-by-hand.ts'
import { openMilterClient } from '../../support/milter-client.ts'
import { ruleOut } from '../../system/handing.ts'
import { openCheckSite } from './check-site.ts'

const site = await closeAfterTests(openCheckSite({ CHECK_MILTER_PORT: '0' }))
const { pool } = site.app
const good = 'https://good.example/'
await listByHand(pool, { kind: 'return-path-domain', name: 'bad.example' })

const letters = (replies: readonly { command: string }[]) =>
  replies.map(({ command }) => command).join('')

test('wanted mail passes unchanged', async () => {
  const server = await openMilterClient(site.milterPort)
  expect((await server.envelope()).command).toBe('c')
  expect(letters(await server.message(checkedMail('wanted', good)))).toBe('cc')
  server.socket.destroy()
})

test('mail that the envelope settles is marked, and its body is not transferred', async () => {
  const server = await openMilterClient(site.milterPort)
  expect((await server.envelope({ from: 'offers@bad.example' })).command).toBe('c')
  const replies = await server.message(checkedMail('marked', good))
  expect(letters(replies)).toBe('shc')
  expect(replies[1]?.data.toString()).toBe('X-Spam\0 Yes\0')
  expect(await site.metrics()).toContain(
    'signalpost_milter_messages_total{stage="envelope",answer="mark"} 1',
  )
  server.socket.destroy()
})

test('mail of a signed-in user is outgoing, and its envelope is not filtered', async () => {
  const server = await openMilterClient(site.milterPort)
  const from = 'offers@bad.example'
  await server.envelope({ user: 'Ann@home.example', from, to: 'you@there.example' })
  expect(letters(await server.message(checkedMail('outgoing', good)))).toBe('cc')
  // The user belongs to one message only.
  await server.envelope({ from })
  expect(letters(await server.message(checkedMail('incoming', good)))).toBe('shc')
  server.socket.destroy()
  const ann = { user: 'ann@home.example', system: '' }
  const todayOfAnn = async () => {
    await rollUpAll(pool, systemClock())
    const reader = createCounterReader(site.app, { keysMax: 10, freshMs: 0 })
    return (await readSending(reader, ann, systemClock())).today
  }
  await expect.poll(todayOfAnn).toMatchObject({ sent: 1, recipients: 1 })
})

test('mail with a high score is rejected after its content, with a reason', async () => {
  await ruleOut(pool)
  const server = await openMilterClient(site.milterPort)
  const worst = checkedMail('worst', 'https://worst.example/')
  const last = async () => {
    await server.envelope()
    return (await server.message(worst)).at(-1)?.data.toString()
  }
  await expect
    .poll(last, { timeout: 20_000, interval: 200 })
    .toBe('550 5.7.1 This message looks like spam.\0')
  server.socket.destroy()
})
