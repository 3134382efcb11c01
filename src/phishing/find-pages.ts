import { unsubscribeUris } from '../mail/list-unsubscribe.ts'
import type { HeaderField } from '../mail/header.ts'
import type { MessageBody } from '../mail/message-body.ts'
import { plainHost } from '../pieces/disguise/plain-link.ts'
import { markedView } from '../pieces/html-view.ts'
import { leadsSomewhere, type Link, type LinkPlace } from '../pieces/links.ts'
import type { OwnNames } from '../verdict/lists/spare.ts'
import { type Accusable, accusable, ownerOf } from './accusable.ts'
import { pageKey } from './askable-host.ts'
import { type LinkText, linkTexts } from './link-texts.ts'
import { type LinkPurpose, purposeOf } from './link-words.ts'
import { pageTarget } from './page-target.ts'

/** A page to which a message leads its reader. */
export type FoundPage = {
  /** Its address in normal form, as the first link has it. */
  url: string
  /** The addresses of all links to it, as written. */
  links: string[]
  /** What is the same for all recipients (`pageKey`). */
  key: string
  accused: Accusable
  /** Hosts of redirectors whose addresses contain the page. */
  through: string[]
  /** Hosts that the texts of its links show. */
  shown: string[]
}

/** The parts of a message in which pages are searched. */
export type PageMessage = {
  fields: readonly HeaderField[]
  body: MessageBody
  links: readonly Link[]
}

type Candidate = {
  page: FoundPage
  owner: string
  purpose: LinkPurpose
  isFaint: boolean
  score: number
}

const LINKS_MAX = 200
/** How many pages of a message are named; all have the same owner. */
const PAGES_MAX = 5

/**
 * Returns the pages to which a phishing message leads, at most five, all of one owner: those behind
 * the links that ask the reader to act. Leaves out pictures, links to unsubscribe, links at the end
 * of mailings, well-known sites and platforms as a whole. Empty when no link qualifies. Never
 * requests anything.
 */
export function findPages({ fields, body, links }: PageMessage, own: OwnNames): FoundPage[] {
  const page = markedView(body.html, 'links')
  const texts = linkTexts(page)
  const leaving = new Set(unsubscribeUris(fields))
  const shown = page.text.toLowerCase()
  const clickable = new Set(links.filter(({ where }) => where === 'html').map(plainEnd))
  const candidates = links.slice(0, LINKS_MAX).flatMap((link, at) => {
    if (!leadsSomewhere(link) || link.where === 'embedded' || leaving.has(link.url)) return []
    // The plain text repeats the links of the page without their texts.
    if (link.where === 'text' && clickable.has(plainEnd(link))) return []
    const isText = page.links.length > 0 && link.where === 'text'
    const most = !isText ? Infinity : shown.includes(link.host) ? weights.aside : weights.unseen
    return candidateOf(link, at, { texts, own, most }) ?? []
  })
  const groups = Map.groupBy(candidates, ({ owner }) => owner)
  const [best] = [...groups.values()]
    .map((its) => ({ its, score: scoreOf(its) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
  return best ? pagesOf(best.its) : []
}

/** An address without the signs at its end that may belong to the sentence around it. */
function plainEnd({ url }: Link): string {
  let end = url.length
  while (end > 0 && !/[a-z\d]/i.test(url[end - 1] ?? '')) end--
  return url.slice(0, end)
}

/** `most`: the maximum weight of the link. */
type Given = { texts: ReadonlyMap<string, LinkText[]>; own: OwnNames; most: number }

/** The weights by which the owners of links are compared. */
const weights = {
  /** A link that asks to act; one with other words or a picture; one without anything to see. */
  purpose: { ask: 5, none: 3, footer: 0.5, leave: 0 },
  faint: 1,
  /** An address in the text beside links; in the other form of the message, which is not shown. */
  aside: 2.5,
  unseen: 0.5,
  /** Hosts that nobody links to who has a site: numbers, platforms, redirections. */
  odd: 2,
  first: 1,
} as const

function candidateOf(link: Link, at: number, { texts, own, most }: Given): Candidate | undefined {
  const target = pageTarget(link.url)
  if (!target || isFile(target.url, link.where)) return undefined
  const accused = accusable(target.url, own)
  if ('spared' in accused) return undefined
  const key = pageKey(target.url, accused)
  if (key === undefined) return undefined
  const seen = texts.get(link.url) ?? []
  const purpose = purposeOfAll(seen, `${target.url.pathname}${target.url.search}`)
  const isFaint = link.where === 'html' && seen.every((one) => one.isFaint)
  const { platform, scope, name } = accused
  const isOdd =
    platform !== undefined || target.through.length > 0 || !/[a-z]/i.test(target.url.hostname)
  const base = isFaint && purpose !== 'leave' ? weights.faint : weights.purpose[purpose]
  const isContent = purpose === 'ask' || purpose === 'none'
  const score =
    Math.min(base, most) +
    (isContent && isOdd ? weights.odd : 0) +
    (isContent && at === 0 ? weights.first : 0)
  return {
    page: {
      url: target.url.href,
      links: [link.url],
      key,
      accused,
      through: target.through,
      shown: seen.flatMap(({ text }) => shownHost.exec(text)?.[1]?.toLowerCase() ?? []),
    },
    owner:
      scope === 'path' ? name.split('/', 2).join('/') : ownerOf(plainHost(target.url.hostname)),
    ...{ purpose, isFaint, score },
  }
}

/** An address that is the whole text of a link. */
const shownHost =
  /^\W{0,3}(?:https?:\/\/)?((?:[a-z\d-]{1,63}\.){1,6}[a-z]{2,24})(?:[/?#]\S*)?\W{0,3}$/i
const nothing = { text: '', before: '', after: '' }
const order: readonly LinkPurpose[] = ['ask', 'none', 'footer', 'leave']

/**
 * What an address is for by all its links: the end of a mailing, if a reader can leave there and do
 * other things. Without a text, its path decides.
 */
function purposeOfAll(seen: readonly LinkText[], path: string): LinkPurpose {
  const purposes = (seen.length === 0 ? [nothing] : seen).map((one) => purposeOf(one, path))
  const found = order.find((one) => purposes.includes(one)) ?? 'none'
  return purposes.includes('leave') && found !== 'leave' ? 'footer' : found
}

/** Whether an address in a text is that of a picture or a style sheet, which no reader opens. */
function isFile({ pathname }: URL, where: LinkPlace): boolean {
  return (
    where === 'text' && /\.(?:png|jpe?g|gif|svg|webp|css|ico|bmp)\W{0,3}[a-z]?$/i.test(pathname)
  )
}

function scoreOf(candidates: readonly Candidate[]): number {
  return Math.max(...candidates.map(({ score }) => score))
}

/** The pages of an owner: those of links that ask, or if none does, of those that can be seen. */
function pagesOf(candidates: readonly Candidate[]): FoundPage[] {
  const usable = candidates.filter(({ score }) => score > 0)
  const visible = usable.filter(({ isFaint, purpose }) => !isFaint && purpose !== 'footer')
  const chosen = visible.length > 0 ? visible : usable.slice(0, 1)
  const pages = new Map<string, FoundPage>()
  for (const { page } of chosen) {
    const known = pages.get(page.key)
    if (!known) pages.set(page.key, page)
    else if (!known.links.includes(page.links[0] ?? '')) known.links.push(...page.links)
  }
  return [...pages.values()].slice(0, PAGES_MAX)
}
