import { describe, expect, test } from 'vitest'
import { analyzeForCounting } from '../../../../src/pieces/analyze.ts'
import { hexOf, shingleHash } from '../../../../src/pieces/shingles/hash.ts'
import {
  packShingles,
  readShingles,
  unpackShingles,
} from '../../../../src/pieces/shingles/packed-shingles.ts'

import { analysisOf, messageOf, type Written } from '../../../support/shingles.ts'

const author = { type: 1, name: 'author-address', hash: 'fedcba9876543210' }
const link = { type: 74, name: 'link-organization', hash: '00000000000000ff' }
const authorIps = { type: 151, name: 'author-ips', hash: '8000000000000001', of: author.hash }
const linkHosts = { type: 165, name: 'link-hosts', hash: 'ffffffffffffffff', of: link.hash }
const campaignReporters = { type: 195, name: 'campaign-reporters', hash: '0'.repeat(16) }

test('packed shingles can be read back in order', () => {
  const shingles = [author, link, authorIps, linkHosts]
  const packed = packShingles(shingles)
  expect(packed).toHaveLength(9 + 9 + 11 + 11)
  expect(unpackShingles(packed)).toEqual(shingles)
  expect(unpackShingles(packShingles([]))).toEqual([])
})

test('a pair refers to the piece it is counted under, whatever is between them', () => {
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

test('truncated bytes give the complete shingles', () => {
  const packed = packShingles([author, link])
  expect(unpackShingles(packed.subarray(0, 12))).toEqual([author])
})

describe('the pieces that counters use', () => {
  const long = Array.from({ length: 400 }, (_, at) => `Sentence ${at} of a very long letter.`)
  const links = Array.from(
    { length: 60 },
    (_, at) => `<a href="https://s${at}.example/${at}">x</a>`,
  )
  const messages: Record<string, Written> = {
    'without a body': {},
    'in plain text': { text: 'Call +49 30 901820 or write to help@shop.example.\n\nBye.' },
    'in other alphabets': {
      text: 'Привет, здесь новости. 价格优惠，请联系我们。 Ünïcödé 𝔟𝔲𝔶',
      subject: '中文',
    },
    'in HTML': { html: '<title>Offer</title><p>Buy <b>now</b> &amp; save<style>p{}</style>' },
    'with more than is kept': { html: `${links.join('')}<p>${long.join('</p><p>')}` },
    'with a piece longer than others': { text: 'word '.repeat(3900), subject: 'x'.repeat(3000) },
  }

  test.for(Object.entries(messages))('shows %s to people', async ([, written]) => {
    const options = { trustedRelays: [], ignoreStamps: true }
    const counted = await analyzeForCounting(messageOf(written), options)
    const { shingles, fingerprints, ...analysis } = await analysisOf(written)
    expect(counted.shingles).toEqual(packShingles(shingles))
    expect(counted.fingerprints).toEqual(fingerprints)
    expect(counted.analysis).toEqual(analysis)
    expect(shingles.length).toBeGreaterThan(20)
  })

  test('has the permanent hashes of its pieces', async () => {
    const { shingles } = await analysisOf({ subject: 'Grusse aus Köln', text: 'Big 中文 today' })
    const found = new Map(shingles.map((one) => [one.name, one]))
    expect(found.get('subject')?.hash).toBe(hexOf(shingleHash(50, 'grusse aus koln')))
    expect(found.get('text')?.hash).toBe(hexOf(shingleHash(110, 'big 中 文 today')))
    const of = found.get('text')?.hash ?? ''
    const author = found.get('author-address')?.hash ?? ''
    const pair = found.get('text-authors')
    expect(pair).toMatchObject({ of, hash: hexOf(shingleHash(pair?.type ?? 0, `${of} ${author}`)) })
  })
})
