import { campaignKeys, type Fingerprints, isSameCampaign } from '../../src/pieces/fingerprints.ts'

/** A campaign with its messages, in the order of their arrival. */
export type Campaign<Message> = { number: number; first: Fingerprints; members: Message[] }

/**
 * Groups messages in their order as a database would: looks up their keys, compares each with the
 * first message of every campaign found, and adds it to the oldest that matches or starts a new
 * one. Messages without keys are not grouped.
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
