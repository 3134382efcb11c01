import { parseIp } from './ip.ts'

/** Who handed a message over, as the receiving machine wrote it down. */
export type ReceivedPeer = {
  /** What the peer called itself; it may lie. */
  helo?: string
  /** The name the receiver found for the peer's address. */
  rdns?: string
  /** The peer's address in canonical text, seen by the receiver on the connection. */
  ip?: string
  port?: number
  /** RFC 1413 user, or the mailbox some mail systems write there. */
  ident?: string
}

type Clause = { words: readonly string[]; comments: readonly string[]; style: ReceivedStyle }

/** How a mail system words the from clause where the same text has two meanings. */
export type ReceivedStyle = 'exim' | 'qmail' | 'usual'

/** What one comment, or one bracketed word, says about the peer. */
type Remark = ReceivedPeer & { isForged?: boolean; isVerified?: boolean; hasBracket?: boolean }

const partsMax = 40

/**
 * Reads the from clause of a Received field. The address is taken from the last comment that
 * holds one, since a HELO, which the peer chooses, comes first; failing that, and only where no
 * comment has a bracket that ought to hold it, from the words.
 */
export function receivedPeer({ words, comments, style }: Clause): ReceivedPeer {
  const remarks = comments.map(readComment)
  const seen = remarks.findLast(({ ip }) => ip !== undefined)
  const helo = remarks.findLast((remark) => remark.helo !== undefined)?.helo
  const head = words[0]
  const isAddressDue = remarks.some(({ hasBracket }) => hasBracket)
  const literal = isAddressDue ? undefined : words.map(readLiteral).findLast(Boolean)
  const isLiteral = head !== undefined && readLiteral(head) !== undefined
  const name = head === undefined || isLiteral ? undefined : knownName(head)
  const peer = seen ?? literal
  const result: ReceivedPeer = {}
  const chosenHelo = helo ?? (style === 'exim' && isLiteral ? undefined : head)
  if (chosenHelo !== undefined) result.helo = chosenHelo
  if (peer?.ip !== undefined) result.ip = peer.ip
  const port = peer?.port ?? remarks.find((remark) => remark.port !== undefined)?.port
  if (peer && port !== undefined) result.port = port
  const ident = remarks.findLast((remark) => remark.ident !== undefined)?.ident
  if (ident !== undefined) result.ident = ident
  const headIsName = helo !== undefined || style !== 'usual' || seen?.isVerified === true
  const rdns = seen?.isForged ? undefined : (seen?.rdns ?? (headIsName ? name : undefined))
  if (rdns !== undefined) result.rdns = rdns
  return result
}

/** An address as it stands in a comment or a word: bare, bracketed, with a port behind it. */
export function readLiteral(text: string): { ip: string; port?: number } | undefined {
  if (!mayBeAddress(text)) return undefined
  const unwrapped = text.startsWith('?') && text.endsWith('?') ? text.slice(1, -1) : text
  const closing = unwrapped.startsWith('[') ? unwrapped.indexOf(']') : -1
  const bare = closing > 0 ? unwrapped.slice(1, closing) : unwrapped
  const address = parseIp(bare)
  if (address) {
    const rest = closing > 0 ? unwrapped.slice(closing + 1) : ''
    const port = rest.startsWith(':') ? portNumber(rest.slice(1)) : undefined
    return port === undefined ? { ip: address.text } : { ip: address.text, port }
  }
  const colon = portSeparator(bare)
  if (colon < 0) return undefined
  const quad = parseIp(bare.slice(0, colon))
  const port = portNumber(bare.slice(colon + 1))
  return quad && port !== undefined ? { ip: quad.text, port } : undefined
}

/** Tells nearly all names from addresses at a glance. */
function mayBeAddress(text: string): boolean {
  const first = text.charCodeAt(0)
  if (first >= 0x30 && first <= 0x39) return true
  return first === 0x5b || first === 0x3f || text.includes(':')
}

/** `192.0.2.1:25`, or `192.0.2.1.25` as old Exim has it. */
function portSeparator(text: string): number {
  const colon = text.lastIndexOf(':')
  if (colon >= 0) return text.indexOf(':') === colon ? colon : -1
  return text.length < 22 && text.split('.').length === 5 ? text.lastIndexOf('.') : -1
}

function readComment(comment: string): Remark {
  const parts = comment.split(/[\s,()"]+/, partsMax).filter((part) => part !== '')
  const remark: Remark = {}
  for (let at = 0; at < parts.length; at++) {
    const part = parts[at] ?? ''
    const next = parts[at + 1]
    const lower = part.toLowerCase()
    if ((lower === 'helo' || lower === 'ehlo') && next !== undefined) {
      remark.helo = next
      at++
    } else if (lower === 'account' && next !== undefined) at++
    else if (part.includes('=')) readSetting(lower, part, remark)
    else if (lower === 'verified') remark.isVerified = true
    else if (lower === 'forged') remark.isForged = parts[at - 1]?.toLowerCase() === 'be'
    else readAddress(part, at, parts, remark)
  }
  return remark
}

function readSetting(lower: string, part: string, remark: Remark): void {
  const value = part.slice(part.indexOf('=') + 1)
  if (lower.startsWith('helo=') || lower.startsWith('ehlo=')) remark.helo = value
  else if (lower.startsWith('port=')) {
    const port = portNumber(value)
    if (port !== undefined) remark.port = port
  } else if (lower.startsWith('ident=') && value !== '') remark.ident = value
}

/** `rdns [ip]`, `rdns[ip]`, `user@rdns [ip]`, `[ip]:port`, `user@ip`, or the address alone. */
function readAddress(part: string, at: number, parts: readonly string[], remark: Remark): void {
  const bracket = part.indexOf('[')
  if (bracket >= 0) remark.hasBracket = true
  const sign = part.lastIndexOf('@')
  const glued = bracket > 0 && bracket !== sign + 1 ? part.slice(0, bracket) : undefined
  const host = part.slice(glued === undefined ? sign + 1 : bracket)
  const literal = host === '' ? undefined : readLiteral(host)
  const isAlone = parts.length === 1 || at === 0 || bracket >= 0 || part.startsWith('?')
  if (!literal || !isAlone) return
  remark.ip = literal.ip
  if (literal.port !== undefined) remark.port = literal.port
  if (sign > 0 && glued === undefined) remark.ident = part.slice(0, sign)
  const before = glued ?? (at === 0 ? undefined : parts[at - 1])
  if (before === undefined || before.includes('=')) return
  const user = before.lastIndexOf('@')
  if (user > 0) remark.ident = before.slice(0, user)
  const name = knownName(before.slice(user + 1))
  if (name !== undefined && readLiteral(name) === undefined) remark.rdns = name
}

/** A host name without its final dot; `unknown` and its like are none. */
export function knownName(text: string): string | undefined {
  const name = text.endsWith('.') ? text.slice(0, -1) : text
  const lower = name.toLowerCase()
  if (name === '' || lower === 'unknown' || lower === 'unverified' || lower === 'untrusted') {
    return undefined
  }
  return name
}

function portNumber(text: string): number | undefined {
  if (!/^\d{1,5}$/.test(text)) return undefined
  const port = Number(text)
  return port > 0 && port < 65_536 ? port : undefined
}
