import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type Analysis, analyzeMessage } from '../../../src/pieces/analyze.ts'

const corpus = path.join(import.meta.dirname, '../../../../shared/corpus')

const manifest = z.object({
  files: z.record(
    z.string(),
    z.object({
      truth: z
        .object({
          ip: z.string().nullish(),
          deep_ip: z.string().optional(),
          anonymiser_damaged_ip: z.unknown().optional(),
        })
        .optional(),
      forged_chain: z.object({ first_forged_index: z.number() }).optional(),
    }),
  ),
})

describe.skipIf(!existsSync(corpus))('the corpus, if present, without provider stamps', () => {
  test.for(['phishing', 'newsletters'])(
    'the origin is right for 199 in 200 of %s',
    async (folder) => {
      const judged = await judge(folder)
      expect(judged.length).toBeGreaterThan(0)
      expect(share(judged)).toBeGreaterThanOrEqual(0.995)
    },
  )

  test('a known forged line is detected, and no origin is below it', async () => {
    const forged = (await judge('phishing')).filter(({ firstForged }) => firstForged !== undefined)
    expect(forged.length).toBeGreaterThan(0)
    for (const { file, analysis, firstForged = 0 } of forged) {
      expect(analysis.origin?.hop ?? 0, file).toBeLessThan(firstForged)
      expect(
        analysis.hops.findIndex(({ trust }) => trust === 'forged'),
        file,
      ).toBe(firstForged)
    }
  })

  test('no line of a newsletter is called forged', async () => {
    for (const { file, analysis } of await judge('newsletters')) {
      expect(
        analysis.hops.map(({ trust }) => trust),
        file,
      ).not.toContain('forged')
    }
  })

  test('the submitter is right in 97 of 100 messages with a known one', async () => {
    const known = (await judge('phishing')).filter(({ deepIp }) => deepIp !== undefined)
    expect(known.length).toBeGreaterThan(0)
    const right = known.filter(({ analysis, deepIp }) => analysis.submitter?.ip === deepIp)
    expect(right.length / known.length).toBeGreaterThanOrEqual(0.97)
  })

  test('a confidence is at most the share of correct origins', async () => {
    const judged = [...(await judge('phishing')), ...(await judge('newsletters'))]
    for (const confidence of [0.5, 0.7, 0.8, 0.9, 0.95]) {
      const given = judged.filter(
        ({ analysis }) => (analysis.origin?.confidence ?? 0) >= confidence,
      )
      expect(share(given)).toBeGreaterThanOrEqual(confidence)
    }
  })
})

type Judged = {
  file: string
  analysis: Analysis
  isRight: boolean
  firstForged: number | undefined
  deepIp: string | undefined
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
    const firstForged = forged?.first_forged_index
    judged.push({ file, analysis, isRight, firstForged, deepIp: truth.deep_ip })
  }
  return judged
}

function share(judged: readonly Judged[]): number {
  return judged.filter(({ isRight }) => isRight).length / judged.length
}
