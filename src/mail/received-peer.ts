import { knownName, readLiteral, readPeerRemark } from './received-comment.ts'
import type { PeerRemark } from './received-comment.ts'

/** Who handed a message over, as the receiving machine wrote it down. */
export type ReceivedPeer = {
  /** What the peer called itself; it may lie. */
  helo?: string
  /** The name the receiver found for the peer's address. */
  rdns?: string
  /** A name found for the address that does not lead back to it: anybody can write such a one. */
  unprovenRdns?: string
  /** The peer's address in canonical text, seen by the receiver on the connection. */
  ip?: string
  port?: number
  /** RFC 1413 user, or the mailbox some mail systems write there. */
  ident?: string
  /** The user as whom the peer logged in. */
  account?: string
}

type Clause = { words: readonly string[]; comments: readonly string[]; style: ReceivedStyle }

/**
 * What the first word of a from clause is, which depends on the mail system: the name found for
 * the address (`exim`, also with brackets around an address; `qmail`, unless a HELO stands beside
 * it that is the HELO too; `firewall` and `http`, which note no HELO), or the HELO (`usual`).
 */
export type ReceivedStyle = 'exim' | 'qmail' | 'firewall' | 'http' | 'usual'

/**
 * Reads the from clause of a Received field. The address is taken from the last comment that
 * holds one, since a HELO, which the peer chooses, comes first; failing that, and only where no
 * comment has a bracket that ought to hold it, from the words.
 */
export function receivedPeer({ words, comments, style }: Clause): ReceivedPeer {
  const remarks = comments.map(readPeerRemark)
  const seen = remarks.findLast(({ ip }) => ip !== undefined)
  const isAddressDue = !seen && remarks.some(({ hasBracket }) => hasBracket)
  const peer = seen ?? (isAddressDue ? undefined : words.map(readLiteral).findLast(Boolean))
  const result: ReceivedPeer = {}
  const told = toldHelo(remarks, { words, comments, style })
  const head = words[0]
  const name = head === undefined || readLiteral(head) ? undefined : knownName(head)
  const hasHelo = !(style === 'http' || style === 'firewall' || (style === 'exim' && !name))
  const helo = told ?? (hasHelo ? head : undefined)
  if (helo) result.helo = helo
  if (peer?.ip !== undefined) result.ip = peer.ip
  if (peer) copyLast('port', remarks, result)
  if (peer?.port !== undefined) result.port = peer.port
  copyLast('ident', remarks, result)
  copyLast('account', remarks, result)
  if (result.account === undefined) accountInWords(words, result)
  const isHeadFound = told !== undefined || style !== 'usual' || seen?.isVerified === true
  const found = seen?.rdns ?? (isHeadFound ? name : undefined) ?? loneName(remarks, comments, told)
  if (found !== undefined) result[seen?.isForged ? 'unprovenRdns' : 'rdns'] = found
  return result
}

/** A HELO that the line names as such; empty where it says that there was none. */
function toldHelo(remarks: readonly PeerRemark[], clause: Clause): string | undefined {
  const { words, comments, style } = clause
  const told = remarks.findLast(({ helo }) => helo !== undefined)?.helo
  if (told !== undefined) return told
  if (style === 'firewall' && words[words.length - 2] === 'be') {
    return words[words.length - 1]?.replaceAll('"', '')
  }
  // Old Exim: `name (helo) [address]`.
  const first = comments[0] ?? ''
  if (style === 'exim' && words.length > 1 && isHostName(first)) return first
  return undefined
}

/** A name in a comment of its own, where no comment has the address. */
function loneName(
  remarks: readonly PeerRemark[],
  comments: readonly string[],
  told: string | undefined,
): string | undefined {
  const first = comments[0]
  if (first === undefined || told !== undefined) return undefined
  const local = remarks.find(({ rdns }) => rdns !== undefined)?.rdns
  return local ?? (isHostName(first) && !readLiteral(first) ? knownName(first) : undefined)
}

/** Old web mailers: `from 192.0.2.1 ( [192.0.2.1]) as user x`. */
function accountInWords(words: readonly string[], result: ReceivedPeer): void {
  const [, as, user, account] = words
  if (as === 'as' && user === 'user' && account !== undefined) result.account = account
}

function copyLast<K extends 'port' | 'ident' | 'account'>(
  key: K,
  remarks: readonly PeerRemark[],
  result: ReceivedPeer,
): void {
  for (let at = remarks.length - 1; at >= 0; at--) {
    const value = (remarks[at] as PeerRemark)[key]
    if (value === undefined) continue
    Object.assign(result, { [key]: value })
    return
  }
}

function isHostName(text: string): boolean {
  return /^[a-z0-9][\w-]*(?:\.[\w-]+)*$/i.test(text)
}
