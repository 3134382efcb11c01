import { afterEach, beforeEach, expect, test } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { checkedMail } from '../support/checked-mail.ts'
import { listByHand } from '../support/listed-by-hand.ts'
import { makeSite, type Site } from '../support/parts.ts'
import { type Program, until } from '../support/process.ts'
import { type Exim, startExim } from './exim.ts'
import { hand, mailIn, ruleOut } from './handing.ts'

const good = 'https://good.example/'
let site: Site
let checkPort: number
let exim: Exim
let check: Program

beforeEach(async () => {
  checkPort = await freePort()
  site = await makeSite({ CHECK_PORT: String(checkPort) })
  const subject = { kind: 'return-path-domain', name: 'bad.example' } as const
  await listByHand(site.database.pool, subject)
  check = await site.start('check')
  exim = await startExim(checkPort)
})
afterEach(async () => {
  await exim.clear()
  await site.clear()
})

test('Exim follows the verdict: unwanted mail gets a header or is refused', async () => {
  expect(await hand(exim.port, checkedMail('wanted', good))).toBe(250)
  const bad = { from: 'offers@bad.example' }
  expect(await hand(exim.port, checkedMail('marked', good), bad)).toBe(250)
  await until('both', async () => {
    const delivered = await exim.delivered()
    return delivered.includes('wanted@') && delivered.includes('marked@') ? true : undefined
  })
  const mailbox = await exim.delivered()
  expect(mailIn(mailbox, 'wanted')).not.toContain('X-Spam')
  expect(mailIn(mailbox, 'marked')).toContain('X-Spam: Yes (10.0)')
  await ruleOut(site.database.pool)
  const refused = () => hand(exim.port, checkedMail('refused', 'https://worst.example/'))
  await until('the rule', async () => ((await refused()) === 550 ? true : undefined))
  expect(await hand(exim.port, checkedMail('read', good))).toBe(250)
  await until('the other', async () => (await exim.delivered()).includes('read@') || undefined)
})

test('mail is neither lost nor stuck when the service is killed and restarted', async () => {
  const marks = Array.from({ length: 60 }, (_, index) => `mail-${index}x`)
  const codes: number[] = []
  for (const [index, mark] of marks.entries()) {
    if (index === 15) check.kill('SIGKILL')
    if (index === 40) check = await site.start('check')
    codes.push(await hand(exim.port, checkedMail(mark, good)))
  }
  expect(new Set(codes)).toEqual(new Set([250]))
  await until('an empty queue', async () => ((await exim.waiting()) === 0 ? true : undefined))
  const delivered = await exim.delivered()
  const times = marks.map((mark) => delivered.split(`<${mark}@shop.example>`).length - 1)
  expect(times).toEqual(marks.map(() => 1))
  expect(await exim.log()).toContain('spamd')
  const stat = await fetch(`http://127.0.0.1:${checkPort}/stat`)
  expect(((await stat.json()) as { scanned: number }).scanned).toBe(20)
})
