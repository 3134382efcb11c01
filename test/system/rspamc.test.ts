import { afterEach, beforeEach, expect, test } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { checkedMail } from '../support/checked-mail.ts'
import { listByHand } from '../support/listed-by-hand.ts'
import { makeSite, type Site } from '../support/parts.ts'
import { until } from '../support/process.ts'
import { rspamc } from './rspamc.ts'

let site: Site
let port: number

beforeEach(async () => {
  port = await freePort()
  site = await makeSite({ CHECK_PORT: String(port) })
  const subject = { kind: 'return-path-domain', name: 'bad.example' } as const
  await listByHand(site.database.pool, subject)
  await site.start('check')
})
afterEach(() => site.clear())

const envelope = ['-i', '203.0.113.9', '--helo', 'mx.shop.example', '-F', 'offers@shop.example']

test('rspamc shows the verdict as text, as JSON and compressed', async () => {
  const message = checkedMail('one', 'https://good.example/')
  const plain = await rspamc(port, [...envelope, '-r', 'you@home.example', 'symbols'], message)
  expect(plain.code).toBe(0)
  expect(plain.text).toContain('Action: no action')
  expect(plain.text).toMatch(/Score: -?\d\.\d\d \/ 15\.00/)
  expect(plain.text).toContain('Message-ID: one@shop.example')
  const json = await rspamc(port, [...envelope, '-z', '--json', 'symbols'], message)
  expect(json.text).toContain('"is_skipped": false')
  expect(json.text).toContain('"required_score": 15')
})

test('rspamc shows unwanted mail with the reason', async () => {
  const from = ['-F', 'offers@bad.example']
  const { text } = await rspamc(port, [...from, 'symbols'], checkedMail('bad', 'https://x.example'))
  expect(text).toContain('Action: add header')
  expect(text).toContain('Score: 10.00 / 15.00')
  expect(text).toContain('Symbol: FIRST_FILTER (10.00)')
})

test('mail learned by rspamc is analyzed as a report, and no one is notified', async () => {
  await site.start('work')
  const message = checkedMail('bad', 'https://bad.example/offer')
  expect((await rspamc(port, ['learn_spam'], message)).text).toContain('success = true')
  const again = await rspamc(port, ['learn_spam'], message)
  expect(again.text).toContain('The message was already learned as spam.')
  expect((await rspamc(port, ['learn_ham'], message)).text).toContain('success = true')
  const states = await until('the analysis', async () => {
    const { rows } = await site.database.pool.query<{ state: string; kind: string }>(
      'select state, kind from reports order by id',
    )
    return rows.some(({ state }) => state === 'received') ? undefined : rows
  })
  expect(states).toEqual([{ state: 'kept', kind: 'not-spam' }])
})

test('rspamc prints the statistics, and learns ham', async () => {
  await rspamc(port, ['symbols'], checkedMail('one', 'https://good.example/'))
  const learned = await rspamc(port, ['learn_ham'], checkedMail('two', 'https://good.example/'))
  expect(learned.text).toContain('success = true')
  const { text } = await rspamc(port, ['stat'])
  expect(text).toContain('Messages scanned: 1')
  expect(text).toContain('Messages with action no action: 1, 100.00%')
  expect(text).toContain('Messages learned: 1')
})

test('rspamc is refused without the password, and accepted with it', async () => {
  const guarded = await freePort()
  await site.start('check', { CHECK_PORT: String(guarded), CHECK_PASSWORD: 'open sesame' })
  const message = checkedMail('one', 'https://good.example/')
  const without = await rspamc(guarded, ['symbols'], message)
  expect(without.text).toContain('HTTP error: 401')
  const served = await rspamc(guarded, ['-P', 'open sesame', 'symbols'], message)
  expect(served.text).toContain('Action: no action')
})
