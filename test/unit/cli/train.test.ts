import { expect, test } from 'vitest'
import { trainModel } from '../../../src/cli/train/train.ts'
import { loadModel } from '../../../src/verdict/model/load-model.ts'
import type { RowKind, TrainingRow } from '../../../src/verdict/model/training.ts'

const [LURE, CHAT, SPANISH] = [11, 22, 33] as const

function rowsOf(kind: RowKind, language: string, piece: number): TrainingRow[] {
  return Array.from({ length: 40 }, (_, at) => ({
    ...{ at, kind, campaign: `${kind} ${language} ${at}`, symbols: [] },
    facts: { text: { language } },
    text: Uint32Array.of(piece),
    load: () => Promise.resolve(undefined),
  }))
}

const rows = [
  ...rowsOf('spam', 'en', LURE),
  ...rowsOf('ham', 'en', CHAT),
  ...rowsOf('spam', 'es', SPANISH),
]

async function trained(source: 'own-files' | 'other-files') {
  const { content, calibration } = await trainModel(rows, {
    ...{ definitions: [], symbols: [], source, sources: [], seed: 1 },
    ...{ split: 'campaign', trainShare: 1, tell: () => undefined },
  })
  const { apply } = loadModel({ version: 1, format: 'linear', content, calibration })
  return (...pieces: number[]) => apply({}, [], Uint32Array.from(pieces)).probability
}

test('a model of other mail does not take a language for a sign of unwanted mail', async () => {
  const [own, other] = await Promise.all([trained('own-files'), trained('other-files')])
  expect(own(SPANISH)).toBeGreaterThan(own())
  expect(other(SPANISH)).toBe(other())
  expect(other(LURE)).toBeGreaterThan(other(CHAT))
})
