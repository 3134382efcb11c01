import { expect, test } from 'vitest'
import {
  packShingles,
  readShingles,
  unpackShingles,
} from '../../../../src/analysis/shingles/packed-shingles.ts'

const author = { type: 1, name: 'author-address', hash: 'fedcba9876543210' }
const link = { type: 74, name: 'link-organization', hash: '00000000000000ff' }
const authorIps = { type: 151, name: 'author-ips', hash: '8000000000000001', of: author.hash }
const linkHosts = { type: 165, name: 'link-hosts', hash: 'ffffffffffffffff', of: link.hash }
const campaignReporters = { type: 195, name: 'campaign-reporters', hash: '0'.repeat(16) }

test('packed shingles come back as they were, in their order', () => {
  const shingles = [author, link, authorIps, linkHosts]
  const packed = packShingles(shingles)
  expect(packed).toHaveLength(9 + 9 + 11 + 11)
  expect(unpackShingles(packed)).toEqual(shingles)
  expect(unpackShingles(packShingles([]))).toEqual([])
})

test('a pair refers to the piece it is counted under, whatever stands between', () => {
  const campaign = { type: 131, name: 'campaign', hash: '0123456789abcdef' }
  const pair = { ...campaignReporters, of: campaign.hash }
  const shingles = [author, authorIps, campaign, pair]
  expect(unpackShingles(packShingles(shingles))).toEqual(shingles)
})

test('halves are unsigned', () => {
  const [, , pair] = readShingles(packShingles([author, link, { ...linkHosts, of: author.hash }]))
  expect(pair).toEqual({
    type: 165,
    hi: 0xffffffff,
    lo: 0xffffffff,
    of: { type: 1, hi: 0xfedcba98, lo: 0x76543210 },
  })
})

test('bytes that break off give what is whole', () => {
  const packed = packShingles([author, link])
  expect(unpackShingles(packed.subarray(0, 12))).toEqual([author])
})
