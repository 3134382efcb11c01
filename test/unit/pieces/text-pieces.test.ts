import { expect, test } from 'vitest'
import { withoutMarks, wordsOf } from '../../../src/pieces/disguise/plain-text.ts'
import {
  type MessageTexts,
  spellPieces,
  TEXT_ROWS,
  textPieces,
} from '../../../src/pieces/text-pieces.ts'

function textsWith(body: string, given: Partial<MessageTexts> = {}): MessageTexts {
  const shown = wordsOf(withoutMarks(body), 4_000)
  return { subject: '', author: '', recipient: undefined, shown, ...given }
}

const piecesOf = (body: string, given?: Partial<MessageTexts>) =>
  new Set(textPieces(textsWith(body, given)))

test('words and pairs of words are pieces, each of them once', () => {
  const [one, twice, other] = [
    piecesOf('your account'),
    piecesOf('your account your account'),
    piecesOf('account your'),
  ]
  // The words, and the pairs with the beginning and with each other.
  expect(one.size).toBe(4)
  expect(twice.isSupersetOf(one)).toBe(true)
  expect(twice.size).toBe(5)
  expect(other.intersection(one).size).toBe(2)
})

test('disguised words give the same pieces', () => {
  expect(piecesOf('V\u0435rify your p\u0430ssword')).toEqual(piecesOf('verify your password'))
})

test('the subject, the name and the body are told apart', () => {
  const [subject, name, body] = [
    piecesOf('', { subject: 'account' }),
    piecesOf('', { author: 'account' }),
    piecesOf('account'),
  ]
  expect(body.intersection(subject).size).toBe(0)
  // The character pieces are common to the subject and the name.
  expect(subject.intersection(name).size).toBe(6)
})

test('words of other scripts share character pieces with their other forms', () => {
  const [one, other] = [piecesOf('подтвердите'), piecesOf('подтвердить')]
  expect(one.intersection(other).size).toBeGreaterThan(5)
})

test('the name and the address of the recipient are not pieces', () => {
  const recipient = { name: 'Ann Smith', local: 'ann.smith', address: 'ann.smith@office' }
  expect(piecesOf('hello ann smith your ann.smith@office account', { recipient })).toEqual(
    piecesOf('hello your account'),
  )
})

test('at most 1,000 words are read, in any text', () => {
  const words = Array.from(
    { length: 3_000 },
    (_, at) => `w${String.fromCharCode(97 + (at % 26))}${at}`,
  )
  const long = textPieces(textsWith('подтвердите '.repeat(3_000)))
  expect(long.length).toBeLessThan(20)
  const distinct = words.map((word) =>
    word.replace(/\d/g, (digit) => 'abcdefghij'[Number(digit)] ?? ''),
  )
  expect(textPieces(textsWith(distinct.join(' '))).length).toBeGreaterThan(1_980)
  expect(Math.max(...long)).toBeLessThan(TEXT_ROWS)
})

test('the spelling of pieces is found again', () => {
  const texts = textsWith('please confirm your account', { subject: 'urgent' })
  const spelled = spellPieces(texts, new Set(textPieces(texts)))
  expect([...spelled.values()]).toEqual(
    expect.arrayContaining(['confirm', 'confirm your', 'subject: urgent', 'subject: urge']),
  )
  expect(spellPieces(texts, new Set()).size).toBe(0)
})
