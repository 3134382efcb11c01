import { campaignKeys, type Fingerprints, isSameCampaign } from '../../src/pieces/fingerprints.ts'

/** Messages that were put together, in the order of their coming. */
export type Campaign<Message> = { number: number; first: Fingerprints; members: Message[] }

/**
 * Groups messages as they come, as a database would: looks their keys up, compares with the first
 * message of each campaign found, joins the oldest that agrees, or begins one. Messages without
 * keys stay alone.
 */
export function groupIntoCampaigns<Message extends { fingerprints: Fingerprints }>(
  messages: readonly Message[],
): Campaign<Message>[] {
  const campaigns: Campaign<Message>[] = []
  const byKey = new Map<string, Campaign<Message>[]>()
  for (const message of messages) {
    const keys = campaignKeys(message.fingerprints)
    const found = new Set(keys.flatMap((key) => byKey.get(key) ?? []))
    const oldestFirst = [...found].sort((a, b) => a.number - b.number)
    const joined = oldestFirst.find(({ first }) => isSameCampaign(first, message.fingerprints))
    if (joined) joined.members.push(message)
    if (joined || keys.length === 0) continue
    const begun = { number: campaigns.length, first: message.fingerprints, members: [message] }
    campaigns.push(begun)
    for (const key of keys) byKey.getOrInsert(key, []).push(begun)
  }
  return campaigns
}
