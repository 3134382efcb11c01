import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { analyzeMessage } from '../../../src/analysis/analyze.ts'
import type { Analysis } from '../../../src/analysis/analyze.ts'

const corpus = path.join(import.meta.dirname, '../../../../shared/corpus')

const manifest = z.object({
  files: z.record(
    z.string(),
    z.object({
      truth: z
        .object({ ip: z.string().nullish(), anonymiser_damaged_ip: z.unknown().optional() })
        .optional(),
      forged_chain: z.object({ first_forged_index: z.number() }).optional(),
    }),
  ),
})

describe.skipIf(!existsSync(corpus))('the corpus, where it is present, stamps passed over', () => {
  test.for(['phishing', 'newsletters'])(
    'the origin is right for 199 in 200 of %s, and for nine in ten given 0.9',
    async (folder) => {
      const judged = await judge(folder)
      expect(share(judged)).toBeGreaterThanOrEqual(0.995)
      const sure = judged.filter(({ analysis }) => (analysis.origin?.confidence ?? 0) >= 0.9)
      expect(share(sure)).toBeGreaterThanOrEqual(0.9)
    },
  )

  test('no origin lies below a line that is known to be forged', async () => {
    const forged = (await judge('phishing')).filter((message) => message.firstForged !== undefined)
    expect(forged.length).toBeGreaterThan(0)
    for (const { file, analysis, firstForged = 0 } of forged) {
      expect(analysis.origin?.hop ?? 0, file).toBeLessThan(firstForged)
      const found = analysis.hops.findIndex(({ trust }) => trust === 'forged')
      expect([-1, firstForged], file).toContain(found)
    }
  })
})

type Judged = {
  file: string
  analysis: Analysis
  isRight: boolean
  firstForged: number | undefined
}

async function judge(folder: string): Promise<Judged[]> {
  const { files } = manifest.parse(
    JSON.parse(readFileSync(path.join(corpus, 'MANIFEST.json'), 'utf8')),
  )
  const judged: Judged[] = []
  for (const [file, { truth, forged_chain: forged }] of Object.entries(files)) {
    if (!file.startsWith(`${folder}/`) || typeof truth?.ip !== 'string') continue
    if (truth.anonymiser_damaged_ip !== undefined) continue
    const raw = readFileSync(path.join(corpus, file))
    const analysis = await analyzeMessage(raw, { trustedRelays: [], ignoreStamps: true })
    const isRight = analysis.origin?.ip === truth.ip
    judged.push({ file, analysis, isRight, firstForged: forged?.first_forged_index })
  }
  return judged
}

function share(judged: readonly Judged[]): number {
  return judged.filter(({ isRight }) => isRight).length / judged.length
}
