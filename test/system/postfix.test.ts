import { expect, test } from 'vitest'
import { closeAfterThisTest } from '../support/after-tests.ts'
import { checkedMail } from '../support/checked-mail.ts'
import { until } from '../support/process.ts'
import { makeAskedSite } from './asked-site.ts'
import { hand, mailIn, ruleOut } from './handing.ts'
import { startPostfix } from './postfix.ts'
import { recipe } from './recipes.ts'
import { startRspamdProxy } from './rspamd-proxy.ts'

const good = 'https://good.example/'

/** Starts a Postfix that sends checks through the proxy. */
async function askingPostfix() {
  const asked = await closeAfterThisTest(makeAskedSite())
  const { checkPort } = asked
  const proxy = await closeAfterThisTest(startRspamdProxy(checkPort))
  const postfix = await closeAfterThisTest(
    startPostfix(
      recipe("/etc/postfix/main.cf, asking by rspamd's proxy", {
        '127.0.0.1:11332': `127.0.0.1:${proxy.port}`,
      }),
    ),
  )
  return { ...asked, postfix }
}

test('Postfix follows the verdict through the proxy of rspamd', async () => {
  const { site, postfix } = await askingPostfix()
  expect(await hand(postfix.port, checkedMail('wanted', good))).toBe(250)
  const bad = { from: 'offers@bad.example' }
  expect(await hand(postfix.port, checkedMail('marked', good), bad)).toBe(250)
  await ruleOut(site.database.pool)
  const worst = checkedMail('refused', 'https://worst.example/')
  await until('the rule', async () => (await hand(postfix.port, worst)) === 554 || undefined)
  const marked = await until('both', async () => {
    const mailbox = await postfix.delivered()
    return mailIn(mailbox, 'wanted') && mailIn(mailbox, 'marked')
  })
  expect(marked).toContain('X-Spam: Yes')
  expect(mailIn(await postfix.delivered(), 'wanted')).not.toContain('X-Spam')
})

test('mail passes through the proxy without a verdict', async () => {
  const { check, checkPort, wire, postfix } = await askingPostfix()
  await wire.cut()
  const body = checkedMail('question', good)
  const asked = await fetch(`http://127.0.0.1:${checkPort}/checkv2`, { method: 'POST', body })
  expect(await asked.text()).toContain('NO_VERDICT')
  expect(await hand(postfix.port, checkedMail('outage', good))).toBe(250)
  await wire.mend()
  await check.stop()
  const marks = ['stopped-1', 'stopped-2', 'stopped-3']
  for (const mark of marks) expect(await hand(postfix.port, checkedMail(mark, good))).toBe(250)
  await until('all four', async () => {
    const mailbox = await postfix.delivered()
    return ['outage', ...marks].every((mark) => mailIn(mailbox, mark)) || undefined
  })
})
