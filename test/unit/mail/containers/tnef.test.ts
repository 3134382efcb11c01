import fc from 'fast-check'
import { simpleParser } from 'mailparser'
import { expect, test } from 'vitest'
import { messagesInTnef } from '../../../../src/mail/containers/outlook-message.ts'
import { unpackFile } from '../../../../src/mail/containers/unpack-file.ts'
import { traveledHeader } from '../../../support/containers/outlook-file.ts'
import { mapiMessage, tnefFile } from '../../../support/containers/tnef-file.ts'
import { expectEffort } from '../../../support/effort.ts'
import { spamMessage } from '../../../support/messages.ts'

const limits = { messagesMax: 500, entriesMax: 2_000, unpackedBytesMax: 50_000_000 }
const forwarded = { message: mapiMessage(traveledHeader, 'Café inside') }

test('a message that Outlook attached is rebuilt with its header and its text', async () => {
  const bytes = tnefFile({ message: mapiMessage('', 'see attached'), messages: [forwarded] })
  const [found, ...others] = await unpackFile({ name: 'winmail.dat', bytes }, limits)
  if (!found || !('raw' in found)) throw new Error('nothing was found')
  expect(others).toEqual([])
  expect(found.rebuiltFrom).toBe('msg')
  expect(found.raw.toString()).toMatch(/^Received: from mail\.shop\.example /)
  expect((await simpleParser(found.raw)).text).toContain('Café inside')
})

test.for<[string, Buffer, (boolean | undefined)[]]>([
  [
    'a file with a message',
    tnefFile({ files: [{ name: 'a.eml', content: spamMessage('a') }] }),
    [false],
  ],
  [
    'files that are no message',
    tnefFile({ files: [{ name: 'a.png', content: Buffer.from('x') }] }),
    [],
  ],
  ['two messages', tnefFile({ messages: [forwarded, forwarded] }), [true, true]],
  [
    'a message that did not travel',
    tnefFile({ messages: [{ message: mapiMessage('', 'x') }] }),
    [undefined],
  ],
  [
    'a message with a file',
    tnefFile({ messages: [{ ...forwarded, files: [{ name: 'b', content: Buffer.from('b') }] }] }),
    [true],
  ],
  [
    'a message in a message',
    tnefFile({ messages: [{ ...forwarded, messages: [forwarded] }] }),
    [true],
  ],
  ['a cut file', tnefFile({ messages: [forwarded] }).subarray(0, 200), []],
  ['no attachment', tnefFile({ message: mapiMessage('', 'text only') }), []],
])('%s is read', ([, bytes, expected]) => {
  const found = messagesInTnef(bytes)
  expect(found.map(({ raw, isRebuilt }) => (raw ? isRebuilt : undefined))).toEqual(expected)
})

test('hostile files take linear time, and nothing throws', async () => {
  const deep = Array.from({ length: 60 }).reduce<object>(
    (inner) => ({ ...forwarded, messages: [inner] }),
    forwarded,
  )
  const wide = tnefFile({ messages: Array.from({ length: 3_000 }, () => forwarded) })
  const counts = Buffer.concat([tnefFile({}).subarray(0, 6), Buffer.alloc(1_000_000, 0xff)])
  for (const bytes of [tnefFile(deep), wide, counts]) {
    await expectEffort(() => messagesInTnef(bytes), 1_500)
  }
  const sample = tnefFile({
    messages: [forwarded],
    files: [{ name: 'a', content: Buffer.from('a') }],
  })
  fc.assert(
    fc.property(fc.nat(sample.length - 1), fc.nat(255), (at, byte) => {
      const damaged = Buffer.from(sample)
      damaged[at] = byte
      expect(() => messagesInTnef(damaged)).not.toThrow()
    }),
    { numRuns: 500 },
  )
})
