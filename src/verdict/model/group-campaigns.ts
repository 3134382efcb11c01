import { campaignKeys } from '../../analysis/fingerprints/campaign.ts'
import type { Fingerprints } from '../../analysis/fingerprints/fingerprints-of.ts'

/**
 * Names the campaign of each message, as the number of its first one. Wider than the campaigns that
 * reports are counted under: whoever shares a single key, the whole text, the files or all link
 * domains is of one, and so are those whom a third one joins. A campaign too wide costs a split a
 * few rows; one too narrow would let it learn the answers.
 */
export function groupCampaigns(messages: readonly Fingerprints[]): string[] {
  const parents = messages.map((_, at) => at)
  const rootOf = (at: number): number => {
    let root = at
    while (parents[root] !== root) root = parents[root] ?? root
    parents[at] = root
    return root
  }
  const firstWith = new Map<string, number>()
  for (const [at, message] of messages.entries()) {
    for (const key of keysOf(message)) {
      const other = firstWith.get(key)
      if (other === undefined) firstWith.set(key, at)
      else {
        const [a, b] = [rootOf(other), rootOf(at)]
        parents[Math.max(a, b)] = Math.min(a, b)
      }
    }
  }
  return messages.map((_, at) => String(rootOf(at)))
}

function keysOf(fingerprints: Fingerprints): string[] {
  const { text, files, links } = fingerprints
  const whole = Object.entries({ text, files, links }).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name} ${value}`],
  )
  return [...campaignKeys(fingerprints), ...whole]
}
