import type { Router } from 'express'
import { differentOf } from '../../counting/headline.ts'
import type { Prefix } from '../../counting/keys.ts'
import type { Known, KnownPiece, KnownUnique, LookUpQuestion } from '../../counting/look-up.ts'
import { storableText } from '../../mail/text.ts'
import { number } from '../../texts/messages.ts'
import { sayPhrases } from '../../texts/phrases.ts'
import { countGraph } from '../pages/count-graph.ts'
import type { Graph } from '../pages/graph.ts'
import type { Visit } from '../pages/visit.ts'
import { searchParamsOf } from '../search-params.ts'
import type { Site } from '../site.ts'
import { adminPage } from './page.ts'

type Reader = Pick<Visit, 'texts' | 'language'>

const windows = ['tenMinutes', 'hour', 'day', 'today', 'twoWeeks'] as const

/** The search for the counters of a link, address, file and so on, with figures and charts. */
export function counterRoutes(site: Site): Router {
  return adminPage(site, {
    view: 'admin/counters',
    title: 'counters.title',
    async data({ req, ...visit }) {
      const searchParams = searchParamsOf(req)
      const textOf = (name: string) => storableText(searchParams.get(name) ?? '', CHARS_MAX)
      const { ask } = await import('../../counting/headline.ts')
      const { kindsForPeople } = await import('../../counting/look-up.ts')
      const given = {
        kind: textOf('kind'),
        value: textOf('value'),
        type: textOf('type'),
        hash: textOf('hash'),
      }
      const isAsked = given.value.trim() !== '' || given.hash !== ''
      const answer = isAsked ? await ask(site, given, 'told') : undefined
      const fault = answer && 'fault' in answer ? answer.fault : undefined
      const known = answer && !('fault' in answer) ? answer : undefined
      return {
        problems: fault ? [sayPhrases(fault, visit.language, 'operator').text] : [],
        ...{ given, kinds: kindsForPeople, windows, known },
        found: known && shown(known, site.clock(), visit),
      }
    },
  })
}

/** One more character than accepted, so that longer input is refused instead of truncated. */
const CHARS_MAX = 8_001

function shown({ question, pieces, told: selected }: Known, now: Date, visit: Reader) {
  const piece = selected === null ? undefined : pieces[selected]
  const isPresent = (one: KnownPiece) => Object.keys(one.counts).length > 0
  return {
    asked: 'kind' in question ? question.kind : 'type' in question ? question.type : 'hash',
    isGuessed: 'kind' in question && question.isGuessed,
    isBad: piece !== undefined && piece.piece === pieces[0]?.piece && isBad(piece),
    piece,
    charts: piece ? chartsOf(piece, now, visit) : [],
    uniques: piece?.uniques.flatMap((unique) => rowsOf(unique, visit)) ?? [],
    present: pieces.filter(isPresent).map((one) => ({ ...one, ...linksOf(one, visit) })),
    absent: pieces.filter((one) => !isPresent(one)),
    reports: piece && reportsOf(piece, question),
  }
}

/** Types that are never shown as bad: recipients, and hosts named only in unverified fields. */
const innocentTypes = /^(?:recipient|claimed)-|-helo\b/

function isBad({ type, counts }: KnownPiece): boolean {
  if (innocentTypes.test(type ?? '')) return false
  return Object.values(counts).some(({ twoWeeks }) => twoWeeks.complaint + twoWeeks.spam > 0)
}

function chartsOf({ series = {} }: KnownPiece, now: Date, { texts, language }: Reader): Graph[] {
  const drawn = [
    { key: 'complaint', name: texts('counters.complaint'), tone: 'bad' },
    { key: 'spam', name: texts('counters.spam'), tone: 'warn' },
    { key: 'ham', name: texts('counters.ham'), tone: 'good', isBelow: true },
  ] as const
  return (Object.keys(series) as Prefix[]).flatMap((prefix) => {
    const { tenMinutes = [], days = [] } = series[prefix] ?? {}
    const common = { series: drawn, now, language, texts }
    const source = texts(`counters.sources.${prefix}`)
    return [
      countGraph(tenMinutes, {
        ...common,
        id: `${prefix}-day`,
        title: texts('counters.chartDay', { source }),
        period: 'tenMinutes',
      }),
      countGraph(days, {
        ...common,
        id: `${prefix}-weeks`,
        title: texts('counters.chartWeeks', { source }),
        period: 'day',
      }),
    ]
  })
}

const searchFields: Partial<Record<string, 'from' | 'origin'>> = {
  'author-address': 'from',
  'origin-ip': 'origin',
  'origin-network': 'origin',
}

/**
 * Returns a link to the reports of a piece, if they can be searched by it; subjects are searched in
 * their original spelling.
 */
function reportsOf({ type, piece }: KnownPiece, question: LookUpQuestion): string | undefined {
  if (type === 'campaign' && piece !== null) return `/admin/campaigns/${piece}`
  const isSubject = 'kind' in question && question.kind === 'subject'
  const field = isSubject ? 'subject' : searchFields[type ?? '']
  const value = isSubject ? question.value : piece
  if (!field || value === null) return undefined
  return `/admin/reports?${new URLSearchParams({ [field]: value }).toString()}`
}

/** Returns the link to the counters of a piece, and the number of its reporters in words. */
function linksOf({ type, piece, hash, uniques }: KnownPiece, visit: Reader) {
  const byReporter = uniques.find((unique) => unique.type.endsWith('-reporters'))
  const query = type === null || piece === null ? { hash } : { type, value: piece }
  return {
    href: `/admin/counters?${new URLSearchParams(query).toString()}`,
    reporters: byReporter && amountOf(byReporter, 'reports', visit),
  }
}

/** The number of distinct values in two weeks, in words; undefined for none. */
function amountOf(unique: KnownUnique, prefix: Prefix, { texts, language }: Reader) {
  const found = differentOf(unique, prefix)
  if (!found) return undefined
  const { count, bound } = found
  return bound === 'most' ? texts('counters.atMost', { n: count }) : number(language, count)
}

function rowsOf(unique: KnownUnique, visit: Reader) {
  return (Object.keys(unique.counts) as Prefix[]).map((prefix) => ({
    meaning: unique.meaning,
    prefix,
    today: unique.counts[prefix]?.today,
    twoWeeks: amountOf(unique, prefix, visit),
  }))
}
