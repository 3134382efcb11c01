import { expect, test } from 'vitest'
import { type LookUpAnswer, ask } from '../../../src/counting/headline.ts'
import type { LookUpInput } from '../../../src/counting/look-up.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { countWritten, type CountedWritten } from '../../support/counted-messages.ts'
import { rollUpAll } from '../../support/counter-rows.ts'
import { freshDatabase } from '../../support/database.ts'
import { appendDeltas } from '../../support/increments.ts'
import { inEnglish } from '../../../src/texts/phrases.ts'

const now = new Date('2026-11-20T12:34:56Z')
const HOUR_MS = 3_600_000
const ago = (hours: number) => new Date(now.getTime() - hours * HOUR_MS)
const reporter = (number: number) => `0190a5b4-0000-7000-8000-00000000000${number}`
const offer = {
  from: 'Offers <offers@shop.example>',
  text: 'Go to https://pay.shop.example/a?id=1',
}

const reported = (number: number, hours: number): CountedWritten => ({
  written: offer,
  prefix: 'reports',
  amounts: { complaint: 1, spam: 1 },
  at: ago(hours),
  reporterId: reporter(number),
})
const database = await closeAfterTests(freshDatabase(now))
const messages: CountedWritten[] = [
  reported(1, 0),
  reported(2, 2),
  reported(2, 50),
  { ...reported(3, 50), amounts: { ham: 1 } },
  { written: offer, prefix: 'checks', amounts: { spam: 1 }, at: ago(1) },
]
await countWritten(database.pool, messages, now)
await rollUpAll(database.pool, now)

async function known(given: LookUpInput, series: 'told' | 'all' = 'told') {
  const answer: LookUpAnswer = await ask({ pool: database.pool, clock: () => now }, given, series)
  if ('fault' in answer) throw new Error(inEnglish(answer.fault))
  return { ...answer, summary: inEnglish(answer.summary) }
}

async function fault(given: LookUpInput): Promise<string | undefined> {
  const answer = await ask({ pool: database.pool, clock: () => now }, given, 'told')
  return 'fault' in answer ? inEnglish(answer.fault) : undefined
}

test('a disguised link has the counts of the plain one, by window and prefix', async () => {
  const { question, pieces, told } = await known({ value: 'hxxps://pay[.]shop[.]example/a?id=1' })
  expect(question).toMatchObject({ kind: 'link', isGuessed: true })
  expect(told).toBe(0)
  const [link] = pieces
  expect(link).toMatchObject({ type: 'link', piece: 'pay.shop.example/a?id=1', countedFrom: 1 })
  expect(link?.counts.reports).toEqual({
    tenMinutes: { ham: 0, spam: 1, complaint: 1, redeemed: 0 },
    hour: { ham: 0, spam: 1, complaint: 1, redeemed: 0 },
    day: { ham: 0, spam: 2, complaint: 2, redeemed: 0 },
    today: { ham: 0, spam: 2, complaint: 2, redeemed: 0 },
    twoWeeks: { ham: 1, spam: 3, complaint: 3, redeemed: 0 },
  })
  expect(link?.counts.checks?.twoWeeks.spam).toBe(1)
})

test('uniques are returned by kind of pair, and counted once in two weeks', async () => {
  const { pieces } = await known({ kind: 'address', value: 'offers@shop.example' })
  const author = pieces.find(({ type }) => type === 'author-address')
  const reporters = author?.uniques.find(({ type }) => type === 'author-reporters')
  expect(reporters).toMatchObject({
    meaning: 'How many reporters an author has (checked mail: recipients).',
    counts: { reports: { today: 2, twoWeeks: 4 } },
    different: { reports: 3 },
  })
  expect(author?.uniques.map(({ type }) => type)).toEqual([
    ...['author-recipients', 'author-ips', 'author-reporters', 'author-networks'],
    'author-countries',
  ])
})

test('a reporter seen on many days counts once, even if a row has no room for all', async () => {
  const written = { from: 'Many <many@elsewhere.example>', text: 'Another text.' }
  const of = (number: number, days: number): CountedWritten => ({
    written,
    prefix: 'reports',
    amounts: { complaint: 1 },
    at: ago(days * 24),
    reporterId: `0190a5b4-0000-7000-8000-000000001${String(number).padStart(3, '0')}`,
  })
  const first = Array.from({ length: 90 }, (_, index) => of(index, 1))
  const second = Array.from({ length: 70 }, (_, index) => of(index + 50, 2))
  const few = [of(0, 3), of(200, 3)]
  const takenBack = [of(300, 3), { ...of(300, 3), amounts: { complaint: -1 } }]
  await countWritten(database.pool, [...first, ...second, ...few, ...takenBack], now)
  await rollUpAll(database.pool, now)
  const { pieces, summary } = await known({ value: 'many@elsewhere.example' })
  const reporters = pieces[0]?.uniques.find(({ type }) => type === 'author-reporters')
  expect(reporters?.counts.reports?.twoWeeks).toBe(162)
  expect(reporters?.different.reports).toBe(121)
  expect(summary).toContain('From 121 different reporters.')
})

test('series are returned for the selected piece, or for all that have counts', async () => {
  const first = await known({ value: 'https://pay.shop.example/a?id=1' })
  expect(first.pieces.filter(({ series }) => series).map(({ type }) => type)).toEqual(['link'])
  const { reports, checks } = first.pieces[0]?.series ?? {}
  expect(reports?.days).toEqual([
    { startsAt: new Date('2026-11-18'), ham: 1, spam: 1, complaint: 1, redeemed: 0 },
    { startsAt: new Date('2026-11-20'), ham: 0, spam: 2, complaint: 2, redeemed: 0 },
  ])
  expect(reports?.tenMinutes.map(({ startsAt }) => startsAt)).toEqual([
    ...[new Date('2026-11-20T10:30:00Z'), new Date('2026-11-20T12:30:00Z')],
  ])
  expect(checks?.days).toHaveLength(1)
  const all = await known({ value: 'https://pay.shop.example/a?id=1' }, 'all')
  const drawn = all.pieces.filter(({ series }) => series).map(({ type }) => type)
  expect(drawn).toEqual(
    expect.arrayContaining(['link', 'link-path', 'link-host', 'link-organization']),
  )
  expect(drawn).not.toContain('image-link')
})

test('the summary says how often, by how many and since when', async () => {
  expect((await known({ value: 'offers@shop.example' })).summary).toBe(
    'In reports of the last two weeks: complained about 3 times, judged spam 3 times, judged ' +
      'legitimate once. In mail checked in the last two weeks: judged spam once. From 3 ' +
      'different reporters. First counted on 18 November, last on 20 November from 12:30 to ' +
      '12:40 UTC.',
  )
  expect((await known({ value: 'https://pay.shop.example/a?id=1' })).summary).toContain(
    'The link organization “shop.example” has 3 different reporters.',
  )
})

test('a recipient is not described as a sender', async () => {
  const { summary } = await known({ kind: 'domain', value: 'provider.example' })
  expect(summary).toMatch(/^Known as recipient domain\. In reports of the last two weeks: /)
})

test.for([
  [
    'an address of another who is called the same',
    'offers@innocent.example',
    'author local part “offers”',
  ],
  [
    'a page on a host that is known',
    'https://pay.shop.example/other',
    'link host “pay.shop.example”',
  ],
  ['a page whose path others have', 'https://innocent.example/a?id=9', 'link pattern “/a”'],
])('the counts of a wider piece are not attributed to %s', async ([, value, wider]) => {
  expect((await known({ value: value ?? '' })).summary).toMatch(
    `There are no counts for this exact value. These are for its ${wider}, which others may share.`,
  )
})

test('a value known in another role is described in that role', async () => {
  expect((await known({ value: 'pay.shop.example' })).summary).toMatch(/^Known as link host\. In/)
})

test('for an unknown value the summary says so, and why', async () => {
  const { told, summary, pieces } = await known({ value: '198.51.100.99' })
  expect(told).toBeNull()
  expect(summary).toMatch(
    /^There are no counts for this value in the last two weeks\. Possible reasons/,
  )
  expect(summary).not.toContain('Nobody')
  expect(pieces.map(({ type }) => type)).toContain('origin-ip')
})

test('if every piece may be held back, the summary says from when on it counts', async () => {
  const { summary, pieces } = await known({ type: 'sentence', value: 'never seen' })
  expect(pieces[0]?.countedFrom).toBe(3)
  expect(summary).toContain(
    'In mail that is only checked, such a value is counted once it was seen 3 times.',
  )
})

test('a piece is found by its type and text, and by its hash alone', async () => {
  const typed = await known({ type: 'link-host', value: 'pay.shop.example' })
  expect(typed.question).toEqual({ type: 'link-host', value: 'pay.shop.example' })
  expect(typed.pieces[0]?.counts.reports?.twoWeeks.complaint).toBe(3)
  const organization = await known({ type: 'link-organization', value: 'shop.example' })
  const hash = organization.pieces[0]?.hash ?? ''
  for (const given of [{ hash: hash.toUpperCase() }, { value: hash }]) {
    const [piece] = (await known(given)).pieces
    expect(piece).toMatchObject({ type: null, piece: null, hash })
    expect(piece?.counts).toEqual(organization.pieces[0]?.counts)
    expect(piece?.uniques.map(({ type }) => type)).toContain('link-reporters')
    expect(piece?.uniques.map(({ type }) => type)).not.toContain('author-reporters')
  }
})

test('retracted counts are not described as known', async () => {
  const shingle = BigInt(`0x${'7'.repeat(16)}`)
  const one = { prefix: 'reports', shingle, at: now } as const
  const increments = [
    { ...one, complaint: 1 },
    { ...one, complaint: -1 },
  ]
  await appendDeltas(database.pool, increments, now)
  await rollUpAll(database.pool, now)
  expect((await known({ hash: '7'.repeat(16) })).told).toBeNull()
  await appendDeltas(database.pool, [{ ...one, redeemed: 2 }], now)
  await rollUpAll(database.pool, now)
  expect((await known({ hash: '7'.repeat(16) })).summary).toMatch(
    /^In reports of the last two weeks: all reports were taken back \(twice\)\./,
  )
})

test.for([
  ['nothing', {}, /^Enter a value to look up\. The kinds are link, address, domain/],
  ['a blank value', { kind: 'link', value: ' ' }, /^Enter a value/],
  ['an unknown kind', { kind: 'links', value: 'x' }, /^Unknown kind “links”\. The kinds are/],
  ['an unknown type', { type: 'links', value: 'x' }, /^Unknown type “links”\. The types are/],
  [
    'a value of another kind',
    { kind: 'ip', value: 'shop' },
    /^This is not a value of the kind “ip”\. Example: 192/,
  ],
  ['a value of signs only', { value: '\0\uFFFD' }, /^Nothing in this value can be counted/],
  ['a malformed hash', { hash: 'abc' }, /^A hash must have 16 hexadecimal digits\.$/],
  ['two ways at once', { kind: 'ip', hash: 'a' }, /^Give only one of kind, type and hash\.$/],
  ['a value without end', { value: 'x'.repeat(8_001) }, /longer than 8,000 characters\.$/],
] as const)('%s is refused with a sentence', async ([, given, words]) => {
  expect(await fault(given)).toMatch(words)
})
