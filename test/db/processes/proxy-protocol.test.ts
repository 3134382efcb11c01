import { expect, test } from 'vitest'
import { closeAfterTests, closeAfterThisTest } from '../../support/after-tests.ts'
import { openTestApp } from '../../support/app.ts'
import { smtpTalk } from '../../support/smtp-talk.ts'
import { openCheckSite } from '../web/check-site.ts'
import { freshMail, listenFor, returnPath } from './listener.ts'

const app = await closeAfterTests(openTestApp())
const header = 'PROXY TCP4 203.0.113.7 192.0.2.2 50000 25\r\n'
const ping = 'GET /ping HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'
const metrics = ping.replace('/ping', '/metrics')

test('mail through a listed proxy is stored with the address of its client', async () => {
  const proxied = await closeAfterThisTest(listenFor(app, { receiveProxies: ['127.0.0.1'] }))
  const rcpt = returnPath(app)
  const talk = smtpTalk(proxied.port)
  talk.push(header)
  expect(await talk.hear()).toMatch(/^220 /)
  await talk.say('EHLO mx.example')
  await talk.say('MAIL FROM:<>')
  await talk.say(`RCPT TO:<${rcpt}>`)
  await talk.say('DATA')
  expect(await talk.mail(freshMail())).toEqual(['250 2.6.0 Kept'])
  talk.end()
  const rows = await app.rows('select host(peer_ip) as ip from inbound_mails where rcpt_to = $1', [
    rcpt,
  ])
  expect(rows).toEqual([{ ip: '203.0.113.7' }])
})

test('a header from another address ends the session, before and after the greeting', async () => {
  const plain = await closeAfterThisTest(listenFor(app))
  const early = smtpTalk(plain.port)
  early.push(header)
  expect(await early.hear()).toMatch(/^421 /)
  await early.closed
  const late = smtpTalk(plain.port)
  expect(await late.hear()).toMatch(/^220 /)
  expect(await late.say(header.trimEnd())).toMatch(
    /^421 4\.7\.0 Your address may not use the PROXY/,
  )
  await late.closed
})

test('a check through a listed proxy comes from its client, not from this machine', async () => {
  const site = await closeAfterThisTest(openCheckSite({ CHECK_PROXIES: '127.0.0.0/8' }))
  expect(await site.sendRaw(header, ping)).toMatch(/^HTTP\/1\.1 200 /)
  expect(await site.sendRaw(header, metrics)).toMatch(/^HTTP\/1\.1 403 /)
  expect(await site.sendRaw('PROXY UNKNOWN\r\n', metrics)).toMatch(/^HTTP\/1\.1 200 /)
  expect(await site.sendRaw(`${header}PING RSPAMC/1.3\r\n\r\n`)).toContain('Only programs on this')
})

test('a check with a header from another address is refused', async () => {
  const site = await closeAfterThisTest(openCheckSite())
  expect(await site.sendRaw(header, ping)).toMatch(/^HTTP\/1\.1 400 /)
  const binary = Buffer.from('0d0a0d0a000d0a515549540a2111000ccb007107c0000202c3500019', 'hex')
  expect(await site.sendRaw(binary, ping)).toMatch(/^HTTP\/1\.1 400 /)
})
