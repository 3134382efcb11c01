import { expect, test } from 'vitest'
import { analyzeMessage } from '../../../src/pieces/analyze.ts'
import { askedPieces, type QuestionName } from '../../../src/pieces/questions.ts'
import { pieceTypes } from '../../../src/pieces/shingles/piece-types.ts'
import { corpusFiles } from '../../support/corpus.ts'

const MESSAGES = 250
const authorAddress = pieceTypes['author-address'].number
const all = corpusFiles('phishing', 'ham')
const every = Math.max(1, Math.floor((all?.length ?? 0) / MESSAGES))
const files = all?.filter((_, index) => index % every === 0)

test.skipIf(!files)(
  'the pieces of real messages can be looked up',
  async () => {
    const asked: [QuestionName, string][] = []
    const missed: string[] = []
    for (const { name, raw } of files ?? []) {
      const found = await analyzeMessage(raw, { trustedRelays: [], ignoreStamps: true })
      const counted = new Set(found.shingles.map(({ hash }) => hash))
      const { from, subject } = found.headers
      const questions: [QuestionName, string | null | undefined][] = [
        // A From field that cannot be parsed gives no counted address.
        ['address', found.shingles.some(({ type }) => type === authorAddress) ? from : null],
        ['subject', subject],
        ['ip', found.origin?.ip],
        ...found.links.slice(0, 3).map(({ url }): [QuestionName, string] => ['link', url]),
        ...found.attachments
          .filter(({ bytes }) => bytes >= 20)
          .slice(0, 2)
          .map(({ sha256 }): [QuestionName, string] => ['file', sha256]),
      ]
      for (const [kind, value] of questions) {
        const pieces = value ? askedPieces(kind, value) : []
        if (value && pieces.length > 0) asked.push([kind, value])
        if (pieces.length > 0 && !pieces.some(({ hash }) => counted.has(hash))) {
          missed.push(`${kind} of ${name}`)
        }
      }
    }
    expect(new Set(asked.map(([kind]) => kind)).size).toBe(5)
    expect(asked.length).toBeGreaterThan(MESSAGES * 2)
    expect(missed).toEqual([])
  },
  60_000,
)
