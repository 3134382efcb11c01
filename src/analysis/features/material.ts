import { domainOf, parseMailboxes } from '../../mail/address.ts'
import type { MessageBody } from '../../mail/body.ts'
import { houseOf } from '../../mail/domain.ts'
import { decodeHeaderText } from '../../mail/encoded-word.ts'
import type { HeaderField } from '../../mail/header.ts'
import type { Unsubscribe } from '../../mail/list-unsubscribe.ts'
import type { MessageKind } from '../../mail/message-kind.ts'
import type { Attachment } from '../attachments.ts'
import type { Authentication } from '../authenticity/authenticate.ts'
import type { Link } from '../links.ts'
import type { BodyView } from '../pieces/body-view.ts'
import type { PackedShingles } from '../shingles/packed-shingles.ts'
import type { Origin } from '../whence/origin.ts'
import type { Submitter } from '../whence/submitter.ts'
import type { TracedHop } from '../whence/trace.ts'

/** What the analysis has in hand when the features are made. */
export type Material = {
  bytes: number
  kind: MessageKind
  fields: readonly HeaderField[]
  body: MessageBody
  view: BodyView
  links: readonly Link[]
  attachments: readonly Attachment[]
  hops: readonly TracedHop[]
  origin: Origin | null
  submitter: Submitter | null
  authentication: Authentication | null
  unsubscribe: Unsubscribe | null
  shingles: PackedShingles
}

/** A header as features ask for it. */
export type HeaderIndex = {
  /** The value of the first field of that name, in lower case. */
  value: (key: string) => string | undefined
  count: (key: string) => number
}

/** Reads the names of a header once. */
export function indexHeader(fields: readonly HeaderField[]): HeaderIndex {
  const known = new Map<string, { first: HeaderField; count: number }>()
  for (const field of fields) {
    const its = known.get(field.key)
    if (its) its.count++
    else known.set(field.key, { first: field, count: 1 })
  }
  return {
    value: (key) => known.get(key)?.first.value,
    count: (key) => known.get(key)?.count ?? 0,
  }
}

/** Somebody a header names. */
export type Person = {
  /** As people read it. */
  name: string
  /** In lower case, empty where there is none. */
  address: string
  local: string
  domain: string
  /** The registrable domain, or the domain where it has none. */
  organization: string
}

/** Who wrote, who wants answers, who gets bounces and to whom it goes. */
export type People = {
  author: Person | undefined
  authors: number
  replyTo: Person | undefined
  sender: Person | undefined
  /** The organization of the return path; undefined when there is none. */
  returnPathOrganization: string | undefined
  recipient: Person | undefined
  recipients: number
}

const valueCharsMax = 4_000
const nameCharsMax = 300

/** Reads the addresses of a header. */
export function peopleOf(header: HeaderIndex): People {
  const list = (key: string) => {
    const value = header.value(key)
    return value === undefined ? [] : parseMailboxes(value.slice(0, valueCharsMax))
  }
  const first = (key: string) => personOf(list(key)[0])
  const from = list('from')
  const to = list('to')
  const returnPath = header.value('return-path')
  const bounces = returnPath === undefined ? undefined : personOf(parseMailboxes(returnPath)[0])
  return {
    author: personOf(from[0]),
    authors: from.length,
    replyTo: first('reply-to'),
    sender: first('sender'),
    returnPathOrganization: bounces?.organization || undefined,
    recipient: personOf(to.find(({ address }) => address !== '')),
    recipients: to.filter(({ address }) => address !== '').length + list('cc').length,
  }
}

function personOf(mailbox: { name: string; address: string } | undefined): Person | undefined {
  if (!mailbox) return undefined
  const address = decodeHeaderText(mailbox.address).toLowerCase()
  const domain = domainOf(address) ?? ''
  return {
    name: decodeHeaderText(mailbox.name).trim().slice(0, nameCharsMax),
    address,
    local: address.slice(0, Math.max(0, address.lastIndexOf('@'))),
    domain,
    organization: houseOf(domain) ?? domain,
  }
}

/** Whether two organizations are known and are not the same. */
export function areForeign(one: string | undefined, other: string | undefined): boolean {
  return Boolean(one) && Boolean(other) && one !== other
}
