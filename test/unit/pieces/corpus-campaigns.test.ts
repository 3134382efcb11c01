import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { analyzeMessage } from '../../../src/pieces/analyze.ts'
import type { Fingerprints } from '../../../src/pieces/fingerprints.ts'
import { type Campaign, groupIntoCampaigns } from '../../support/campaigns.ts'
import { corpusFiles, corpusFolder } from '../../support/corpus.ts'

type Message = { name: string; kind: string; fingerprints: Fingerprints }

const folders = ['ham', 'newsletters', 'phishing', 'spam']
const truth = join(corpusFolder, 'near_duplicates.json')

describe.skipIf(!existsSync(truth))('campaigns of the corpus (skipped without it)', () => {
  const messages: Message[] = []
  const groupOf = new Map<string, string>()
  let groups: string[][] = []

  beforeAll(async () => {
    const read = JSON.parse(readFileSync(truth, 'utf8')) as { groups: Record<string, string[]> }
    groups = Object.values(read.groups)
    for (const [group, names] of Object.entries(read.groups)) {
      for (const name of names) groupOf.set(name, group)
    }
    for (const kind of folders) {
      for (const { name, raw } of corpusFiles(kind) ?? []) {
        const options = { trustedRelays: [], ignoreStamps: true }
        const { fingerprints } = await analyzeMessage(raw, options)
        messages.push({ name, kind, fingerprints })
      }
    }
  })

  const orders: readonly (readonly [string, () => Message[]])[] = [
    ['as the files stand', () => messages],
    ['backwards', () => messages.toReversed()],
    ['by their names', () => messages.toSorted((a, b) => (a.name < b.name ? -1 : 1))],
  ]

  test.for(orders)('95 of 100 pairs of a group are in one campaign, %s', ([, order]) => {
    const campaigns = groupIntoCampaigns(order())
    const numbers = new Map(
      campaigns.flatMap(({ number, members }) => members.map(({ name }) => [name, number])),
    )
    const pairs = groups.flatMap((names) =>
      names.flatMap((one, at) => names.slice(at + 1).map((other) => [one, other] as const)),
    )
    const together = pairs.filter(
      ([one, other]) => numbers.has(one) && numbers.get(one) === numbers.get(other),
    )
    expect(pairs.length).toBeGreaterThan(50)
    expect(together.length / pairs.length).toBeGreaterThanOrEqual(0.95)
  })

  test.for(orders)('no campaign mixes two groups, or ham with anything else, %s', ([, order]) => {
    expect(groupIntoCampaigns(order()).filter(isMixed)).toEqual([])
  })

  test('most messages have keys', () => {
    const alone = messages.length - groupIntoCampaigns(messages).flatMap((c) => c.members).length
    expect(alone / messages.length).toBeLessThan(0.05)
  })

  function isMixed({ members }: Campaign<Message>): boolean {
    const found = new Set(members.map(({ name }) => groupOf.get(name)))
    found.delete(undefined)
    const kinds = new Set(members.map(({ kind }) => kind))
    return found.size > 1 || (kinds.has('ham') && kinds.size > 1)
  }
})
