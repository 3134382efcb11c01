import { expect, test } from 'vitest'
import {
  blameShare,
  isShared,
  roleOf,
  type SeenVolume,
} from '../../../../src/verdict/reputation/volume.ts'

const none: SeenVolume = {
  ...{ quiet: 0, complaints: 0, authors: 0, signers: 0 },
  ...{ reporters: 0, lists: 0, lineNames: 0 },
}
const seen = (more: Partial<SeenVolume>): SeenVolume => ({ ...none, ...more })
const relay = seen({ quiet: 2_000, authors: 40, signers: 12 })

test('an address is shared with verified signers, or with many authors and quiet mail', () => {
  expect(isShared(seen({ signers: 5 }))).toBe(true)
  expect(isShared(seen({ signers: 4, authors: 500, quiet: 199 }))).toBe(false)
  expect(isShared(seen({ authors: 20, quiet: 200 }))).toBe(true)
  expect(isShared(seen({ authors: 2, quiet: 100_000 }))).toBe(false)
})

// Kind, volume, evidence against the subject, and the share of it that counts.
test.for<[string, Parameters<typeof blameShare>, number]>([
  ['few complaints about a relay with much mail', ['address', relay, 3], 0],
  ['the usual share of its mail', ['address', { ...relay, complaints: 20 }, 9], 0],
  ['many more than usual', ['address', { ...relay, complaints: 400 }, 16], 0.9],
  ['few complaints about a relay with unknown mail', ['address', seen({ signers: 5 }), 4], 0.5],
  ['a single sender with much mail', ['address', seen({ quiet: 100_000, authors: 1 }), 6], 1],
  ['an address of which nothing was seen', ['address', undefined, 6], 1],
  ['few complaints about a network', ['network', undefined, 4], 0.5],
  ['many complaints about a network', ['network', none, 100], 0.9],
  ['few complaints about a network with much mail', ['network', seen({ quiet: 500 }), 4], 0],
  ['a single complaint about a signer', ['signer', undefined, 1], 0.25],
  ['few complaints about an address', ['address', seen({ quiet: 9_000 }), 2.25], 0.708333],
  ['four people', ['address', undefined, 4], 1],
  ['few complaints about a link', ['link', undefined, 1], 1],
  ['evidence that was retracted', ['address', relay, 0], 1],
])('what counts: %s', ([, given, share]) => {
  expect(blameShare(...given)).toBeCloseTo(share, 5)
})

test('more quiet mail never raises the share, and more complaints never lower it', () => {
  let before = 1
  for (let quiet = 0; quiet <= 5_000; quiet += 250) {
    const share = blameShare('address', { ...relay, quiet }, 20)
    expect(share).toBeLessThanOrEqual(before)
    before = share
  }
  for (let bad = 1; bad <= 200; bad++) {
    const [fewer, more] = [bad, bad + 1].map((one) => one * blameShare('address', relay, one))
    expect(more).toBeGreaterThanOrEqual(fewer ?? 0)
  }
})

test.for<[string, string, Partial<SeenVolume>]>([
  ['mailbox-provider', '209.85.128.1', {}],
  ['list-relay', '192.0.2.7', { signers: 9, authors: 40, lists: 4 }],
  ['pool', '192.0.2.7', { signers: 9, authors: 40, lists: 38 }],
  ['forwarder', '192.0.2.7', { signers: 9, authors: 40, lists: 1 }],
  ['line', '192.0.2.7', { authors: 12, quiet: 30, lineNames: 1 }],
  ['single', '192.0.2.7', { authors: 1, complaints: 12 }],
  ['unknown', '192.0.2.7', { authors: 5, quiet: 40 }],
  ['unknown', '192.0.2.7', {}],
])('the role is %s: %s %o', ([role, address, volume]) => {
  expect(roleOf(address, seen(volume))).toBe(role)
})
