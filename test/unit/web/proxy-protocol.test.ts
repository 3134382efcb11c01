import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { expect, test, vi } from 'vitest'
import { parseProxyHeader, takeProxyHeaders } from '../../../src/web/proxy-protocol.ts'
import { closeAfterThisTest } from '../../support/after-tests.ts'

const signature = '0d0a0d0a000d0a515549540a'
const four = Buffer.from(`${signature}2111000ccb007107c0000202c3500019`, 'hex')
const six = Buffer.from(
  `${signature}21210024${'20010db8'.padEnd(31, '0')}7${'20010db8'.padEnd(31, '0')}1c3500019`,
  'hex',
)

test.for<[what: string, bytes: Buffer | string, client: string | undefined]>([
  ['version 1', 'PROXY TCP4 203.0.113.7 192.0.2.2 50000 25\r\n', '203.0.113.7'],
  ['version 1, IPv6', 'PROXY TCP6 2001:db8::7 2001:db8::1 50000 25\r\n', '2001:db8::7'],
  ['version 1, unknown', 'PROXY UNKNOWN\r\n', undefined],
  ['version 1, unknown with more', 'PROXY UNKNOWN 1.2.3.4 x\r\n', undefined],
  ['version 2', four, '203.0.113.7'],
  ['version 2, IPv6', six, '2001:db8:0:0:0:0:0:7'],
  ['version 2, its own', Buffer.from(`${signature}20000000`, 'hex'), undefined],
  ['version 2, of a local socket', Buffer.from(`${signature}213100020000`, 'hex'), undefined],
  [
    'version 2 with an extension',
    Buffer.from(`${signature}21110010cb007107c0000202c350001904000100`, 'hex'),
    '203.0.113.7',
  ],
])('a header of %s is read, and nothing behind it', (row) => {
  const bytes = Buffer.from(row[1] as string, 'latin1')
  const followed = Buffer.concat([bytes, Buffer.from('EHLO x\r\n')])
  expect(parseProxyHeader(followed)).toEqual({ bytes: bytes.length, client: row[2] })
  for (let length = 0; length < bytes.length; length++) {
    expect(parseProxyHeader(bytes.subarray(0, length))).toBeUndefined()
  }
})

test.for([
  'EHLO mx.example\r\n',
  'GET / HTTP/1.1\r\n',
  'PROXY TCP4 2001:db8::7 2001:db8::1 50000 25\r\n',
  'PROXY TCP4 203.0.113.7 192.0.2.2 50000 99999\r\n',
  'PROXY TCP4 203.0.113.7 192.0.2.2\r\n',
  'PROXY TCP4 localhost 192.0.2.2 1 2\r\n',
  `PROXY UNKNOWN ${'x'.repeat(93)}`,
  Buffer.from(`${signature}1111000c`, 'hex'),
  Buffer.from(`${signature}2111ffff`, 'hex'),
  Buffer.from(`${signature}21110004cb007107`, 'hex'),
])('%j is no header', (bytes) => {
  expect(parseProxyHeader(Buffer.from(bytes as string, 'latin1'))).toBe('invalid')
})

/** A server that answers with the address of its client and with what it received. */
async function echoing(proxies: readonly string[]) {
  const server = createServer((socket: Socket) => {
    socket.once('data', (chunk) => socket.end(`${socket.remoteAddress} ${String(chunk)}`))
  })
  takeProxyHeaders(server, proxies)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  await closeAfterThisTest(Promise.resolve({ close: async () => void server.close() }))
  return (parts: readonly (string | Buffer)[]) =>
    new Promise<string>((resolve) => {
      let heard = ''
      const socket = connect(port, '127.0.0.1', () => {
        socket.setNoDelay(true)
        for (const part of parts) socket.write(part)
      })
      socket.on('data', (chunk) => (heard += String(chunk))).on('error', () => undefined)
      socket.on('close', () => resolve(heard))
    })
}

test('a listed proxy gives its client’s address; the rest of the bytes is kept', async () => {
  const ask = await echoing(['127.0.0.0/8'])
  expect(await ask(['PROXY TCP4 203.0.113.7 192.0.2.2 5 25\r\nEHLO'])).toBe('203.0.113.7 EHLO')
  expect(await ask([four.subarray(0, 9), four.subarray(9), 'EHLO'])).toBe('203.0.113.7 EHLO')
  expect(await ask(['PROXY UNKNOWN\r\nEHLO'])).toBe('127.0.0.1 EHLO')
})

test('a program on the machine of a proxy does not count as one on ours', async () => {
  const ask = await echoing(['127.0.0.1'])
  expect(await ask(['PROXY TCP4 127.0.0.9 192.0.2.2 5 25\r\nEHLO'])).toBe('127.0.0.1 EHLO')
})

test('a listed proxy without a header is disconnected, at once or after five seconds', async () => {
  const ask = await echoing(['127.0.0.1'])
  expect(await ask(['EHLO x\r\n'])).toBe('')
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  const heard = ask(['PROXY TCP4 '])
  await vi.waitFor(() => expect(vi.getTimerCount()).toBe(1))
  vi.advanceTimersByTime(5_000)
  expect(await heard).toBe('')
  vi.useRealTimers()
})

test('from other addresses, a header is data', async () => {
  const ask = await echoing(['192.0.2.1'])
  const line = 'PROXY TCP4 203.0.113.7 192.0.2.2 5 25\r\n'
  expect(await ask([line])).toBe(`127.0.0.1 ${line}`)
})
