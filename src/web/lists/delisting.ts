import { createHash } from 'node:crypto'
import { type Request, type Response, Router } from 'express'
import { reputationKey } from '../../counting/reputation-reader.ts'
import {
  countDelistings,
  type DelistingRequest,
  findDelisting,
  findListings,
  findLiveListings,
  insertDelisting,
  pardonListing,
} from '../../db/listings.ts'
import { type Db, inTransaction } from '../../db/pool.ts'
import { findReputations } from '../../db/reputations.ts'
import { storableText } from '../../mail/text.ts'
import type { Texts } from '../../texts/messages.ts'
import { publicReasons, type PublicReasons } from '../../verdict/lists/judge-candidate.ts'
import { listedKinds, type Listing, type ListName, listNames } from '../../verdict/lists/list.ts'
import {
  delistingCourse,
  type ListQuestion,
  readListQuestion,
} from '../../verdict/lists/questions.ts'
import { sourcesAtLeast } from '../../verdict/reputation/detail.ts'
import { systemRandom, uuidTime, uuidv7 } from '../../world.ts'
import { type FormReader, readShortForm } from '../pages/form.ts'
import { queryOf, sendPage } from '../pages/render.ts'
import { visitOf } from '../pages/visit.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { askerHash } from './downloads.ts'

/** A delisting request as submitted. */
type Submitted = {
  listing: Listing
  asker: string
  contact: string
  done: string
  tokenHash: Buffer
  askerHash: Buffer
}

const DAY_MS = 86_400_000
/**
 * Maximum number of requests per day for one name, from anyone, and from one client. A single
 * client cannot use up the limit of a name, so it cannot block its owner.
 */
const OF_NAME_MAX = 25
const OF_ASKER_MAX = 5

/** Stores a request and grants it at once if allowed. */
async function storeRequest(
  submitted: Submitted,
  { pool, clock }: Pick<Site, 'pool' | 'clock'>,
): Promise<'kept' | 'too often' | 'not listed'> {
  const now = clock()
  const { listing, asker, contact, done, tokenHash, askerHash } = submitted
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
 * Delists an entry and records how many reporters were known then, because evidence up to that
 * instant must not list it again. Returns false if it was not listed.
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

type LookupNeeds = Pick<Site, 'pool' | 'clock'>

const CHARS_MAX = 2_048

/** The page where anyone can see whether, why and until when something is listed. */
export function lookupRoutes(site: LookupNeeds): Router {
  const router = Router()
  router.get('/lookup', (req, res) => sendLookup(req, res, site))
  return router
}

async function sendLookup(req: Request, res: Response, site: LookupNeeds): Promise<void> {
  const { searchParams } = new URL(req.originalUrl, 'http://site')
  const text = (searchParams.get('q') ?? '').slice(0, CHARS_MAX + 1)
  const question = readListQuestion(text)
  const listings = question ? await listingsOf(question, site) : []
  const { texts } = visitOf(req)
  sendPage(req, res, {
    view: 'pages/lookup',
    title: texts('lists.lookup.title'),
    status: text.trim() !== '' && !question ? 422 : 200,
    data: {
      text: question?.name ?? text,
      isAsked: text.trim() !== '',
      name: question?.name,
      entries: listings.map((listing) => shownEntry(listing, texts)),
    },
  })
}

/** Returns the current listings of a query, the most specific first. */
export function listingsOf(
  { asks }: ListQuestion,
  { pool, clock }: LookupNeeds,
): Promise<Listing[]> {
  return findLiveListings(pool, asks, clock())
}

/** The path of the page to request a delisting. */
function delistPath({ list, name }: Pick<Listing, 'list' | 'name'>): string {
  return `/lookup/delist${queryOf({ list, name })}`
}

function shownEntry(listing: Listing, texts: Texts) {
  const reasons = publicReasons(listing)
  return {
    ...reasons,
    name: listing.name,
    list: texts(`lists.names.${listing.list}`),
    sentence: sentenceOf(reasons, texts),
    advice: texts(`lists.lookup.advice.${listing.list}`),
    delistPath: delistPath(listing),
  }
}

function sentenceOf({ category, reportersAtLeast }: PublicReasons, texts: Texts): string {
  return texts(`lists.lookup.reasons.${category}`, { n: reportersAtLeast })
}

type Needs = Pick<Site, 'pool' | 'clock' | 'config'> & FormReader

const TOKEN_BYTES = 24
const NAME_CHARS_MAX = 253
const SHORT_CHARS_MAX = 200
const DONE_CHARS_MAX = 4_000
const DONE_CHARS_MIN = 10
const mailAddress = /^[^\s@<>]{1,64}@[^\s@<>]+\.[^\s@<>]+$/

/** The pages to request a delisting and to see its state. */
export function delistingRoutes(site: Needs): Router {
  const router = Router()
  router.get('/lookup/delist', async (req, res) => {
    const { searchParams } = new URL(req.originalUrl, 'http://site')
    const listing = await listingNamed(searchParams.get('list'), searchParams.get('name'), site)
    if (!listing) return sendBack(res, searchParams.get('name'))
    sendForm(req, res, listing, { fields: emptyFields, faults: [], status: 200 })
  })
  router.post('/lookup/delist', (req, res) => takeWish(req, res, site))
  router.get('/lookup/delist/:token', async (req, res) => {
    const request = await findDelisting(site.pool, tokenHash(req.params.token))
    if (!request) throw new ProblemError('not-found', 'Request not found.')
    sendStatus(req, res, request)
  })
  return router
}

type Fields = Pick<Submitted, 'asker' | 'contact' | 'done'>

const emptyFields: Fields = { asker: '', contact: '', done: '' }

async function takeWish(req: Request, res: Response, site: Needs): Promise<void> {
  const form = await readShortForm(req, res, site)
  const field = (name: string, charsMax: number) => storableText(form.text(name) ?? '', charsMax)
  const listing = await listingNamed(form.text('list'), form.text('name'), site)
  if (!listing) return sendBack(res, form.text('name'))
  const fields: Fields = {
    asker: field('asker', SHORT_CHARS_MAX),
    contact: field('contact', SHORT_CHARS_MAX),
    done: field('done', DONE_CHARS_MAX),
  }
  const { texts } = visitOf(req)
  const faults = faultsOf(fields).map((fault) => texts(`lists.delist.faults.${fault}`))
  if (faults.length > 0) return sendForm(req, res, listing, { fields, faults, status: 422 })
  const token = systemRandom(TOKEN_BYTES).toString('base64url')
  const hash = askerHash(req, site.config)
  const submitted = { ...fields, listing, tokenHash: tokenHash(token), askerHash: hash }
  const outcome = await storeRequest(submitted, site)
  if (outcome === 'too often') {
    return sendForm(req, res, listing, {
      fields,
      faults: [texts('lists.delist.often')],
      status: 429,
    })
  }
  if (outcome === 'not listed') return sendBack(res, listing.name)
  res.redirect(303, `/lookup/delist/${token}`)
}

function faultsOf({ asker, contact, done }: Fields): (keyof Fields)[] {
  return [
    ...(asker === '' ? (['asker'] as const) : []),
    ...(mailAddress.test(contact) ? [] : (['contact'] as const)),
    ...(done.length < DONE_CHARS_MIN ? (['done'] as const) : []),
  ]
}

async function listingNamed(
  list: string | null | undefined,
  name: string | null | undefined,
  { pool, clock }: Needs,
): Promise<Listing | undefined> {
  if (!isListName(list) || !name || name.length > NAME_CHARS_MAX) return undefined
  const asks = [{ list, name: storableText(name, NAME_CHARS_MAX) }]
  const [listing] = await findLiveListings(pool, asks, clock())
  return listing
}

function isListName(text: string | null | undefined): text is ListName {
  return listNames.some((list) => list === text)
}

/** Redirects to the look-up page, which shows that the name is not listed. */
function sendBack(res: Response, name: string | null | undefined): void {
  res.redirect(303, `/lookup${queryOf({ q: name?.slice(0, NAME_CHARS_MAX) })}`)
}

function sendForm(
  req: Request,
  res: Response,
  { list, name }: Listing,
  { fields, faults, status }: { fields: Fields; faults: readonly string[]; status: number },
): void {
  const { texts } = visitOf(req)
  const data = { list, name, fields, faults }
  sendPage(req, res, {
    view: 'pages/delist',
    title: texts('lists.delist.title', { name }),
    status,
    data,
  })
}

/** Shows no data about the requester, because others may get the address of this page. */
function sendStatus(req: Request, res: Response, request: DelistingRequest): void {
  const { id, name, state, answer } = request
  const data = { name, state, answer, askedAt: uuidTime(id) }
  const title = visitOf(req).texts('lists.status.title')
  res.setHeader('x-robots-tag', 'noindex, nofollow')
  sendPage(req, res, { view: 'pages/delisting', title, data })
}

function tokenHash(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
