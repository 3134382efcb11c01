import { expect, test } from 'vitest'
import { createPeers } from '../../../../src/processes/receive/session.ts'
import { smtpReply } from '../../../../src/processes/receive/keep-mail.ts'

const now = new Date('2026-11-22T10:00:00Z')
const later = new Date('2026-11-22T10:01:00Z')
const unknown = smtpReply(550, '5.1.1 No such address')
const limits = { connections: 3, sessions: 2, recipients: 2, bytes: 100, unknownRecipients: 3 }

test('a network has a maximum number of connections per minute, over all its machines', () => {
  const peers = createPeers({ ...limits, sessions: 9 })
  expect(peers.startSession('1', '192.0.2.1', now)).toBeUndefined()
  expect(peers.startSession('2', '192.0.2.2', now)).toBeUndefined()
  expect(peers.startSession('3', '::ffff:192.0.2.3', now)).toBeUndefined()
  expect(peers.startSession('4', '192.0.2.4', now)?.responseCode).toBe(421)
  expect(peers.startSession('5', '192.0.3.4', now)).toBeUndefined()
  expect(peers.startSession('6', '192.0.2.4', later)).toBeUndefined()
})

test('a network has a maximum number of stored bytes per minute; this machine has none', () => {
  const peers = createPeers(limits)
  peers.startSession('1', '192.0.2.1', now)
  peers.startSession('2', '192.0.3.1', now)
  peers.startSession('3', '127.0.0.1', now)
  expect(peers.countBytes('1', 100, now)).toBeUndefined()
  expect(peers.countBytes('1', 1, now)?.responseCode).toBe(451)
  expect(peers.countBytes('2', 1, now)).toBeUndefined()
  expect(peers.countBytes('3', 1_000, now)).toBeUndefined()
  expect(peers.countBytes('1', 1, later)).toBeUndefined()
})

test('an IPv6 network is a /48', () => {
  const peers = createPeers({ ...limits, sessions: 9 })
  const from = (host: string) => peers.startSession(host, host, now)?.responseCode
  expect(['2001:db8:1:1::1', '2001:db8:1:2::1', '2001:db8:1:3::1'].map(from)).toEqual([
    undefined,
    undefined,
    undefined,
  ])
  expect(from('2001:db8:1:4::1')).toBe(421)
  expect(from('2001:db8:2:4::1')).toBeUndefined()
})

test('a network has a maximum number of sessions, and gets the places back when they end', () => {
  const peers = createPeers({ ...limits, connections: 9 })
  peers.startSession('1', '192.0.2.1', now)
  peers.startSession('2', '192.0.2.2', now)
  expect(peers.startSession('3', '192.0.2.3', now)?.message).toMatch(/simultaneous/)
  // A session that was refused also ends, but it frees no place.
  peers.endSession('3')
  expect(peers.startSession('4', '192.0.2.3', now)?.responseCode).toBe(421)
  peers.endSession('1')
  expect(peers.startSession('5', '192.0.2.3', now)).toBeUndefined()
})

test('a network has a maximum number of recipients per minute', () => {
  const peers = createPeers(limits)
  peers.startSession('1', '192.0.2.1', now)
  expect([1, 2, 3].map(() => peers.countRecipient('1', now)?.responseCode)).toEqual([
    undefined,
    undefined,
    451,
  ])
  expect(peers.countRecipient('1', later)).toBeUndefined()
})

test('a client that guesses recipients is slowed down, and then disconnected', () => {
  const peers = createPeers(limits)
  peers.startSession('1', '192.0.2.1', now)
  const codes = [1, 2, 3].map(() => peers.countUnknown('1', unknown).responseCode)
  expect(codes).toEqual([550, 550, 421])
})

test('this machine has no limits, because it may relay for everyone', () => {
  const peers = createPeers(limits)
  for (let session = 0; session < 20; session++) {
    expect(peers.startSession(String(session), '127.0.0.1', now)).toBeUndefined()
    expect(peers.countRecipient(String(session), now)).toBeUndefined()
    expect(peers.countUnknown('1', unknown).responseCode).toBe(550)
  }
  expect(peers.startSession('ipv6', '::1', now)).toBeUndefined()
})
