import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { analyzeMessage } from '../../../src/pieces/analyze.ts'
import type { Fingerprints } from '../../../src/pieces/fingerprints.ts'
import { joinCampaigns } from '../../../src/reports/join-campaigns.ts'
import { uuidv7 } from '../../../src/world.ts'
import { corpusFiles, corpusFolder } from '../../support/corpus.ts'
import { freshDatabase, type TestDatabase } from '../../support/database.ts'

type Message = { reportId: string; name: string; kind: string; fingerprints: Fingerprints }

const truth = join(corpusFolder, 'near_duplicates.json')
const folders = ['ham', 'newsletters', 'phishing', 'spam']
const BATCH = 50
const now = new Date()

describe.skipIf(!existsSync(truth))('campaigns of the corpus (skipped without it)', () => {
  const messages: Message[] = []
  const groupOf = new Map<string, string>()
  let database: TestDatabase

  beforeAll(async () => {
    database = await freshDatabase()
    const { groups } = JSON.parse(readFileSync(truth, 'utf8')) as {
      groups: Record<string, string[]>
    }
    for (const [group, names] of Object.entries(groups)) {
      for (const name of names) groupOf.set(name, group)
    }
    for (const kind of folders) {
      for (const { name, raw } of corpusFiles(kind) ?? []) {
        const options = { trustedRelays: [], ignoreStamps: true }
        const { fingerprints } = await analyzeMessage(raw, options)
        messages.push({ reportId: uuidv7(now), name, kind, fingerprints })
      }
    }
  })
  afterAll(() => database.close())

  /** Joins all messages, in batches that two concurrent workers process. */
  async function joinAll(): Promise<Map<string, string>> {
    const batches = Array.from({ length: Math.ceil(messages.length / BATCH) }, (_, index) =>
      messages.slice(index * BATCH, (index + 1) * BATCH),
    )
    const campaignOf = new Map<string, string>()
    const worker = async () => {
      for (let batch = batches.shift(); batch; batch = batches.shift()) {
        const joined = await joinCampaigns(database.pool, batch, () => now)
        for (const [reportId, campaign] of joined) campaignOf.set(reportId, campaign)
      }
    }
    await Promise.all([worker(), worker()])
    return campaignOf
  }

  test('pairs of a group are together, groups and ham are apart, with two workers', async () => {
    const campaignOf = await joinAll()
    const grouped = messages.filter(({ name }) => groupOf.has(name))
    const pairs = grouped.flatMap((one, at) =>
      grouped
        .slice(at + 1)
        .filter(({ name }) => groupOf.get(name) === groupOf.get(one.name))
        .map((other) => [campaignOf.get(one.reportId), campaignOf.get(other.reportId)]),
    )
    const together = pairs.filter(([a, b]) => a !== undefined && a === b)
    expect(pairs.length).toBeGreaterThan(50)
    expect(together.length / pairs.length).toBeGreaterThanOrEqual(0.95)

    const members = Map.groupBy(messages, ({ reportId }) => campaignOf.get(reportId))
    members.delete(undefined)
    const mixed = [...members.values()].filter((some) => {
      const groups = new Set(some.flatMap(({ name }) => groupOf.get(name) ?? []))
      const kinds = new Set(some.map(({ kind }) => kind))
      return groups.size > 1 || (kinds.has('ham') && kinds.size > 1)
    })
    expect(mixed).toEqual([])
  })
})
