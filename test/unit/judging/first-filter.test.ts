import { expect, test } from 'vitest'
import { flaggedVerdict, envelopeSubjects } from '../../../src/judging/judge.ts'

const nothing = { helo: undefined, hostname: undefined, recipients: [], user: undefined }
const envelope = {
  ...nothing,
  ip: '203.0.113.9',
  returnPath: 'bounces@news.shop.co.uk',
  queueId: undefined,
}

test('an envelope counts against its client and the domain of its return path', () => {
  expect(envelopeSubjects(envelope)).toEqual([
    { kind: 'address', name: '203.0.113.9' },
    { kind: 'return-path-domain', name: 'news.shop.co.uk' },
    { kind: 'return-path-domain', name: 'shop.co.uk' },
  ])
  const registered = { ...envelope, ip: undefined, returnPath: 'Us@BÜCHER.example' }
  expect(envelopeSubjects(registered)).toEqual([
    { kind: 'return-path-domain', name: 'xn--bcher-kva.example' },
  ])
  expect(envelopeSubjects({ ...envelope, ip: undefined, returnPath: '' })).toEqual([])
  expect(envelopeSubjects({ ...envelope, user: 'ann' })).toEqual([])
})

test.for([
  ['nobody known is let on', [], [], undefined],
  ['a listed client needs no look at the message', ['listed'], [], 'spam'],
  ['so does a listed return path', [], ['listed'], 'spam'],
  ['but not from a client that is welcome', ['welcome'], ['listed'], undefined],
  ['nor from one that is exempt', ['listed', 'exempt'], [], undefined],
  ['a welcome return path excuses nobody: anybody may write it', ['listed'], ['welcome'], 'spam'],
  ['other flags say nothing', ['new'], ['awake'], undefined],
] as const)('%s', ([, ofClient, ofPath, expected]) => {
  const known = [{ flags: ofClient }, { flags: ofPath }]
  expect(flaggedVerdict(envelopeSubjects(envelope), known)?.class).toBe(expected)
})
