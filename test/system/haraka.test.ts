import { expect, test } from 'vitest'
import { closeAfterThisTest } from '../support/after-tests.ts'
import { checkedMail } from '../support/checked-mail.ts'
import { until } from '../support/process.ts'
import { type SmtpSink, startSmtpSink } from '../support/smtp-sink.ts'
import { makeAskedSite } from './asked-site.ts'
import { hand, ruleOut } from './handing.ts'
import { startHaraka } from './haraka.ts'

const good = 'https://good.example/'

/** Starts a Haraka in front of a mail server that accepts everything. */
async function askingHaraka() {
  const asked = await closeAfterThisTest(makeAskedSite())
  const sink = await closeAfterThisTest(startSmtpSink())
  const haraka = await closeAfterThisTest(startHaraka(asked.checkPort, sink.port))
  return { ...asked, sink, haraka }
}

const passedOn = ({ messages }: SmtpSink, mark: string) =>
  messages.find(({ raw }) => raw.includes(`<${mark}@`))?.raw.toString()

test('Haraka follows the verdict: unwanted mail gets a header or is refused', async () => {
  const { site, sink, haraka } = await askingHaraka()
  expect(await hand(haraka.port, checkedMail('wanted', good))).toBe(250)
  const bad = { from: 'offers@bad.example' }
  expect(await hand(haraka.port, checkedMail('marked', good), bad)).toBe(250)
  await ruleOut(site.database.pool)
  const worst = checkedMail('refused', 'https://worst.example/')
  await until('the rule', async () => (await hand(haraka.port, worst)) === 550 || undefined)
  await sink.received(2)
  expect(passedOn(sink, 'wanted')).not.toContain('X-Rspamd-Score')
  expect(passedOn(sink, 'marked')).toContain('X-Rspamd-Score: 10')
})

test('Haraka passes mail on without a verdict', async () => {
  const { check, wire, sink, haraka } = await askingHaraka()
  await wire.cut()
  expect(await hand(haraka.port, checkedMail('outage', good))).toBe(250)
  expect(haraka.log()).toContain('is_skipped: true')
  await wire.mend()
  await check.stop()
  expect(await hand(haraka.port, checkedMail('stopped', good))).toBe(250)
  expect(haraka.log()).toContain('ECONNREFUSED')
  await sink.received(2)
  expect(passedOn(sink, 'outage')).toBeDefined()
  expect(passedOn(sink, 'stopped')).toBeDefined()
})
