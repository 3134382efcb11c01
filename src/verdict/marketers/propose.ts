import { registrableDomainOf } from '../../mail/address.ts'
import { roundedReporters } from '../lists/judge-candidate.ts'
import type { OwnNames } from '../lists/spare.ts'
import { type Marketer, marksFaults } from './marketer.ts'

/** One message of honest bulk mail: signed by the author's domain, with an unsubscribe header. */
export type SeenBulk = {
  reporterId: string
  at: Date
  signer: string
  listId: string | null
  author: string
  /** Display name of the author. */
  name: string
  subject: string | null
  unsubscribeHost: string | null
}

export type SeenMarketer = {
  signer: string
  /** Empty: no List-Id. */
  listId: string
  /** The authors' domain, and the display name of the latest author. */
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
/**
 * Minimum number of reporters of a proposed marketer, and maximum number of proposals. With fewer
 * reporters it may be one reporter's private newsletter.
 */
const REPORTERS_MIN = 3
const PROPOSALS_MAX = 200
/**
 * Maximum number of List-Ids considered for one signer. Some signers use a new List-Id for each
 * message.
 */
const LISTS_OF_SIGNER_MAX = 5

/**
 * Groups messages by signer and List-Id, as proposals for an administrator. Omits mail that too few
 * people reported, and signers with many customers.
 */
export function proposalsOf(seen: readonly SeenBulk[], own: OwnNames): SeenMarketer[] {
  const groups = Map.groupBy(seen, ({ signer, listId }) => `${signer}\n${listId ?? ''}`)
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

/**
 * Returns the draft that an administrator edits after accepting a proposal: declared, not
 * confirmed.
 */
export function draftMarketer(seen: Pick<SeenMarketer, 'signer' | 'listId' | 'name'>): Marketer {
  const { signer, listId, name } = seen
  return {
    key: draftKey(signer, listId),
    kind: 'marketer',
    name: name === '' ? signer : name,
    state: 'declared',
    signers: [signer],
    ranges: [],
    listIds: listId === '' ? [] : [listId],
    authors: [],
    hosts: [],
    practice: '',
    website: null,
    advice: {},
    contact: null,
    feedback: null,
    sources: {},
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
  const marks = { kind: 'marketer', signers: [signer], ranges: [], listIds, authors: [] } as const
  return marksFaults(marks, own).length === 0
}

function summed(group: readonly SeenBulk[]): SeenMarketer {
  const sorted = group.toSorted((a, b) => a.at.getTime() - b.at.getTime())
  const [first, last] = [sorted[0], sorted.at(-1)]
  if (!first || !last) throw new RangeError('A group has no message.')
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
