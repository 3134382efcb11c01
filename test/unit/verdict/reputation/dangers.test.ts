import { expect, test } from 'vitest'
import {
  noSums,
  packDetail,
  sourceId,
  unpackDetail,
} from '../../../../src/verdict/reputation/detail.ts'
import { dangerOf, packReport, unpackReports } from '../../../../src/verdict/reputation/evidence.ts'
import { type Folded, foldPieces, type Piece } from '../../../../src/verdict/reputation/fold.ts'
import { dangerReporters } from '../../../../src/verdict/reputation/reputation.ts'

const now = new Date('2026-11-20T12:00:00Z')
const later = (days: number) => new Date(now.getTime() + days * 86_400_000)
const host = { kind: 'link-host', name: 'www.bank-login.example' } as const

type Said = Partial<Piece> & { source: number }

const piece = (one: Said): Piece => ({ karma: 1, good: 0, bad: 1, at: now.getTime(), ...one })
const sources = (count: number, from = 0) => Array.from({ length: count }, (_, n) => from + n)
const stored = ({ base, detail }: Folded): Folded => {
  return { base, detail: unpackDetail(packDetail(detail)) }
}

function dangersOf(pieces: readonly Said[], at = now, before?: Folded) {
  const { base } = foldPieces(before, host, pieces.map(piece), at)
  return dangerReporters(base, at, 1)
}

test('reports of phishing and of malware are counted, with malware as part of phishing', () => {
  const phishing = sources(10).map((source) => ({ source, danger: 'phishing' }) as const)
  const malware = sources(10, 20).map((source) => ({ source, danger: 'malware' }) as const)
  expect(dangersOf(phishing)).toEqual({ phishing: 7, malware: 0 })
  expect(dangersOf(malware)).toEqual({ phishing: 7, malware: 7 })
  expect(dangersOf(sources(10).map((source) => ({ source })))).toEqual({ phishing: 0, malware: 0 })
})

test('one reporter counts once, and newcomers and accounts from sign-up never suffice', () => {
  const often = sources(1_000).map(() => ({ source: 1, danger: 'phishing' }) as const)
  expect(dangersOf(often).phishing).toBe(1)
  const newcomers = sources(500).map((source) => ({ source, karma: 0.2, danger: 'phishing' }))
  expect(dangersOf(newcomers as Said[]).phishing).toBe(0)
  const ring = sources(500).map((one) => ({ source: sourceId(one, false), danger: 'malware' }))
  expect(dangersOf(ring as Said[]).malware).toBeLessThan(3)
})

test('what others say about the same name hides no danger', () => {
  const spam = sources(200, 1_000).map((source) => ({ source }))
  const few = sources(6).map((source) => ({ source, danger: 'phishing' }) as const)
  expect(dangersOf([...few, ...spam]).phishing).toBe(dangersOf(few).phishing)
})

test('a retraction takes exactly the danger back, also after months', () => {
  const said = sources(6).map((source) => piece({ source, danger: 'phishing' }))
  const before = stored(foldPieces(undefined, host, said, now))
  const opposite = said.slice(2).map((one) => ({ ...one, bad: -1 }))
  expect(dangersOf(opposite, later(70), before).phishing).toBe(
    dangersOf(said.slice(0, 2), later(70)).phishing,
  )
  const other = sources(8, 50).map((source) => ({ source, at: later(70).getTime() }))
  const mixed = stored(foldPieces(before, host, other.map(piece), later(70)))
  expect(mixed.detail.sources.filter(({ dangers }) => dangers)).toHaveLength(6)
  const without = foldPieces(
    mixed,
    host,
    said.map((one) => ({ ...one, bad: -1 })),
    later(70),
  )
  expect(without.detail.sources.filter(({ dangers }) => dangers)).toHaveLength(0)
  expect(without.base).toMatchObject({ phishing: 0, malware: 0 })
})

test('a detail without danger is packed as before, and one with danger is read back', () => {
  const { detail } = foldPieces(
    undefined,
    host,
    sources(40).map((source) => {
      return piece({ source, danger: source % 2 ? 'phishing' : 'malware' })
    }),
    now,
  )
  const rounded = unpackDetail(packDetail(detail))
  expect(rounded.sources.map(({ dangers }) => dangers)).toEqual(
    detail.sources.map(({ dangers }) => ({
      phishing: Math.fround(dangers?.phishing ?? 0),
      malware: Math.fround(dangers?.malware ?? 0),
    })),
  )
  const plain = {
    ...detail,
    sources: detail.sources.map(({ id }) => ({ id, ...noSums(), bad: 1 })),
  }
  const dangerous = {
    ...plain,
    sources: plain.sources.map((one) => ({ ...one, dangers: { phishing: 1, malware: 0 } })),
  }
  const packed = packDetail(plain)
  expect(packDetail(dangerous).subarray(0, packed.length)).toEqual(packed)
})

test.for([undefined, 'phishing', 'malware'] as const)('evidence of %s is packed', (danger) => {
  const one = piece({ source: 7, ...(danger && { danger }) })
  const subjects = [
    { key: 5n, subject: host },
    { key: -6n, subject: undefined },
  ]
  const report = { piece: one, subjects }
  const packed = packReport(report)
  expect(unpackReports(Buffer.concat([packed, packed]))).toEqual([report, report])
})

test.for([
  ['phishing', 'phishing', undefined, 'phishing'],
  ['spam', 'malware', undefined, 'malware'],
  ['spam', 'phishing', undefined, 'phishing'],
  ['phishing', 'spam', undefined, undefined],
  ['phishing', 'undecided', undefined, undefined],
  ['phishing', 'phishing', 'bulk', undefined],
  ['not-spam', 'phishing', undefined, undefined],
] as const)('a report as %s judged %s, doubt %s, is evidence of %s', (row) => {
  const [reportedAs, its, doubt, danger] = row
  expect(dangerOf({ reportedAs, verdict: { class: its, confidence: 1 }, doubt })).toBe(danger)
})

test('the version before reads packed evidence with a danger, except for the danger', () => {
  const subjects = [{ key: 7n, subject: host }]
  const plain = packReport({ piece: piece({ source: 1 }), subjects })
  const packed = packReport({ piece: piece({ source: 1, danger: 'malware' }), subjects })
  const countAt = 17
  expect(packed.readUInt16BE(countAt)).toBe(plain.readUInt16BE(countAt) + 1)
  expect(packed.subarray(countAt + 2, plain.length)).toEqual(plain.subarray(countAt + 2))
  // The subject after it has no kind and no name: such a one without a reputation was skipped.
  expect([...packed.subarray(plain.length + 8)]).toEqual([0, 0])
})
