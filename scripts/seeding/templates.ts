import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { analyzeMessage } from '../../src/pieces/analyze.ts'
import { pack, type Packed } from '../../src/db/rows.ts'
import { emptyFacts, packFacts } from '../../src/verdict/facts/facts.ts'
import { variantOf } from '../bench/corpus.ts'

/** A real message with its real analysis, from which many seeded reports are made. */
export type Template = { raw: Packed; analysis: Packed; facts: Buffer }

const samples = path.join(import.meta.dirname, '..', 'samples')
const VARIANTS = 4

/** Makes a few fixed variants of each sample message. */
export async function makeTemplates(): Promise<Template[]> {
  const names = readdirSync(samples)
    .filter((name) => name.endsWith('.eml'))
    .sort()
  const raws = names.flatMap((name) => {
    const raw = readFileSync(path.join(samples, name))
    return Array.from({ length: VARIANTS }, (_, index) => variantOf(raw, index))
  })
  return Promise.all(
    raws.map(async (raw) => {
      const analysis = await analyzeMessage(raw, { trustedRelays: [], ignoreStamps: false })
      return {
        raw: await pack(raw),
        analysis: await pack(Buffer.from(JSON.stringify(analysis))),
        facts: packFacts(emptyFacts()),
      }
    }),
  )
}
