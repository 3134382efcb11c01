import { type Request, type Response, Router } from 'express'
import type { DelistingRequest } from '../../db/listings.ts'
import {
  type DelistingForm,
  findDelistingByToken,
  findListed,
  requestDelisting,
} from '../../lists/delist.ts'
import { storableText } from '../../mail/text.ts'
import type { Texts } from '../../texts/messages.ts'
import { publicReasons, type PublicReasons } from '../../verdict/lists/judge-candidate.ts'
import { listNames, type PublicListing } from '../../verdict/lists/list.ts'
import { DECISION_DAYS, decisionDue, readListQuestion } from '../../verdict/lists/questions.ts'
import { uuidTime } from '../../world.ts'
import { type FormReader, readShortForm } from '../pages/form.ts'
import { queryOf, sendPage } from '../pages/render.ts'
import { visitOf } from '../pages/visit.ts'
import { searchParamsOf } from '../search-params.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { askerHash } from '../limits.ts'

type LookupNeeds = Pick<Site, 'pool' | 'clock'>

const CHARS_MAX = 2_048

/** The page where anyone can see whether, why and until when something is listed. */
export function lookupRoutes(site: LookupNeeds): Router {
  const router = Router()
  router.get('/lookup', (req, res) => sendLookup(req, res, site))
  return router
}

async function sendLookup(req: Request, res: Response, site: LookupNeeds): Promise<void> {
  const searchParams = searchParamsOf(req)
  const text = (searchParams.get('q') ?? '').slice(0, CHARS_MAX + 1)
  const question = readListQuestion(text)
  const listings = question ? await findListed(site, question.asks) : []
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

/** The path of the page to request a delisting. */
function delistPath({ list, name }: Pick<PublicListing, 'list' | 'name'>): string {
  return `/lookup/delist${queryOf({ list, name })}`
}

function shownEntry(listing: PublicListing, texts: Texts) {
  const reasons = publicReasons(listing)
  return {
    ...reasons,
    name: listing.name,
    list: texts(`lists.names.${listing.list}`),
    sentence: sentenceOf(reasons, texts),
    advice: texts(`lists.lookup.advice.${listing.list}`),
    delistPath: delistPath(listing),
    then: texts(isDanger(listing) ? 'lists.lookup.thenOfDanger' : 'lists.lookup.then', {
      days: DECISION_DAYS,
    }),
  }
}

function isDanger({ category }: Pick<PublicListing, 'category'>): boolean {
  return category !== 'spam'
}

function sentenceOf({ category, reportersAtLeast }: PublicReasons, texts: Texts): string {
  return texts(`lists.lookup.reasons.${category}`, { n: reportersAtLeast })
}

type Needs = Pick<Site, 'pool' | 'clock' | 'config'> & FormReader

/** The length of the longest key of a page. */
const NAME_CHARS_MAX = 500
const SHORT_CHARS_MAX = 200
const DONE_CHARS_MAX = 4_000
const DONE_CHARS_MIN = 10
const mailAddress = /^[^\s@<>]{1,64}@[^\s@<>]+\.[^\s@<>]+$/

/** The pages to request a delisting and to see its state. */
export function delistingRoutes(site: Needs): Router {
  const router = Router()
  router.get('/lookup/delist', async (req, res) => {
    const searchParams = searchParamsOf(req)
    const listing = await listingNamed(searchParams.get('list'), searchParams.get('name'), site)
    if (!listing) return sendBack(res, searchParams.get('name'))
    sendForm(req, res, listing, { fields: emptyFields, faults: [], status: 200 })
  })
  router.post('/lookup/delist', (req, res) => takeRequest(req, res, site))
  router.get('/lookup/delist/:token', async (req, res) => {
    const request = await findDelistingByToken(site, req.params.token)
    if (!request) throw new ProblemError('not-found', 'Request not found.')
    sendStatus(req, res, request)
  })
  return router
}

type Fields = Pick<DelistingForm, 'asker' | 'contact' | 'done'>

const emptyFields: Fields = { asker: '', contact: '', done: '' }

async function takeRequest(req: Request, res: Response, site: Needs): Promise<void> {
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
  const asked = { ...fields, listing, askerHash: askerHash(req, site.config) }
  const outcome = await requestDelisting(site, asked)
  if (outcome === 'too often') {
    return sendForm(req, res, listing, {
      fields,
      faults: [texts('lists.delist.often')],
      status: 429,
    })
  }
  if (outcome === 'not listed') return sendBack(res, listing.name)
  res.redirect(303, `/lookup/delist/${outcome.token}`)
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
  site: Needs,
): Promise<PublicListing | undefined> {
  if (!isListName(list) || !name || name.length > NAME_CHARS_MAX) return undefined
  const [listing] = await findListed(site, [{ list, name: storableText(name, NAME_CHARS_MAX) }])
  return listing
}

function isListName(text: string | null | undefined): text is PublicListing['list'] {
  return [...listNames, 'pages'].some((list) => list === text)
}

/** Redirects to the look-up page, which shows that the name is not listed. */
function sendBack(res: Response, name: string | null | undefined): void {
  res.redirect(303, `/lookup${queryOf({ q: name?.slice(0, NAME_CHARS_MAX) })}`)
}

function sendForm(
  req: Request,
  res: Response,
  listing: PublicListing,
  { fields, faults, status }: { fields: Fields; faults: readonly string[]; status: number },
): void {
  const { texts } = visitOf(req)
  const { list, name } = listing
  const lead = texts(isDanger(listing) ? 'lists.delist.leadOfDanger' : 'lists.delist.lead', {
    days: DECISION_DAYS,
  })
  const data = { list, name, lead, fields, faults }
  sendPage(req, res, {
    view: 'pages/delist',
    title: texts('lists.delist.title', { name }),
    status,
    data,
  })
}

/**
 * Sends the state of a request, without data about the requester, because others may get the URL of
 * this page.
 */
function sendStatus(req: Request, res: Response, request: DelistingRequest): void {
  const { id, name, state, answer } = request
  const askedAt = uuidTime(id)
  const data = { name, state, answer, askedAt, dueAt: decisionDue(askedAt) }
  const title = visitOf(req).texts('lists.status.title')
  res.setHeader('x-robots-tag', 'noindex, nofollow')
  sendPage(req, res, { view: 'pages/delisting', title, data })
}
