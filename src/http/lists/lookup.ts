import { Router, type Request, type Response } from 'express'
import { findLiveListings } from '../../db/listings.ts'
import type { Listing } from '../../verdict/lists/list.ts'
import { type ListQuestion, readListQuestion } from '../../verdict/lists/read-question.ts'
import { publicReasons, type PublicReasons } from '../../verdict/lists/reasons.ts'
import type { ListWords } from '../language/en/lists.ts'
import { sendPage } from '../pages/render.ts'
import { visitOf } from '../pages/visit.ts'
import { queryOf } from '../paging.ts'
import type { Site } from '../site.ts'

type Needs = Pick<Site, 'pool' | 'clock'>

const CHARS_MAX = 2_048

/** The page on which anybody can see whether, why and until when something is listed. */
export function lookupRoutes(site: Needs): Router {
  const router = Router()
  router.get('/lookup', (req, res) => sendLookup(req, res, site))
  return router
}

async function sendLookup(req: Request, res: Response, site: Needs): Promise<void> {
  const { searchParams } = new URL(req.originalUrl, 'http://site')
  const text = (searchParams.get('q') ?? '').slice(0, CHARS_MAX + 1)
  const question = readListQuestion(text)
  const listings = question ? await listingsOf(question, site) : []
  const { lists: words } = visitOf(req).words
  sendPage(req, res, {
    view: 'pages/lookup',
    title: words.lookup.title,
    status: text.trim() !== '' && !question ? 422 : 200,
    data: {
      text: question?.name ?? text,
      isAsked: text.trim() !== '',
      name: question?.name,
      entries: listings.map((listing) => shownEntry(listing, words)),
    },
  })
}

/** What of a question is listed now: the closest first. */
export function listingsOf({ asks }: ListQuestion, { pool, clock }: Needs): Promise<Listing[]> {
  return findLiveListings(pool, asks, clock())
}

/** Where to ask for an entry to be taken off. */
export function delistPath({ list, name }: Pick<Listing, 'list' | 'name'>): string {
  return `/lookup/delist${queryOf({ list, name })}`
}

function shownEntry(listing: Listing, words: ListWords) {
  const reasons = publicReasons(listing)
  return {
    ...reasons,
    name: listing.name,
    list: words.names[listing.list],
    sentence: sentenceOf(reasons, words),
    advice: words.lookup.advice[listing.list],
    delistPath: delistPath(listing),
  }
}

function sentenceOf({ category, reportersAtLeast }: PublicReasons, { lookup }: ListWords): string {
  return lookup.reasons[category](reportersAtLeast)
}
