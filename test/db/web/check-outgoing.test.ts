import { expect, test } from 'vitest'
import { countMessages } from '../../../src/counting/count-messages.ts'
import { createCounterReader } from '../../../src/counting/reader.ts'
import { readSending } from '../../../src/counting/sending.ts'
import type { SuspectMessage } from '../../../src/db/sender-alerts.ts'
import { shingleHash } from '../../../src/pieces/shingles/hash.ts'
import { pieceTypes } from '../../../src/pieces/shingles/piece-types.ts'
import { type SendingUser, sendingShingles } from '../../../src/pieces/shingles/sending-user.ts'
import { systemClock } from '../../../src/world.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { checkedMail } from '../../support/checked-mail.ts'
import { rollUpAll } from '../../support/counter-rows.ts'
import { know } from '../../support/listed.ts'
import { listByHand } from '../../support/listed-by-hand.ts'
import { openCheckSite } from './check-site.ts'

const noted: { user: SendingUser; message: SuspectMessage | undefined }[] = []
const watch = {
  note: (user: SendingUser, message?: SuspectMessage) => void noted.push({ user, message }),
}
const site = await closeAfterTests(openCheckSite({}, { watch }))
const { app } = site

const reader = () => createCounterReader(app, { keysMax: 10, freshMs: 0 })
async function todayOf(user: string, system = '') {
  await rollUpAll(app.pool, systemClock())
  return (await readSending(reader(), { user, system }, systemClock())).today
}

test('mail of a user is outgoing: it counts for the user, and not as checked mail', async () => {
  const ann = { ip: '203.0.113.77', user: 'Ann@home.example', rcpt: 'You@there.example' }
  await site.post('/checkv2', checkedMail('one', 'https://one.example/'), ann)
  await site.post('/checkv2', checkedMail('two', 'https://one.example/'), ann)
  const other = { ...ann, 'mail-system': 'second' }
  await site.post('/checkv2', checkedMail('three', 'https://one.example/'), other)
  await expect
    .poll(() => todayOf('ann@home.example'))
    .toMatchObject({ sent: 2, unwanted: 0, recipients: 1 })
  await expect
    .poll(() => todayOf('ann@home.example', 'second'))
    .toMatchObject({ sent: 1, recipients: 1 })
  const key = shingleHash(pieceTypes['origin-ip'].number, ann.ip)
  const [windows] = await reader().readWindows([key])
  expect(windows?.outgoing?.today.ham).toBe(3)
  expect(windows?.checks).toBeUndefined()
})

test('a user with many complaints is judged more strictly, but not for that alone', async () => {
  const now = systemClock()
  const complained = Array.from({ length: 5 }, (_, n) =>
    sendingShingles({ system: '', user: 'bea' }, 'complaint', [`r${n}@there.example`]),
  )
  const messages = complained.map((shingles) => ({ shingles, amounts: { ham: 1 }, at: now }))
  const counted = messages.map((one) => ({ ...one, prefix: 'outgoing' as const }))
  await countMessages(app.pool, counted, now)
  await rollUpAll(app.pool, now)
  const mail = checkedMail('four', 'https://four.example/')
  const { json } = await site.post('/checkv2', mail, { user: 'bea' })
  expect(json.symbols).toHaveProperty('SENDER_BAD_REPUTATION')
  expect(json.action).toBe('no action')
  const incoming = await site.post('/checkv2', mail)
  expect(json.score).toBeGreaterThan(incoming.json.score)
})

test('unwanted mail of a user is noted with its evidence, but not its content', async () => {
  expect(noted).toEqual([])
  await listByHand(app.pool, { kind: 'link-host', name: 'bad-link.com' })
  const bad = { name: 'bad-link.com', bad: 20, at: systemClock() }
  await know(app.pool, [
    { ...bad, kind: 'link-host' },
    { ...bad, kind: 'link-domain' },
    { ...bad, kind: 'claimed-author', name: 'offers@shop.example' },
  ])
  const mail = checkedMail('five', 'https://bad-link.com/')
  const carl = { user: 'carl', rcpt: 'you@there.example', 'queue-id': '4ABC' }
  expect((await site.post('/checkv2', mail, carl)).json).toMatchObject({ action: 'add header' })
  expect(noted).toMatchObject([
    {
      user: { user: 'carl', system: '' },
      message: {
        queueId: '4ABC',
        recipients: 1,
        class: 'spam',
        symbols: [
          'SURELY_BAD',
          'LINK_DOMAIN_BAD_REPUTATION',
          'LINK_HOST_BAD_REPUTATION',
          'CLAIMED_AUTHOR_BAD_REPUTATION',
        ],
      },
    },
  ])
})
