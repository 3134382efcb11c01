import { knownName, readLiteral, readPeerRemark } from './received-comment.ts'
import type { PeerRemark } from './received-comment.ts'
import type { ReceivedClause } from './received-clauses.ts'
import type { ReceivedStyle } from './received-style.ts'

/** Who handed a message over, as the receiving machine wrote it down. */
export type ReceivedPeer = {
  /** What the peer called itself; it may lie. */
  helo?: string
  /** The name the receiver found for the peer's address. */
  rdns?: string
  /** A name that does not lead back to the address, or may not: anybody can have such a one. */
  unprovenRdns?: string
  /** The peer's address in canonical text, seen by the receiver on the connection. */
  ip?: string
  port?: number
  /** RFC 1413 user, or the mailbox some mail systems write there. */
  ident?: string
  /** The user as whom the peer logged in. */
  account?: string
}

/**
 * Reads the from clause of a Received field. The address is taken from the last comment that
 * holds one, since a HELO, which the peer chooses, comes first; failing that, and only where no
 * comment has a bracket that ought to hold it, from the words. Undefined when it says nothing.
 */
export function receivedPeer(
  { words, comments }: ReceivedClause,
  style: ReceivedStyle,
): ReceivedPeer | undefined {
  const { seen, told, last } = readRemarks(comments)
  const peer = seen ?? (last.hasBracket ? undefined : lastLiteral(words))
  const head = words[0]
  const name = head === undefined || readLiteral(head) ? undefined : knownName(head)
  const named = told ?? asideHelo(words, comments, style)
  const hasHelo = !(style === 'http' || style === 'firewall' || (style === 'exim' && !name))
  const helo = named ?? (hasHelo ? head : undefined)
  const result: ReceivedPeer = {}
  if (helo) result.helo = helo
  if (peer?.ip !== undefined) result.ip = peer.ip
  const port = peer?.port ?? (peer ? last.port : undefined)
  if (port !== undefined) result.port = port
  if (last.ident !== undefined) result.ident = last.ident
  const account = last.account ?? accountInWords(words)
  if (account !== undefined) result.account = account
  const isHeadFound = named !== undefined || style !== 'usual' || seen?.isVerified === true
  const found = seen?.rdns ?? (isHeadFound ? name : undefined)
  const isLone = found === undefined && named === undefined && !peer
  const known = isLone ? (last.rdns ?? loneName(comments)) : found
  if (known !== undefined) result[seen?.isUnproven ? 'unprovenRdns' : 'rdns'] = known
  return isEmpty(result) ? undefined : result
}

/** The remark with the address; the last HELO named; and the last of everything else. */
function readRemarks(comments: readonly string[]) {
  const last: PeerRemark = {}
  let seen: PeerRemark | undefined
  let told: string | undefined
  for (const comment of comments) {
    const remark = readPeerRemark(comment)
    if (remark.ip !== undefined) seen = remark
    if (remark.helo !== undefined) told = remark.helo
    if (remark.port !== undefined) last.port = remark.port
    if (remark.ident !== undefined) last.ident = remark.ident
    if (remark.account !== undefined) last.account = remark.account
    if (remark.rdns !== undefined) last.rdns = remark.rdns
    if (remark.hasBracket) last.hasBracket = true
  }
  return { seen, told, last }
}

function lastLiteral(words: readonly string[]) {
  for (let at = words.length - 1; at >= 0; at--) {
    const word = words[at] ?? ''
    const literal = readLiteral(word.slice(word.lastIndexOf('@') + 1))
    if (literal) return literal
  }
  return undefined
}

/** A HELO that stands neither first nor behind its name. */
function asideHelo(
  words: readonly string[],
  comments: readonly string[],
  style: ReceivedStyle,
): string | undefined {
  if (style === 'firewall' && words[words.length - 2] === 'be') {
    return words[words.length - 1]?.replaceAll('"', '')
  }
  // Old Exim: `name (helo) [address]`.
  const first = comments[0] ?? ''
  return style === 'exim' && words.length > 1 && isHostName(first) ? first : undefined
}

/** A name in a comment of its own; beside an address it could as well be the HELO. */
function loneName(comments: readonly string[]): string | undefined {
  const first = comments[0]
  if (first === undefined || !isHostName(first) || readLiteral(first)) return undefined
  return knownName(first)
}

/** Old web mailers: `from 192.0.2.1 ( [192.0.2.1]) as user x`. */
function accountInWords([, as, user, account]: readonly string[]): string | undefined {
  return as === 'as' && user === 'user' ? account : undefined
}

function isEmpty(peer: ReceivedPeer): boolean {
  for (const key in peer) if (key) return false
  return true
}

function isHostName(text: string): boolean {
  return /^[a-z0-9][\w-]*(?:\.[\w-]+)*$/i.test(text)
}
