import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { phrase } from '../../../../src/phrase.ts'
import { analyzeMessage } from '../../../../src/pieces/analyze.ts'
import {
  type CheckContext,
  type ReportContext,
  takeApart,
  withLaterShingles,
  withSpreadShingles,
} from '../../../../src/pieces/shingles/take-apart.ts'
import { hexOf, shingleHash } from '../../../../src/pieces/shingles/hash.ts'
import {
  packShingles,
  type Shingle,
  unpackShingles,
} from '../../../../src/pieces/shingles/packed-shingles.ts'
import { gatedTypes, pairTypes, pieceTypes } from '../../../../src/pieces/shingles/piece-types.ts'
import { sendingShingles } from '../../../../src/pieces/shingles/sending-user.ts'
import { parseHeader } from '../../../../src/mail/header.ts'
import { withLater } from '../../../support/later-shingles.ts'
import { messageOf } from '../../../support/shingles.ts'

const pieces = Object.values(pieceTypes)
const all = [...pieces, ...pairTypes]

describe('the registry', () => {
  test('has at least 60 types', () => {
    expect(pieces.length).toBeGreaterThanOrEqual(100)
    expect(pairTypes.length).toBeGreaterThanOrEqual(40)
  })

  test('has every number and every name once', () => {
    expect(new Set(all.map(({ number }) => number)).size).toBe(all.length)
    expect(new Set(all.map(({ name }) => name)).size).toBe(all.length)
  })

  test.for(all)(
    '$number $name: numbers fit in a byte, names are kebab-case, meanings are sentences',
    (type) => {
      expect(type.number).toBeGreaterThan(0)
      expect(type.number).toBeLessThan(256)
      expect(type.name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/)
      expect(type.meaning).toMatch(/^[A-Z].{10,}\.$/)
    },
  )

  test('gates only pieces that no pair counts', () => {
    expect(gatedTypes.size).toBeGreaterThan(20)
    for (const { number, counted, unique } of pairTypes) {
      for (const type of [number, pieceTypes[counted].number, pieceTypes[unique].number]) {
        expect(gatedTypes).not.toContain(type)
      }
    }
  })

  test('never changes a number, because stored counters refer to it', () => {
    const kept = readFileSync(
      new URL('../../../fixtures/shingle-types.txt', import.meta.url),
      'utf8',
    )
    const numbers = new Set(all.map(({ number, name }) => `${number} ${name}`))
    expect(
      kept
        .trim()
        .split('\n')
        .filter((line) => !numbers.has(line)),
    ).toEqual([])
  })
})

const file = Buffer.from('A file that is attached. '.repeat(60)).toString('base64')
const words = Array.from({ length: 12 }, (_, at) => `extraordinary${'abcdefghijkl'[at]} words`)

/** A message with nearly every type of piece. */
const rich = Buffer.from(
  [
    'Return-Path: <b-4711@bounces.shop.example>',
    'Received: from mail7.shop.example (dyn-7.net.example [192.0.2.7])',
    ' by mx.provider.example (Postfix) with ESMTPS id 4ABC',
    ' for <you@provider.example>; Mon, 16 Nov 2026 10:00:00 +0000',
    'Received: from [198.51.100.9] (unknown [198.51.100.9])',
    ' by mail7.shop.example (Postfix) with ESMTPSA id 4ABD; Mon, 16 Nov 2026 09:59:59 +0000',
    'DKIM-Signature: v=1; a=rsa-sha256; d=shop.example; s=key1; i=@shop.example; b=abc',
    'Great-Field: 1',
    'From: Great Offers <offers12@news.shop.example>',
    'Sender: robot@mailer.example',
    'Reply-To: answers@shop.example',
    'To: you@provider.example',
    'Subject: A great offer for all of you',
    'Date: Mon, 16 Nov 2026 09:59:57 +0000',
    'Message-ID: <4711.abc@shop.example>',
    'List-Id: Offers <offers.shop.example>',
    'List-Unsubscribe: <https://out.shop.example/u?1>, <mailto:u@shop.example>',
    'Feedback-ID: 1:2:3:mailer',
    'X-Mailer: Mass Mailer 3.1',
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; charset=utf-8; boundary="b_471_x"',
    '',
    '--b_471_x',
    'Content-Type: text/plain; charset=utf-8',
    '',
    'The plain part says something else to nobody in particular.',
    '--b_471_x',
    'Content-Type: text/html; charset=utf-8',
    '',
    '<html><head><title>Offers</title><style>p { color: red }</style></head><body>',
    '<!-- template seven -->',
    `<p>${words.join(' ')}. And that is a sentence of its own.</p>`,
    ...Array.from({ length: 25 }, () => '<div>x</div><p>y</p>'),
    '<p>Call +44 20 7946 0000, write to sales@shop.example or a@b.shop.example.</p>',
    '<p>Pay to 1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa or GB82 WEST 1234 5698 7654 32.</p>',
    '<a href="https://www.google.com/url?q=https%3A%2F%2Fshop.example%2Fbuy%2F1%3Fx%3D1">Buy</a>',
    '<a href="http://192.0.2.9/pay">Pay</a><form action="https://form.example/x"></form>',
    '<img src="https://pictures.example/1.png"></body></html>',
    '--b_471_x',
    'Content-Type: application/pdf; name="invoice 12.pdf"',
    'Content-Disposition: attachment; filename="invoice 12.pdf"',
    'Content-Transfer-Encoding: base64',
    '',
    file,
    '--b_471_x',
    'Content-Type: image/png; name="logo.png"',
    'Content-Disposition: attachment; filename="logo.png"',
    'Content-Transfer-Encoding: base64',
    '',
    file,
    '--b_471_x--',
    '',
  ].join('\r\n'),
)

async function richShingles(): Promise<Shingle[]> {
  const analysis = await analyzeMessage(rich, { trustedRelays: [], ignoreStamps: true })
  const { fields } = parseHeader(rich)
  const { shingles } = takeApart({
    fields,
    body: { text: '', html: '', attachments: [] },
    links: [],
    attachments: [],
    hops: analysis.hops,
    origin: analysis.origin,
    submitter: {
      ip: '203.0.113.5',
      how: phrase('submitter-in-seal', { provider: '', ip: '' }),
      confidence: 1,
    },
    signers: [{ domain: 'shop.example', selector: 'key1' }],
  })
  return [...analysis.shingles, ...shingles]
}

function laterOf(shingles: readonly Shingle[], known: ReportContext): Shingle[] {
  const all = unpackShingles(withLaterShingles(packShingles(shingles), known))
  expect(all.slice(0, shingles.length)).toEqual(shingles)
  return all.slice(shingles.length)
}

test('shingles of later data are those of a plain implementation', async () => {
  // A message has no piece twice.
  const rich = [...new Map((await richShingles()).map((one) => [one.hash, one])).values()]
  const many = Array.from({ length: 600 }, (_, at) => {
    return { type: 50, name: 'subject', hash: hexOf(shingleHash(50, String(at))) }
  })
  const contexts: ReportContext[] = [
    {},
    { reporterId: 'r1' },
    { reporterId: 'r1', originAsn: 0, submitterAsn: 64501, campaignId: 'c1' },
    { originAsn: null, campaignId: 'c2', reporterId: 'ü'.repeat(20_000) },
    { reporterId: 'r1', originCountry: 'FR', campaignId: 'c1' },
  ]
  for (const shingles of [rich, [], rich.slice(0, 3), [...rich, ...many]]) {
    for (const one of contexts) {
      const plain = withLater(shingles, {
        reporter: one.reporterId,
        'origin-as': one.originAsn ?? undefined,
        'submitter-as': one.submitterAsn ?? undefined,
        campaign: one.campaignId ?? undefined,
        'origin-country': one.originCountry ?? undefined,
      })
      expect(withLaterShingles(packShingles(shingles), one)).toEqual(packShingles(plain))
    }
  }
})

describe('every type', () => {
  test('occurs in some message', async () => {
    const shingles = await richShingles()
    const later = laterOf(shingles, {
      reporterId: 'r1',
      originAsn: 64500,
      submitterAsn: 64501,
      originCountry: 'FR',
      campaignId: 'c1',
    })
    const user = { system: '', user: 'ann' }
    const sending = (['sent', 'complaint', 'bounce', 'read'] as const).flatMap((event) =>
      unpackShingles(sendingShingles(user, event, ['you@home.example'])),
    )
    const found = new Set([...shingles, ...later, ...sending].map(({ name }) => name))
    const missing = all.map(({ name }) => name).filter((name) => !found.has(name))
    // The first occurs only if a sending provider wrote the line itself, the second only in
    // messages that consist of a picture, and the others only in pairs.
    expect(missing).toEqual(['submitter-helo', 'picture-look', 'sent-to', 'origin-country'])
  })

  test('has its number', async () => {
    const numbers = new Map(all.map(({ name, number }) => [name, number]))
    for (const { type, name } of await richShingles()) expect(type).toBe(numbers.get(name))
  })
})

describe('the spread of a checked message', () => {
  const spreadOf = async (recipients: readonly string[], known: Partial<CheckContext> = {}) => {
    const shingles = packShingles(await richShingles())
    const all = unpackShingles(withSpreadShingles(shingles, { recipients, ...known }))
    return all.slice(unpackShingles(shingles).length)
  }
  const namesOf = (found: readonly Shingle[]) => [...new Set(found.map(({ name }) => name))]

  test('is that of its author, text, links and campaign', async () => {
    const known = { originCountry: 'FR', campaignId: 'c1' }
    expect(namesOf(await spreadOf(['a@home.example'], known))).toEqual([
      ...['campaign', 'author-reporters', 'link-reporters', 'text-reporters'],
      ...['campaign-reporters', 'campaign-networks', 'campaign-authors'],
      ...['author-countries', 'link-countries', 'text-countries', 'campaign-countries'],
    ])
    expect(namesOf(await spreadOf([]))).toEqual([])
  })

  test('counts each of ten recipients once, in any case', async () => {
    const authors = (found: readonly Shingle[]) =>
      new Set(found.filter(({ name }) => name === 'author-reporters').map(({ hash }) => hash)).size
    expect(authors(await spreadOf(['a@home.example', 'A@Home.example']))).toBe(1)
    const many = Array.from({ length: 500 }, (_, nth) => `${nth}@home.example`)
    expect(authors(await spreadOf(many))).toBe(10)
  })
})

describe('a pair', () => {
  test('names the counted piece of the same message whose unique it may raise', async () => {
    const { shingles } = await analyzeMessage(rich, { trustedRelays: [], ignoreStamps: true })
    const pairs = shingles.filter(({ of }) => of !== undefined)
    expect(pairs.length).toBeGreaterThan(15)
    for (const { type, of } of pairs) {
      const counted = pairTypes.find(({ number }) => number === type)?.counted
      expect(shingles.some(({ name, hash }) => name === counted && hash === of)).toBe(true)
    }
  })

  test('depends on the partner, and its unique does not', async () => {
    const pairOf = async (to: string) => {
      const raw = Buffer.from(
        messageOf({}).toString().replace('To: you@provider.example', `To: ${to}`),
      )
      const { shingles } = await analyzeMessage(raw, { trustedRelays: [], ignoreStamps: true })
      return shingles.find(({ name }) => name === 'author-recipients')
    }
    const one = await pairOf('you@a.example')
    const other = await pairOf('you@b.example')
    expect(one?.of).toBeDefined()
    expect(one?.of).toBe(other?.of)
    expect(one?.hash).not.toBe(other?.hash)
  })

  test('of the reporter is made later from the shingles alone', async () => {
    const { shingles } = await analyzeMessage(rich, { trustedRelays: [], ignoreStamps: true })
    const later = laterOf(shingles, { reporterId: 'r1' })
    const ips = shingles.filter(({ name }) => name === 'origin-ip')
    expect(later.filter(({ name }) => name === 'ip-reporters').map(({ of }) => of)).toEqual(
      ips.map(({ hash }) => hash),
    )
    expect(later.some(({ name }) => name === 'origin-as')).toBe(false)
    expect(laterOf(shingles, {})).toEqual([])
  })
})
