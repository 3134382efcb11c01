import { afterEach, beforeEach, expect, test } from 'vitest'
import { freePort } from '../../src/db/embedded.ts'
import { checkedMail } from '../support/checked-mail.ts'
import { makeSite, type Site } from '../support/parts.ts'
import { until } from '../support/process.ts'
import { rspamc } from './rspamc.ts'

const bad = 'https://bad.example/offer'
let site: Site
let port: number

beforeEach(async () => {
  port = await freePort()
  site = await makeSite({ CHECK_PORT: String(port) })
  await site.start('check')
})
afterEach(() => site.clear())

const envelope = ['-i', '203.0.113.9', '--helo', 'mx.shop.example', '-F', 'offers@shop.example']

test('rspamc shows the verdict, plainly, as JSON and compressed', async () => {
  const message = checkedMail('one', 'https://good.example/')
  const plain = await rspamc(port, [...envelope, '-r', 'you@home.example', 'symbols'], message)
  expect(plain.code).toBe(0)
  expect(plain.text).toContain('Action: no action')
  expect(plain.text).toContain('Score: 0.00 / 15.00')
  expect(plain.text).toContain('Message-ID: one@shop.example')
  const json = await rspamc(port, [...envelope, '-z', '--json', 'symbols'], message)
  expect(json.text).toContain('"is_skipped": false')
  expect(json.text).toContain('"required_score": 15')
})

test('what rspamc teaches three times is spam, also in a message nobody has seen', async () => {
  await site.start('work')
  await site.start('count')
  for (const mark of ['a', 'b', 'c']) {
    const taught = await rspamc(port, ['learn_spam'], checkedMail(mark, bad))
    expect(taught.text).toContain('success = true')
  }
  const again = await rspamc(port, ['learn_spam'], checkedMail('a', bad))
  expect(again.text).toContain('It was learned as spam before.')
  const known = await until('the verdict', async () => {
    const { text } = await rspamc(port, [...envelope, 'symbols'], checkedMail('new', bad))
    return text.includes('Action: add header') ? text : undefined
  })
  expect(known).toMatch(/Symbol: REPORTED/)
}, 90_000)

test('rspamc prints the statistics, and learns ham', async () => {
  await rspamc(port, ['symbols'], checkedMail('one', 'https://good.example/'))
  const learned = await rspamc(port, ['learn_ham'], checkedMail('two', 'https://good.example/'))
  expect(learned.text).toContain('success = true')
  const { text } = await rspamc(port, ['stat'])
  expect(text).toContain('Messages scanned: 1')
  expect(text).toContain('Messages with action no action: 1, 100.00%')
  expect(text).toContain('Messages learned: 1')
})

test('rspamc is refused without the password, and served with it', async () => {
  const guarded = await freePort()
  await site.start('check', { CHECK_PORT: String(guarded), CHECK_PASSWORD: 'open sesame' })
  const message = checkedMail('one', 'https://good.example/')
  const without = await rspamc(guarded, ['symbols'], message)
  expect(without.text).toContain('HTTP error: 401')
  const served = await rspamc(guarded, ['-P', 'open sesame', 'symbols'], message)
  expect(served.text).toContain('Action: no action')
})
