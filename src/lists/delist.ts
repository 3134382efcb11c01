import { hash } from 'node:crypto'
import type { App } from '../app.ts'
import { reputationKey } from '../counting/reputation-reader.ts'
import {
  countDelistings,
  type DelistingRequest,
  delistName,
  findDelisting,
  findListings,
  findLiveListings,
  insertDelisting,
} from '../db/listings.ts'
import { type Db, inTransaction } from '../db/pool.ts'
import { findReputations } from '../db/reputations.ts'
import { DAY_MS } from '../durations.ts'
import { categoryOf } from '../verdict/lists/judge-candidate.ts'
import { listedKinds, type Listing, type PublicListing } from '../verdict/lists/list.ts'
import { delistingCourse, type ListQuestion } from '../verdict/lists/questions.ts'
import { sourcesAtLeast } from '../verdict/reputation/detail.ts'
import { dangerReporters } from '../verdict/reputation/reputation.ts'
import { systemRandom, uuidv7 } from '../world.ts'
import { findListedPages } from './listed-pages.ts'

type Needs = Pick<App, 'pool' | 'clock'>

/** A request to delist an entry, as submitted. */
export type DelistingForm = {
  listing: PublicListing
  asker: string
  contact: string
  /** What the requester did about the problem. */
  done: string
  /** Identifies the client. */
  askerHash: Buffer
}

/**
 * Maximum number of requests per day for one name, from anyone, and from one client. A single
 * client cannot use up the limit of a name, so it cannot block requests of the name's owner.
 */
const REQUESTS_PER_NAME_MAX = 25
const REQUESTS_PER_CLIENT_MAX = 5
const TOKEN_BYTES = 24

/**
 * Stores a request and grants it immediately if `delistingCourse` allows it. Returns the secret of
 * the page that shows its state.
 */
export async function requestDelisting(
  { pool, clock }: Needs,
  { listing, askerHash, ...fields }: DelistingForm,
): Promise<{ token: string } | 'too often' | 'not listed'> {
  const now = clock()
  const { list, name } = listing
  const since = new Date(now.getTime() - DAY_MS)
  const limit = Math.max(REQUESTS_PER_NAME_MAX, REQUESTS_PER_CLIENT_MAX)
  const { ofName, ofAsker } = await countDelistings(pool, { name, askerHash, since, limit })
  if (ofName >= REQUESTS_PER_NAME_MAX || ofAsker >= REQUESTS_PER_CLIENT_MAX) return 'too often'
  const token = systemRandom(TOKEN_BYTES).toString('base64url')
  return inTransaction(pool, async (tx) => {
    const present = await findPresent(tx, listing, now)
    const course = delistingCourse(present, now)
    const isGone =
      course === 'at once' && list !== 'pages' && (await delist(tx, { list, name }, now))
    if (course === 'not listed' || (course === 'at once' && !isGone)) return 'not listed'
    const state = isGone ? 'automatic' : 'open'
    const decidedAt = isGone ? now : null
    const kept = { id: uuidv7(now), list, name, state, answer: null, decidedAt } as const
    await insertDelisting(tx, {
      ...kept,
      ...fields,
      askerHash,
      tokenHash: hash('sha256', token, 'buffer'),
    })
    return { token }
  })
}

/**
 * Returns the request whose page has this token in its link; undefined when the link is invalid.
 */
export function findDelistingByToken(
  { pool }: Pick<Needs, 'pool'>,
  token: string,
): Promise<DelistingRequest | undefined> {
  return findDelisting(pool, hash('sha256', token, 'buffer'))
}

/** Returns an entry; one for spam with the category that it has by the evidence since then. */
async function findPresent(
  tx: Db,
  { list, name }: PublicListing,
  now: Date,
): Promise<PublicListing | undefined> {
  const [ofPages] = await findListedPages(tx, [{ list, name }], now)
  if (ofPages || list === 'pages') return ofPages
  const [present] = await findListings(tx, list, [name])
  if (present?.category !== 'spam') return present
  const [known] = await findReputations(tx, [reputationKey({ kind: listedKinds[list], name })])
  const dangers = known && dangerReporters(known, now, 1)
  return { ...present, category: categoryOf({ dangers }, present) }
}

/**
 * Delists an entry and stores the number of reporters known at that time, because their reports
 * must not list it again. Returns false if it was not listed.
 */
export async function delist(
  tx: Db,
  { list, name }: Pick<Listing, 'list' | 'name'>,
  at: Date,
): Promise<boolean> {
  const key = reputationKey({ kind: listedKinds[list], name })
  const [known] = await findReputations(tx, [key])
  const reporters = sourcesAtLeast(known?.bad ?? 0)
  return delistName(tx, { list, name, at, reporters })
}

/**
 * Returns the current listings that match a query, the most specific first. A page that is listed
 * by its path and a host that is listed for confirmed pages are among them, for these.
 */
export async function findListed(
  { pool, clock }: Needs,
  asks: ListQuestion['asks'],
): Promise<PublicListing[]> {
  const now = clock()
  const listings = await findLiveListings(pool, asks, now)
  const ofPages = await findListedPages(pool, asks, now)
  const others = listings.filter(({ list, name }) => {
    return !ofPages.some((page) => page.list === list && page.name === name)
  })
  return [...ofPages, ...others]
}
