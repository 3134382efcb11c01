import { analyzeMessage } from '../../../src/pieces/analyze.ts'
import { withLaterShingles } from '../../../src/pieces/shingles/take-apart.ts'
import { packShingles, type Shingle } from '../../../src/pieces/shingles/packed-shingles.ts'
import type { CountedMessage } from '../../../src/counting/count-messages.ts'
import { readCorpus } from '../corpus.ts'
import { zipf } from './stage.ts'

/** Makes the counts of one more report at a given time. */
export type ReportSource = (at: Date) => CountedMessage

const CAMPAIGNS = 200
const REPORTERS = 20_000
const NETWORKS = 2_000
const COUNTRIES = 100
/** A piece that this many messages of the corpus share is common, such as a charset or a mailer. */
const COMMON_MIN = 4
/** The share of a campaign's pieces that are new in each of its messages. */
const OWN_SHARE = 0.1

/**
 * Makes reports with altered shingles of real messages. Half of them belong to campaigns, a few of
 * which make up most of the volume: nine tenths of their pieces repeat. The others are new, except
 * for pieces common to all mail.
 */
export async function createReportSource(): Promise<ReportSource> {
  const messages: Shingle[][] = []
  for (const raw of readCorpus(['phishing', 'newsletters', 'spam', 'ham'])) {
    const { shingles } = await analyzeMessage(raw, { trustedRelays: [], ignoreStamps: true })
    messages.push(shingles)
  }
  const seen = new Map<string, number>()
  for (const { hash } of messages.flat()) seen.set(hash, (seen.get(hash) ?? 0) + 1)
  const isCommon = (hash: string) => (seen.get(hash) ?? 0) >= COMMON_MIN
  let reports = 0
  return (at) => {
    const own = CAMPAIGNS + reports++
    const campaign = Math.random() < 0.5 ? zipf(CAMPAIGNS) : undefined
    const message = messages[(campaign ?? own) % messages.length] ?? []
    const saltOf = (hash: string) => {
      if (isCommon(hash)) return 0
      return campaign === undefined || shareOf(hash) < OWN_SHARE ? own : campaign
    }
    const shingles = message.map((one): Shingle => {
      if (one.of === undefined) return { ...one, hash: salted(one.hash, saltOf(one.hash)) }
      const salt = saltOf(one.of)
      const both = Math.max(salt, saltOf(one.hash))
      return { ...one, of: salted(one.of, salt), hash: salted(one.hash, both) }
    })
    const counted = withLaterShingles(packShingles(shingles), {
      reporterId: `reporter ${zipf(REPORTERS)}`,
      originAsn: zipf(NETWORKS),
      originCountry: `country ${zipf(COUNTRIES)}`,
      campaignId: campaign === undefined ? null : `campaign ${campaign}`,
    })
    return { prefix: 'reports', shingles: counted, amounts: { spam: 1, complaint: 1 }, at }
  }
}

function shareOf(hash: string): number {
  return Number.parseInt(hash.slice(0, 6), 16) / 2 ** 24
}

/** Returns another hash for another salt; the unchanged hash without a salt. */
function salted(hash: string, salt: number): string {
  if (salt === 0) return hash
  const mixed = (BigInt(`0x${hash}`) ^ (BigInt(salt) << 20n)) * 0x9e3779b97f4a7c15n
  return BigInt.asUintN(64, mixed ^ (mixed >> 64n))
    .toString(16)
    .padStart(16, '0')
}
