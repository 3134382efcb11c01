import { hash } from 'node:crypto'
import { delistName, type DelistingState, insertDelisting, keepListings } from '../db/listings.ts'
import type { Db } from '../db/pool.ts'
import { removeNames } from '../db/sample-traces.ts'
import { DAY_MS, HOUR_MS } from '../durations.ts'
import type { Listing } from '../verdict/lists/list.ts'
import { systemRandom, uuidv7 } from '../world.ts'
import { SAMPLE_DOMAIN } from './queues.ts'
import requests from './sample-delistings.json' with { type: 'json' }
import { type SampleCampaign, sampleCampaigns } from './sample-mail.ts'

const LISTED_DAYS = 14
const REPORTERS = 10

/** Lists what the sample campaigns advertise and where they come from, and asks to delist it. */
export async function insertSampleDelistings(tx: Db, now: Date): Promise<void> {
  const listings = sampleListings(now)
  await keepListings(tx, listings)
  for (const [index, { asker, done, hoursAgo, answer = null }] of requests.entries()) {
    const listing = listings[index % listings.length]
    if (!listing) return
    const askedAt = new Date(now.getTime() - hoursAgo * HOUR_MS)
    const state: DelistingState = !answer ? 'open' : index % 2 === 0 ? 'refused' : 'accepted'
    const decidedAt = answer ? new Date(askedAt.getTime() + DAY_MS) : null
    if (decidedAt && state === 'accepted') {
      await delistName(tx, { ...listing, at: decidedAt, reporters: REPORTERS })
    }
    await insertDelisting(tx, {
      ...{ id: uuidv7(askedAt), list: listing.list, name: listing.name, state, asker, done },
      ...{ contact: `desk-${index + 1}@${SAMPLE_DOMAIN}`, answer },
      decidedAt,
      tokenHash: hash('sha256', systemRandom(16), 'buffer'),
      askerHash: hash('sha256', asker, 'buffer'),
    })
  }
}

/** Removes what is listed, asked and decided about the sample campaigns. */
export function removeSampleDelistings(tx: Db): Promise<void> {
  const names = unwanted.flatMap(({ domain, ip }) => [domain, ip])
  return removeNames(tx, { names, domain: SAMPLE_DOMAIN })
}

const unwanted = sampleCampaigns.filter(({ kind, isBulk }) => kind !== 'not-spam' && !isBulk)

/** Those of domains, then those of addresses. A name that was delisted before needs a person. */
function sampleListings(now: Date): Listing[] {
  const ago = (days: number) => new Date(now.getTime() - days * DAY_MS)
  const about = ({ kind, days }: SampleCampaign) => ({
    ...{ category: kind === 'phishing' ? ('phishing' as const) : ('spam' as const), times: 2 },
    ...{ since: ago(Math.min(days.first, LISTED_DAYS)), until: ago(-LISTED_DAYS) },
    ...{ reportersAtLeast: REPORTERS, lastSeen: ago(days.last) },
    ...{ delistedAt: ago(days.first + 1), delistedReporters: 1 },
  })
  return [
    ...unwanted.map((one) => ({ list: 'domains' as const, name: one.domain, ...about(one) })),
    ...unwanted.map((one) => {
      return { list: 'addresses' as const, name: one.ip, ...about(one) }
    }),
  ]
}
