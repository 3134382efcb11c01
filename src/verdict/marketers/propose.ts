import { registrableDomainOf } from '../../mail/address.ts'
import { roundedReporters } from '../lists/judge-candidate.ts'
import type { OwnNames } from '../lists/spare.ts'
import { type Marketer, marksFaults } from './marketer.ts'

/** One message of honest bulk: its author's owner signed it, and it says how to unsubscribe. */
export type SeenBulk = {
  reporterId: string
  at: Date
  signer: string
  listId: string | null
  author: string
  /** How the author calls himself. */
  name: string
  subject: string | null
  unsubscribeHost: string | null
}

/** What was seen of one signer and list. */
export type SeenMarketer = {
  signer: string
  /** Empty: without one. */
  listId: string
  author: string
  name: string
  messages: number
  reportersAtLeast: number
  subjects: string[]
  unsubscribeHost: string | null
  firstSeen: Date
  lastSeen: Date
}

const SUBJECTS_MAX = 5
const SUBJECT_CHARS_MAX = 120
/** Fewer may be the own newsletter of one reporter, and nobody else's business. */
const REPORTERS_MIN = 3
const PROPOSALS_MAX = 200
/** Of one signer with ever new List-Ids only these are looked at. */
const LISTS_OF_SIGNER_MAX = 5

/**
 * Groups what was seen by signer and List-Id, for an administrator: only what several people
 * reported, and no signer that many send by.
 */
export function proposalsOf(seen: readonly SeenBulk[], own: OwnNames): SeenMarketer[] {
  const groups = new Map<string, SeenBulk[]>()
  for (const one of seen) {
    const key = `${one.signer}\n${one.listId ?? ''}`
    const group = groups.get(key)
    if (group) group.push(one)
    else groups.set(key, [one])
  }
  const lists = new Map<string, number>()
  return [...groups.values()]
    .filter((group) => new Set(group.map(({ reporterId }) => reporterId)).size >= REPORTERS_MIN)
    .map(summed)
    .filter(({ signer, listId }) => isPossible(signer, listId, own))
    .sort((a, b) => b.messages - a.messages || (a.signer < b.signer ? -1 : 1))
    .filter(({ signer }) => {
      const count = (lists.get(signer) ?? 0) + 1
      lists.set(signer, count)
      return count <= LISTS_OF_SIGNER_MAX
    })
    .slice(0, PROPOSALS_MAX)
}

/** What an administrator begins with when a proposal is taken: declared, not confirmed. */
export function draftMarketer(seen: Pick<SeenMarketer, 'signer' | 'listId' | 'name'>): Marketer {
  const { signer, listId, name } = seen
  return {
    key: draftKey(signer, listId),
    name: name === '' ? signer : name,
    state: 'declared',
    signers: [signer],
    ranges: [],
    listIds: listId === '' ? [] : [listId],
    authors: [],
    practice: '',
    website: null,
    advice: {},
    contact: null,
    feedback: null,
  }
}

function draftKey(signer: string, listId: string): string {
  const text = listId === '' ? (registrableDomainOf(signer) ?? signer) : `${signer}-${listId}`
  return text
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 60)
    .replaceAll(/^-+|-+$/g, '')
}

function isPossible(signer: string, listId: string, own: OwnNames): boolean {
  const listIds = listId === '' ? [] : [listId]
  return marksFaults({ signers: [signer], ranges: [], listIds, authors: [] }, own).length === 0
}

function summed(group: readonly SeenBulk[]): SeenMarketer {
  const sorted = group.toSorted((a, b) => a.at.getTime() - b.at.getTime())
  const [first, last] = [sorted[0], sorted.at(-1)]
  if (!first || !last) throw new RangeError('A group has a message.')
  const reporters = new Set(group.map(({ reporterId }) => reporterId)).size
  const subjects = new Set(
    sorted.toReversed().map(({ subject }) => (subject ?? '').slice(0, SUBJECT_CHARS_MAX)),
  )
  return {
    signer: last.signer,
    listId: last.listId ?? '',
    author: last.author,
    name: last.name,
    messages: group.length,
    reportersAtLeast: roundedReporters(reporters),
    subjects: [...subjects].filter((subject) => subject !== '').slice(0, SUBJECTS_MAX),
    unsubscribeHost: last.unsubscribeHost,
    firstSeen: first.at,
    lastSeen: last.at,
  }
}
