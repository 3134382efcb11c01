import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { phraseBook, phrasesOf } from '../../../src/texts/phrase-book.ts'
import { basisOf, symbolsForReporters } from '../../../src/verdict/verdict.ts'
import { shippedRules } from '../../support/shipped-rules.ts'

const source = sourceText(path.join(import.meta.dirname, '..', '..', '..', 'src'))
const { fr, ru } = phrasesOf

describe.for(['fr', 'ru'] as const)('in %s', (language) => {
  const say = phraseBook(language)

  test.for([
    'The reporter took it back. Feedback that had not left was called back.',
    'It came from 192.0.2.7 (95 % sure). The network 192.0.2.0/24 answers for the ' +
      'origin and has an abuse contact.',
    'The origin could not be found. The verdict is undecided.',
    'A feedback report was sent to the abuse desk of Acme Inc. Ltd. It tells of ' +
      'this message together with others.',
    'The marketer says that it has dealt with it.',
    'Line 2: Gmail saw 192.0.2.7 (a machine without a name) hand the message over, ' +
      'a machine that it does not run.',
    'shop.example signed the message, and the signature verifies, its List-Id is x: ' +
      'that is how Shop is known. Nobody is accused.',
    'We may have asked, and cannot tell what became of it. We do not ask twice.',
    'No abuse contact is registered for 192.0.2.0/24 (Acme).',
  ])('a known sentence is translated: %s', (sentence) => {
    const said = say(sentence)
    expect(said.lang).toBeUndefined()
    expect(said.text).not.toBe(sentence)
    expect(said.text).not.toContain('{')
  })

  test('the content of placeholders is unchanged', () => {
    expect(say('It came from 192.0.2.7 (95 % sure).').text).toContain('192.0.2.7')
    expect(say('Who enrolled for mail of <b>.example is told.').text).toContain('<b>.example')
  })

  test.for([
    'A rule of this operator.',
    'The reporter took it back. And something else.',
    'A feedback report was sent to whom nobody knows.',
  ])('an unknown sentence stays English as a whole, and is marked as such: %s', (sentence) => {
    expect(say(sentence)).toEqual({ text: sentence, lang: 'en' })
  })

  test('every symbol of the shipped rules that reporters see is translated', () => {
    const symbols = shippedRules().rules.map(({ symbol, weight, meaning, facts }) => {
      const basis = basisOf(facts.map((fact) => fact.split('.')[0] ?? ''))
      return { name: symbol, weight, meaning, basis }
    })
    const meanings = symbolsForReporters(symbols).map(({ meaning }) => meaning)
    expect(meanings.length).toBeGreaterThan(90)
    expect(meanings.filter((meaning) => say(meaning).lang !== undefined)).toEqual([])
  })
})

test('English addresses the reporter as "you" and keeps everything else as written', () => {
  const say = phraseBook('en')
  expect(say('The reporter took it back. Feedback that had not left was called back.')).toEqual({
    text: 'You took it back. Feedback that had not left was called back.',
    lang: undefined,
  })
  expect(say('Anything else.')).toEqual({ text: 'Anything else.', lang: undefined })
})

test('all languages have the same sentences with the same placeholders', () => {
  for (const kind of ['sentences', 'parts'] as const) {
    expect(Object.keys(ru[kind]).sort()).toEqual(Object.keys(fr[kind]).sort())
    for (const { [kind]: phrases } of [fr, ru]) {
      for (const [from, to] of Object.entries(phrases)) {
        const holes = [...to.matchAll(/\{\w+\}/g)].map(([hole]) => hole)
        expect(holes.filter((hole) => !from.includes(hole))).toEqual([])
      }
    }
  }
})

test('every known sentence still occurs in the source', () => {
  const sentences = Object.keys(fr.sentences)
  const gone = sentences.filter(
    (sentence) => !piecesOf(sentence).every((piece) => source.includes(piece)),
  )
  expect(gone).toEqual([])
})

/** The text between placeholders, without the spaces at which source lines may be broken. */
function piecesOf(sentence: string): string[] {
  return sentence
    .split(/\{\w+\}/)
    .map(squeezed)
    .filter((piece) => piece.length > 6)
    .map((piece) => piece.slice(0, 30))
}

function squeezed(text: string): string {
  return text.replaceAll(/['`\\+\s]/g, '')
}

function sourceText(folder: string): string {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return squeezed(
    files
      .filter((name) => /\.(ts|yaml)$/.test(name) && !name.includes('language'))
      .map((name) => readFileSync(path.join(folder, name), 'utf8'))
      .join('\n'),
  )
}
