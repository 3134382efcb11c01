import type { IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import { createGate, isDirect } from '../../../../src/web/check/may-ask.ts'

let now = new Date('2026-11-20T12:00:00Z')
const clock = () => now

const trustedProxies = ['127.0.0.0/8', '192.0.2.1/32']
const gateWith = (checkPassword: string | undefined) =>
  createGate({ checkPassword, trustedProxies }, clock, isDirect)

/** Composes the parts of a request that identify its sender. */
function from(remoteAddress: string, headers: Record<string, string> = {}): IncomingMessage {
  return { socket: { remoteAddress }, headers } as unknown as IncomingMessage
}

test.for([
  ['127.0.0.1', {}, undefined],
  ['::1', {}, undefined],
  ['::ffff:127.0.0.1', {}, undefined],
  ['203.0.113.9', {}, 403],
  ['127.0.0.1', { 'x-forwarded-for': '203.0.113.9' }, 403],
  ['127.0.0.1', { forwarded: 'for=203.0.113.9' }, 403],
  ['127.0.0.1', { via: '1.1 proxy' }, 403],
  ['127.0.0.1', { origin: 'https://evil.example' }, 403],
  ['127.0.0.1', { 'sec-fetch-site': 'cross-site' }, 403],
  ['127.0.0.1', { host: 'localhost:8080' }, undefined],
  ['127.0.0.1', { host: '127.0.0.1:8080' }, undefined],
  ['::1', { host: '[::1]:8080' }, undefined],
  ['127.0.0.1', { host: 'signalpost.example' }, 403],
  ['127.0.0.1', { host: '127.0.0.1.evil.example' }, 403],
  ['127.0.0.1', { 'x-forwarded-proto': 'https' }, 403],
] as const)('without a password, %s with %o gets %s', ([address, headers, status]) => {
  expect(gateWith(undefined)(from(address, headers))?.status).toBe(status)
})

test('with a password everyone must send it, this machine too', () => {
  const gate = gateWith('open sesame')
  expect(gate(from('127.0.0.1'))?.status).toBe(401)
  expect(gate(from('127.0.0.1', { password: 'open' }))?.status).toBe(401)
  expect(gate(from('203.0.113.9', { password: 'open sesame' }))).toBeUndefined()
})

test('a password may use any script', () => {
  const sent = Buffer.from('sésame ouvre-toi').toString('latin1')
  expect(gateWith('sésame ouvre-toi')(from('::1', { password: sent }))).toBe(undefined)
})

test('a client with ten wrong passwords in a minute is refused, and later accepted again', () => {
  const gate = gateWith('open sesame')
  const guess = (address: string, password: string) => gate(from(address, { password }))?.status
  for (let times = 0; times < 10; times++) expect(guess('203.0.113.9', `${times}`)).toBe(401)
  expect(guess('203.0.113.9', 'open sesame')).toBe(429)
  expect(guess('203.0.113.10', 'open sesame')).toBeUndefined()
  now = new Date(now.getTime() + 60_001)
  expect(guess('203.0.113.9', 'open sesame')).toBeUndefined()
})

test('clients that guess behind a proxy block neither the proxy nor each other', () => {
  const gate = gateWith('open sesame')
  const through = (stranger: string, password: string) =>
    gate(from('127.0.0.1', { password, 'x-forwarded-for': stranger }))?.status
  for (let times = 0; times < 11; times++) through('203.0.113.66', `${times}`)
  expect(through('203.0.113.66', 'open sesame')).toBe(429)
  expect(through('198.51.100.7', 'open sesame')).toBeUndefined()
  expect(gate(from('127.0.0.1', { password: 'open sesame' }))).toBeUndefined()
  for (let times = 0; times < 1_000; times++) {
    through(`192.0.${(times >> 8) + 10}.${times & 255}`, `${times}`)
  }
  expect(through('198.51.100.8', 'open sesame')).toBe(429)
  expect(gate(from('127.0.0.1', { password: 'open sesame' }))).toBeUndefined()
})
