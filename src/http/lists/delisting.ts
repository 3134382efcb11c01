import { createHash } from 'node:crypto'
import { Router, type Request, type Response } from 'express'
import { findDelisting, type DelistingRequest } from '../../db/delisting-requests.ts'
import { findLiveListings } from '../../db/listings.ts'
import { storableText } from '../../mail/storable-text.ts'
import { type Listing, listNames, type ListName } from '../../verdict/lists/list.ts'
import { systemRandom, uuidTime } from '../../world.ts'
import { readShortForm, type FormReader } from '../pages/form.ts'
import { sendPage } from '../pages/render.ts'
import { visitOf } from '../pages/visit.ts'
import { queryOf } from '../paging.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { askerHash } from './asker.ts'
import { keepWish, type Wish } from './keep-wish.ts'

type Needs = Pick<Site, 'pool' | 'clock' | 'config'> & FormReader

const TOKEN_BYTES = 24
const NAME_CHARS_MAX = 253
const SHORT_CHARS_MAX = 200
const DONE_CHARS_MAX = 4_000
const DONE_CHARS_MIN = 10
const mailAddress = /^[^\s@<>]{1,64}@[^\s@<>]+\.[^\s@<>]+$/

/** Where who is listed asks to be taken off, and sees what became of it. */
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
    if (!request) throw new ProblemError('not-found', 'There is no such request.')
    sendStatus(req, res, request)
  })
  return router
}

type Fields = Pick<Wish, 'asker' | 'contact' | 'done'>

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
  const { delist: words } = visitOf(req).words.lists
  const faults = faultsOf(fields).map((fault) => words.faults[fault])
  if (faults.length > 0) return sendForm(req, res, listing, { fields, faults, status: 422 })
  const token = systemRandom(TOKEN_BYTES).toString('base64url')
  const hash = askerHash(req, site.config)
  const wish = { ...fields, listing, tokenHash: tokenHash(token), askerHash: hash }
  const outcome = await keepWish(wish, site)
  if (outcome === 'too often') {
    return sendForm(req, res, listing, { fields, faults: [words.often], status: 429 })
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

/** What is not listed has nothing to be taken off: the look-up says so. */
function sendBack(res: Response, name: string | null | undefined): void {
  res.redirect(303, `/lookup${queryOf({ q: name?.slice(0, NAME_CHARS_MAX) })}`)
}

function sendForm(
  req: Request,
  res: Response,
  { list, name }: Listing,
  { fields, faults, status }: { fields: Fields; faults: readonly string[]; status: number },
): void {
  const { delist: words } = visitOf(req).words.lists
  const data = { list, name, fields, faults }
  sendPage(req, res, { view: 'pages/delist', title: words.title(name), status, data })
}

/** Nothing of who asked: the address of the page may come into other hands. */
function sendStatus(req: Request, res: Response, request: DelistingRequest): void {
  const { id, name, state, answer } = request
  const data = { name, state, answer, askedAt: uuidTime(id) }
  const title = visitOf(req).words.lists.status.title
  res.setHeader('x-robots-tag', 'noindex, nofollow')
  sendPage(req, res, { view: 'pages/delisting', title, data })
}

function tokenHash(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
