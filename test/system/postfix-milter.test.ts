import { expect, test } from 'vitest'
import { createCounterReader } from '../../src/counting/reader.ts'
import { readSending } from '../../src/counting/sending.ts'
import { freePort } from '../support/free-port.ts'
import { systemClock } from '../../src/world.ts'
import { closeAfterThisTest } from '../support/after-tests.ts'
import { checkedMail } from '../support/checked-mail.ts'
import { rollUpAll } from '../support/counter-rows.ts'
import { until } from '../support/process.ts'
import { smtpTalk } from '../support/smtp-talk.ts'
import { makeAskedSite } from './asked-site.ts'
import { hand, mailIn, ruleOut } from './handing.ts'
import { startPostfix } from './postfix.ts'
import { recipe } from './recipes.ts'

const good = 'https://good.example/'
const bad = { from: 'offers@bad.example' }

/** Starts a Postfix that sends checks by the milter protocol, as documented; adds `main` to it. */
async function askingPostfix(env: Record<string, string> = {}, main = '') {
  const milterPort = await freePort()
  const milter = { CHECK_MILTER_PORT: String(milterPort), ...env }
  const asked = await closeAfterThisTest(makeAskedSite(milter))
  const postfix = await closeAfterThisTest(
    startPostfix(
      recipe('/etc/postfix/main.cf, asking by the milter protocol', {
        '127.0.0.1:11401': `127.0.0.1:${milterPort}`,
      }) + main,
    ),
  )
  return { ...asked, postfix }
}

test('Postfix follows the verdict of the milter', async () => {
  const { site, checkPort, wire, postfix } = await askingPostfix()
  const forged = Buffer.concat([Buffer.from('X-Spam: No\r\n'), checkedMail('wanted', good)])
  expect(await hand(postfix.port, forged)).toBe(250)
  expect(await hand(postfix.port, checkedMail('marked', good), bad)).toBe(250)
  await ruleOut(site.database.pool)
  const worst = checkedMail('refused', 'https://worst.example/')
  await until('the rule', async () => (await hand(postfix.port, worst)) === 550 || undefined)
  const marked = await until('both', async () => {
    const mailbox = await postfix.delivered()
    return mailIn(mailbox, 'wanted') && mailIn(mailbox, 'marked')
  })
  expect(marked).toContain('X-Spam: Yes')
  expect(mailIn(await postfix.delivered(), 'wanted')).not.toContain('X-Spam')
  await wire.cut()
  expect(await hand(postfix.port, checkedMail('outage', good))).toBe(250)
  const metrics = await (await fetch(`http://127.0.0.1:${checkPort}/metrics`)).text()
  expect(metrics).toContain('signalpost_milter_messages_total{stage="message",answer="none"} 1')
  expect(metrics).toContain('signalpost_milter_messages_total{stage="envelope",answer="mark"} 1')
  expect(metrics).toContain('signalpost_check_settled_total{by="reputation"} 1')
  expect(metrics).not.toMatch(/signalpost_milter_failed_total{/)
})

test('if configured, Postfix refuses listed mail early, and quarantines other mail', async () => {
  const { site, postfix } = await askingPostfix({
    CHECK_MILTER_FIRST_FILTER: 'reject',
    CHECK_MILTER_REJECT: 'quarantine',
  })
  expect(await hand(postfix.port, checkedMail('early', good), bad)).toBe(550)
  const toDesk = { ...bad, to: 'postmaster@home.example' }
  expect(await hand(postfix.port, checkedMail('desk', good), toDesk)).toBe(250)
  await ruleOut(site.database.pool)
  const worst = checkedMail('kept', 'https://worst.example/')
  await until('the rule', async () => {
    await hand(postfix.port, worst)
    return (await postfix.log()).includes('milter triggers HOLD action') || undefined
  })
  const marked = await until('the desk', async () => mailIn(await postfix.delivered(), 'desk'))
  expect(marked).toContain('X-Spam: Yes')
})

test('mail of a user who signed in to Postfix is outgoing, and is not filtered', async () => {
  // With XCLIENT, a trusted client says who signed in, so that no passwords are needed.
  const trusted = 'smtpd_authorized_xclient_hosts = 127.0.0.1\n'
  const { site, postfix } = await askingPostfix({}, trusted)
  const talk = smtpTalk(postfix.port)
  await talk.hear()
  await talk.say('EHLO shop.example')
  await talk.say('XCLIENT LOGIN=Ann@home.example')
  await talk.say('EHLO shop.example')
  await talk.say('MAIL FROM:<offers@bad.example>')
  await talk.say('RCPT TO:<you@home.example>')
  await talk.say('DATA')
  expect(await talk.mail(checkedMail('outgoing', good))).toEqual([expect.stringMatching(/^250/)])
  talk.end()
  const mail = await until('the mail', async () => mailIn(await postfix.delivered(), 'outgoing'))
  expect(mail).not.toContain('X-Spam')
  const { pool } = site.database
  const todayOfAnn = async () => {
    await rollUpAll(pool, systemClock())
    const reader = createCounterReader({ pool, clock: systemClock }, { keysMax: 10, freshMs: 0 })
    const user = { user: 'ann@home.example', system: '' }
    return (await readSending(reader, user, systemClock())).today
  }
  await expect.poll(todayOfAnn).toMatchObject({ sent: 1, recipients: 1 })
})

/** For a longer run by hand. */
const MESSAGES = Number(process.env['MILTER_MESSAGES'] ?? 1_000)
const LANES = 16
const KILLED_AT = [0.1, 0.3, 0.5, 0.7].map((share) => share * MESSAGES)

test('each message is delivered once, although the milter and Postfix are killed', async () => {
  const { check, startCheck, postfix } = await askingPostfix()
  const taken = new Set<string>()
  const lanes = Promise.all(
    Array.from({ length: LANES }, async (_, lane) => {
      const numbers = Array.from({ length: MESSAGES }, (_one, n) => n)
      for (const n of numbers.filter((one) => one % LANES === lane)) {
        taken.add(await handUntilTaken(postfix.port, n))
      }
    }),
  )
  let running = check
  for (const count of KILLED_AT) {
    await until('some messages', () => taken.size >= count || undefined)
    running.kill('SIGKILL')
    await postfix.killReceivers()
    await running.ended
    running = await startCheck()
  }
  await lanes
  const delivered = await until('all messages', async () => {
    const counts = countMarks(await postfix.delivered())
    return [...taken].every((mark) => counts.has(mark)) ? counts : undefined
  })
  expect(taken.size).toBe(MESSAGES)
  expect([...delivered.values()].filter((times) => times !== 1)).toEqual([])
  const log = await postfix.log()
  expect(log).toMatch(/smtpd pid \d+ killed by signal 9/)
  expect(log).toMatch(/warning: connect to Milter service .*: Connection refused/)
})

/**
 * Hands over a message until Postfix takes it, and returns the mark of that attempt. Each attempt
 * has its own mark, because Postfix may have taken a message whose answer it could not send.
 */
async function handUntilTaken(port: number, n: number): Promise<string> {
  for (let attempt = 0; ; attempt++) {
    const mark = `once-${n}-${attempt}`
    if ((await hand(port, checkedMail(mark, good))) === 250) return mark
  }
}

/** How often each mark is in a mailbox. */
function countMarks(mailbox: string): Map<string, number> {
  const counts = new Map<string, number>()
  for (const [, mark = ''] of mailbox.matchAll(/^Message-ID: <([^@]+)@/gm)) {
    counts.set(mark, (counts.get(mark) ?? 0) + 1)
  }
  return counts
}
