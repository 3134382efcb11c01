import { expect, test } from 'vitest'
import type { Reporter } from '../../../../src/db/reporters.ts'
import { createTakeUpload } from '../../../../src/http/reporting/take-upload.ts'

const remarks = { kind: 'spam' as const, comment: null, receivedVia: [] }
const upload = { reporter: { id: 'one' } as Reporter, channel: 'form' as const, remarks }
const zip = { name: 'all.zip', bytes: Buffer.from('PK\u0003\u0004 and more'), isCut: false }
const mail = (name: string) => ({ name, bytes: Buffer.from('Subject: x\r\n\r\nx'), isCut: false })

test('nothing is opened for who is refused', async () => {
  let opened = 0
  const take = createTakeUpload({
    submit: () => Promise.reject(new Error('submitted')),
    unpack: () => {
      opened++
      return Promise.resolve([])
    },
    messageBytesMax: 1_000,
  })
  const refuse = () => Promise.reject(new Error('too often'))
  await expect(take([zip], upload, refuse)).rejects.toThrow('too often')
  expect(opened).toBe(0)
})

test.for([
  [['admitted', 'admitted'], 'admitted'],
  [['admitted', 'shadowed'], 'shadowed'],
  [['shadowed', 'admitted'], 'shadowed'],
] as const)('one message is counted, then the others: %o makes all %s', async ([says, all]) => {
  const asked: number[] = []
  const given: unknown[] = []
  const take = createTakeUpload({
    submit: (_reporter, _channel, _raw, _remarks, admission) => {
      given.push(admission)
      return Promise.resolve({ taken: true, id: 'id', isRepeat: false })
    },
    unpack: () => Promise.resolve([]),
    messageBytesMax: 1_000,
  })
  await take([mail('a'), mail('b'), mail('c')], upload, (messages) => {
    asked.push(messages)
    return Promise.resolve(says[asked.length - 1] ?? 'admitted')
  })
  expect(asked).toEqual([1, 2])
  expect(given).toEqual([all, all, all])
})
