import { countDelistings, insertDelisting } from '../../db/delisting-requests.ts'
import { findListings, pardonListing } from '../../db/listings.ts'
import { inTransaction, type Db } from '../../db/pool.ts'
import { findReputations } from '../../db/reputations.ts'
import { reputationKey } from '../../judging/reputation-reader.ts'
import { sourcesAtLeast } from '../../reputation/source-weight.ts'
import { delistingCourse } from '../../verdict/lists/delisting.ts'
import { type Listing, listedKinds } from '../../verdict/lists/list.ts'
import { uuidv7 } from '../../world.ts'
import type { Site } from '../site.ts'

/** A wish for an entry to go, as it came. */
export type Wish = {
  listing: Listing
  asker: string
  contact: string
  done: string
  tokenHash: Buffer
  askerHash: Buffer
}

const DAY_MS = 86_400_000
/**
 * Of a day: so many for one name, whoever asks, and so many from one machine: too few to keep out
 * whose name it is.
 */
const OF_NAME_MAX = 25
const OF_ASKER_MAX = 5

/** Keeps a wish, and fulfils it at once where that may be. */
export async function keepWish(
  wish: Wish,
  { pool, clock }: Pick<Site, 'pool' | 'clock'>,
): Promise<'kept' | 'too often' | 'not listed'> {
  const now = clock()
  const { listing, asker, contact, done, tokenHash, askerHash } = wish
  const { list, name } = listing
  const since = new Date(now.getTime() - DAY_MS)
  const limit = Math.max(OF_NAME_MAX, OF_ASKER_MAX)
  const { ofName, ofAsker } = await countDelistings(pool, { name, askerHash, since, limit })
  if (ofName >= OF_NAME_MAX || ofAsker >= OF_ASKER_MAX) return 'too often'
  return inTransaction(pool, async (tx) => {
    const [present] = await findListings(tx, list, [name])
    const course = delistingCourse(present, now)
    const isGone = course === 'at once' && (await pardon(tx, listing, now))
    if (course === 'not listed' || (course === 'at once' && !isGone)) return 'not listed'
    const state = isGone ? 'automatic' : 'open'
    const decidedAt = isGone ? now : null
    const who = { asker, contact, done, tokenHash, askerHash }
    const id = uuidv7(now)
    await insertDelisting(tx, { id, list, name, state, ...who, answer: null, decidedAt })
    return 'kept'
  })
}

/**
 * Takes an entry off as of an instant, and notes how much was known of it then: what was known
 * does not bring it back. False when it was gone already.
 */
export async function pardon(
  tx: Db,
  { list, name }: Pick<Listing, 'list' | 'name'>,
  at: Date,
): Promise<boolean> {
  const key = reputationKey({ kind: listedKinds[list], name })
  const [known] = await findReputations(tx, [key])
  const reporters = sourcesAtLeast(known?.bad ?? 0)
  return pardonListing(tx, { list, name, at, reporters })
}
