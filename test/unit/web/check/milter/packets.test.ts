import { expect, test } from 'vitest'
import {
  createPacketReader,
  formatPacket,
  MilterError,
  negotiate,
  PACKET_BYTES_MAX,
  parseConnect,
  parseHeaderField,
  parseMacros,
} from '../../../../../src/web/check/milter/packets.ts'

const bytes = (hex: string) => Buffer.from(hex.replaceAll(' ', ''), 'hex')

test('packets are read however their bytes are cut', () => {
  const stream = bytes('00000001 51  00000006 48 6d782e61 00  00000001 41')
  const expected = ['Q', 'H', 'A']
  for (let size = 1; size <= stream.length; size++) {
    const { read, isInPacket } = createPacketReader()
    const seen: string[] = []
    for (let at = 0; at < stream.length; at += size) {
      for (const { command, data } of read(stream.subarray(at, at + size))) {
        seen.push(command)
        if (command === 'H') expect(data).toEqual(Buffer.from('mx.a\0'))
      }
      expect(isInPacket()).toBe(at + size < stream.length && seen.length < 3 && isCut(at + size))
    }
    expect(seen).toEqual(expected)
  }
})

/** Whether an offset in the stream above is inside a packet. */
function isCut(offset: number): boolean {
  return ![5, 15].includes(offset)
}

test.for(['00000000', 'ffffffff', `000${(PACKET_BYTES_MAX + 1).toString(16)}`])(
  'a packet of the length %s is refused before it arrives',
  (length) => {
    const { read } = createPacketReader()
    expect(() => [...read(bytes(length))]).toThrow(MilterError)
  },
)

test('a reply is composed of a length, a letter and its parts', () => {
  expect(formatPacket('c')).toEqual(bytes('00000001 63'))
  expect(formatPacket('m', 2, 'X-Spam', '')).toEqual(
    bytes('0000000d 6d 00000002 582d5370616d00 00'),
  )
})

test('we agree to what we use of the offer, and ask for the port of the mail server', () => {
  const offer = bytes('00000006 000001ff 001fffff')
  const { terms, reply } = negotiate(offer)
  expect(terms).toEqual({ version: 6, actions: 0x131, steps: 0x10_67c0 })
  const wanted = Buffer.from('j _ {daemon_name} {daemon_port}\0').toString('hex')
  expect(reply).toEqual(bytes(`00000031 4f 00000006 00000131 001067c0 00000000 ${wanted}`))
  expect(negotiate(bytes('00000002 0000003f 0000007f')).reply).toEqual(
    bytes('0000000d 4f 00000002 00000031 00000040'),
  )
  expect(() => negotiate(bytes('00000001 0000003f 0000007f'))).toThrow(MilterError)
  expect(() => negotiate(bytes('00000006'))).toThrow(MilterError)
})

test.for([
  ['IPv4', 'mx.a\x004\x00\x19192.0.2.1\0', '192.0.2.1'],
  ['IPv6 of Postfix', 'mx.a\x006\x00\x192001:db8::1\0', '2001:db8::1'],
  ['IPv6 of Sendmail', 'mx.a\x006\x00\x19IPv6:2001:db8::1\0', '2001:db8::1'],
  ['an unknown address', 'mx.a\0U', undefined],
  ['a socket', 'mx.a\0L\x00\x00/run/a\0', undefined],
] as const)('the client has %s', ([, data, ip]) => {
  expect(parseConnect(Buffer.from(data, 'latin1'))).toEqual({ hostname: 'mx.a', ip })
})

test('a client without a family is refused', () => {
  expect(() => parseConnect(Buffer.from('mx.a'))).toThrow(MilterError)
  expect(() => parseConnect(Buffer.from('mx.a\0'))).toThrow(MilterError)
})

test('a field gets the bytes back that it had in the message', () => {
  const data = Buffer.from('Subject\0 a\n b \xe9\0', 'latin1')
  const field = Buffer.from('Subject: a\r\n b \xe9\r\n', 'latin1')
  expect(parseHeaderField(data, true)).toEqual({ name: 'Subject', bytes: field })
  const trimmed = Buffer.from('Subject\0a\r\n b \xe9\0', 'latin1')
  expect(parseHeaderField(trimmed, false).bytes).toEqual(field)
  expect(() => parseHeaderField(Buffer.from('Subject'), true)).toThrow(MilterError)
})

test('macros have names with and without braces', () => {
  const macros = parseMacros(Buffer.from('Mi\x004ABC\0{auth_authen}\0ann\0{mail_addr}\0'))
  expect(Object.fromEntries(macros)).toEqual({ i: '4ABC', auth_authen: 'ann' })
  expect(parseMacros(Buffer.alloc(0)).size).toBe(0)
})
