import { expect, test } from 'vitest'
import { createProbe } from '../../../src/net/mailer.ts'
import { startHangingRelay } from '../../support/torture/sending/hanging-relay.ts'
import { startSmtpSink } from '../../support/smtp-sink.ts'

const self = 'signalpost@example.org'

test('a probe of a working server sends no message', async () => {
  const sink = await startSmtpSink()
  expect(await createProbe(sink.url, self)()).toMatchObject({ outcome: 'accepted' })
  sink.failNext('rcpt', { code: 550, text: '5.1.1 User unknown' })
  expect(await createProbe(sink.url, self)()).toMatchObject({ outcome: 'accepted' })
  sink.failNext('rcpt', { code: 554, text: '5.7.1 Relay access denied' })
  expect(await createProbe(sink.url, self)()).toMatchObject({ outcome: 'later', fault: 'relay' })
  expect(sink.messages).toEqual([])
  await sink.close()
})

// Most of these wait, so they wait side by side.
test.concurrent.for([
  'greeting',
  'ehlo',
  'starttls',
  'handshake',
  'mail',
  'rcpt',
  'data',
  'trickle',
] as const)('a probe notices a server that hangs at %s, with one connection', async (how) => {
  const relay = await startHangingRelay()
  const probe = createProbe(relay.url, self, 2_000)
  expect(await probe()).toMatchObject({ outcome: 'accepted' })
  await relay.hang(how)
  expect(await probe()).toMatchObject({ outcome: 'later' })
  expect(relay.opened()).toBe(1)
  await relay.hang(undefined)
  expect(await probe()).toMatchObject({ outcome: 'accepted' })
  expect(relay.kept).toEqual([])
  await relay.close()
})

test.concurrent.for([
  'half-close',
  'refuse',
  'reset',
  'reset-rcpt',
  '421',
  '451',
  '421-mail',
] as const)('a probe notices a server that fails by %s', async (how) => {
  const relay = await startHangingRelay()
  await relay.hang(how)
  expect(await createProbe(relay.url, self, 1_000)()).toMatchObject({ outcome: 'later' })
  await relay.close()
})

test('a probe of a server whose name has no address fails', async () => {
  const probe = createProbe('smtp://relay.invalid', self, 2_000)
  expect(await probe()).toMatchObject({ outcome: 'later' })
})
