import { parseIp } from './ip.ts'

/** The words and comments that follow one keyword of a Received field. */
export type ReceivedClause = { words: string[]; comments: string[] }

/**
 * What the first word of a from clause means, which depends on the mail system: the reverse DNS
 * name (`exim`; `qmail`, where it is also the HELO unless another is given; `firewall` and `http`,
 * which record no HELO), or the HELO (`usual`).
 */
export type ReceivedStyle = 'exim' | 'qmail' | 'firewall' | 'http' | 'usual'

/** The information about the peer in one comment of a from clause. */
export type PeerRemark = {
  helo?: string
  rdns?: string
  ip?: string
  port?: number
  ident?: string
  account?: string
  /** The name does not resolve to the address, or the peer may have supplied it. */
  isUnproven?: boolean
  /** The name resolves to the address. */
  isVerified?: boolean
  /** The comment has a bracket, which should contain an address. */
  hasBracket?: boolean
}

const partsMax = 40
const nothing: PeerRemark = {}

/**
 * Parses a comment of a from clause: `rdns [ip]`, `rdns[ip]`, `user@rdns [ip]`, `[ip]:port helo=x`,
 * `HELO x`, `user@ip`, `account user`, `?IPv6:…?`, or a bare address. Linear; reads at most 40
 * words.
 */
export function readPeerRemark(comment: string): PeerRemark {
  if (isAboutLine(comment)) return nothing
  const usual = usualRemark(comment)
  if (usual) return usual
  const remark = anyRemark(comment)
  if (!comment.includes('(')) return remark
  // An address in a nested comment counts only if there is none outside of it.
  const { ip, port } = anyRemark(withoutComments(comment))
  if (ip === undefined) return remark
  return { ...remark, ip, ...(port !== undefined && { port }) }
}

function withoutComments(text: string): string {
  let outside = ''
  let depth = 0
  for (const piece of text.split(/([()])/)) {
    if (piece === '(') depth++
    else if (piece === ')') depth--
    else if (depth === 0) outside += piece
  }
  return outside
}

/** Parses an address in a comment or a word: bare or in brackets, optionally followed by a port. */
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
  const host = parseIp(bare.slice(0, colon))
  const port = portNumber(bare.slice(colon + 1))
  return host && port !== undefined ? { ip: host.text, port } : undefined
}

const placeholderNames = new Set([
  ...['unknown', 'unverified', 'untrusted', 'softdnserr', 'nodnsquery', 'no.name.available'],
  'unknown.domain',
])

/**
 * A host name without its final dot and without angle brackets; undefined for a placeholder such as
 * `unknown`.
 */
export function knownName(text: string): string | undefined {
  const bare = withoutBrackets(text)
  const name = bare.endsWith('.') ? bare.slice(0, -1) : bare
  if (name === '' || name.startsWith('[')) return undefined
  if (name.length < 18 && placeholderNames.has(name.toLowerCase())) return undefined
  return name
}

function withoutBrackets(text: string): string {
  return text.startsWith('<') && text.endsWith('>') ? text.slice(1, -1) : text
}

/** A quick check that excludes nearly all host names. */
function mayBeAddress(text: string): boolean {
  const first = text.charCodeAt(0)
  if (first >= 0x30 && first <= 0x39) return true
  return first === 0x5b || first === 0x3f || text.includes(':')
}

/**
 * Finds the separator in `192.0.2.1:25`, or in `192.0.2.1.25` and `2001:db8::1.25` as old Exim
 * writes them; -1 if none.
 */
function portSeparator(text: string): number {
  const colon = text.lastIndexOf(':')
  if (colon >= 0 && text.indexOf(':') === colon) return colon
  const dots = text.length < 54 ? text.split('.').length - 1 : 0
  return dots === 4 || (dots === 1 && colon >= 0) ? text.lastIndexOf('.') : -1
}

/** Whether a comment describes the encryption or the software and not the peer. */
function isAboutLine(comment: string): boolean {
  switch (comment.charCodeAt(0)) {
    case 0x45:
      return comment.startsWith('Exim ')
    case 0x50:
      return comment === 'Postfix'
    case 0x75:
      return comment.startsWith('using ')
    case 0x76:
      return comment.startsWith('version=')
    default:
      return false
  }
}

/** Parses nearly all comments: a bare address, or a name followed by an address in brackets. */
function usualRemark(comment: string): PeerRemark | undefined {
  const bracket = comment.indexOf('[')
  if (bracket < 0) {
    const ip = mayBeAddress(comment) ? parseIp(comment) : undefined
    return ip && { ip: ip.text }
  }
  if (!comment.endsWith(']') || comment.indexOf(']') !== comment.length - 1) return undefined
  const ip = parseIp(comment.slice(bracket + 1, -1))
  if (!ip) return undefined
  if (bracket === 0) return { ip: ip.text, hasBracket: true }
  const name = comment.slice(0, bracket - 1)
  if (comment.charCodeAt(bracket - 1) !== 0x20 || !isPlainName(name)) return undefined
  const rdns = readLiteral(name) ? undefined : knownName(name)
  return rdns === undefined
    ? { ip: ip.text, hasBracket: true }
    : { ip: ip.text, hasBracket: true, rdns }
}

/**
 * Whether a word can be a host name. `HELO` cannot, because the word after it is not the address.
 */
function isPlainName(text: string): boolean {
  return /^(?!(?:helo|ehlo|lhlo)$)[\w.-]+$/i.test(text)
}

function anyRemark(comment: string): PeerRemark {
  const parts = comment.split(/[\s,()"]+/, partsMax).filter((part) => part !== '')
  const remark: PeerRemark = {}
  if (/^auth/i.test(parts[0] ?? '')) return login(parts)
  let isFromPeer = false
  for (let at = 0; at < parts.length; at++) {
    const part = parts[at] ?? ''
    const next = parts[at + 1]
    const lower = part.toLowerCase()
    if (lower === 'user' && /^authenticated$/i.test(parts[at - 1] ?? '') && next !== undefined) {
      remark.account = withoutBrackets(next)
      at++
    } else if (lower === 'helo' || lower === 'ehlo' || lower === 'lhlo') {
      remark.helo = next ?? ''
      // The peer also supplied the text that follows.
      isFromPeer = true
      at++
    } else if (lower === 'account' && next !== undefined) {
      remark.account = withoutBrackets(next)
      at++
    } else if (lower.startsWith('ident=')) {
      // Exim writes the ident last. The peer supplies it, and it may contain blanks.
      if (part.length > 6) remark.ident = part.slice(6)
      break
    } else if (part.includes('=')) {
      readSetting(lower, part, remark)
      isFromPeer ||= remark.helo !== undefined
    } else if (lower === 'verified') remark.isVerified = true
    else if (lower === 'forged') remark.isUnproven = parts[at - 1]?.toLowerCase() === 'be'
    else if (!isFromPeer) readAddress(part, at, parts, remark)
  }
  return remark
}

/**
 * Parses `Authenticated sender: user`, `AUTH: LOGIN user`, `authenticated as user`, and
 * `authenticated:user@[192.0.2.1]`.
 */
function login(parts: readonly string[]): PeerRemark {
  const [first = ''] = parts
  const sign = first.lastIndexOf('@')
  const literal = sign > 0 ? readLiteral(first.slice(sign + 1)) : undefined
  if (literal) return { ...literal, account: first.slice(first.indexOf(':') + 1, sign) }
  const isNamed = /^(?:sender:|as|user|[\w-]+)$/i.test(parts[1] ?? '') && parts.length > 2
  return isNamed && !parts[1]?.startsWith('bits') ? { account: parts[2] ?? '' } : nothing
}

function readSetting(lower: string, part: string, remark: PeerRemark): void {
  const value = part.slice(part.indexOf('=') + 1)
  if (/^(?:helo|ehlo|lhlo)=/.test(lower)) remark.helo = value
  else if (lower.startsWith('port=')) {
    const port = portNumber(value)
    if (port !== undefined) remark.port = port
  }
}

/**
 * Reads an address from a word of a comment into `remark`. Uses the last bracket and the last `@`,
 * because the text before them is an ident (RFC 1413), which the peer can choose freely.
 */
function readAddress(part: string, at: number, parts: readonly string[], remark: PeerRemark) {
  const bracket = part.lastIndexOf('[')
  if (bracket >= 0) remark.hasBracket = true
  const sign = part.lastIndexOf('@')
  const glued = bracket > 0 && bracket !== sign + 1 ? part.slice(0, bracket) : undefined
  const host = part.slice(glued === undefined ? sign + 1 : bracket)
  const literal = host === '' ? undefined : readLiteral(host)
  const isMarked = bracket >= 0 || part.startsWith('?')
  const isBeside = !isMarked && at === 1 && parts.length === 2
  const isAddress = at === 0 || isMarked || (isBeside && isBehindName(parts[0] ?? '', literal))
  if (!literal || !isAddress) {
    if (sign > 0 && parts.length === 1) remark.ident = identOf(part.slice(0, sign))
    if (part.toLowerCase() === '[local]') nameBefore(parts[at - 1], remark)
    return
  }
  remark.ip = literal.ip
  if (literal.port !== undefined) remark.port = literal.port
  if (sign > 0 && glued === undefined) remark.ident = identOf(part.slice(0, sign))
  if (isBeside) unprovenName(parts[0] ?? '', remark)
  else if (at > 0 || glued !== undefined) nameBefore(glued ?? parts[at - 1], remark)
  else if (parts.length === 2) unprovenName(parts[1] ?? '', remark)
}

/**
 * Whether an address without brackets belongs to the word before it: that word is a full host name,
 * or the address is an IPv6 address, which cannot be a version number. Of two addresses, the first
 * one counts.
 */
function isBehindName(before: string, literal: { ip: string } | undefined): boolean {
  if (literal === undefined || readLiteral(before)) return false
  return literal.ip.includes(':') || (isPlainName(before) && before.includes('.'))
}

/** Sendmail marks the name from the ident protocol with `IDENT:`. */
function identOf(user: string): string {
  return user.startsWith('IDENT:') ? user.slice(6) : user
}

function nameBefore(before: string | undefined, remark: PeerRemark): void {
  if (before === undefined || before.includes('=') || before === remark.account) return
  const user = before.lastIndexOf('@')
  if (user > 0) remark.ident = identOf(before.slice(0, user))
  const name = knownName(before.slice(user + 1))
  if (name !== undefined && readLiteral(name) === undefined) remark.rdns = name
}

function unprovenName(name: string, remark: PeerRemark): void {
  if (!isPlainName(name) || !name.includes('.')) return
  remark.rdns = name
  remark.isUnproven = true
}

function portNumber(text: string): number | undefined {
  if (!/^\d{1,5}$/.test(text)) return undefined
  const port = Number(text)
  return port > 0 && port < 65_536 ? port : undefined
}

/** The machine that handed a message over, as the receiving machine recorded it. */
export type ReceivedPeer = {
  /** The name that the peer gave in HELO or EHLO; it may be false. */
  helo?: string
  /** The reverse DNS name of the peer's address, as the receiver looked it up. */
  rdns?: string
  /**
   * A reverse DNS name that does not, or may not, resolve to the address: anybody can set up such a
   * name.
   */
  unprovenRdns?: string
  /** The peer's address in canonical text, as the receiver saw it on the connection. */
  ip?: string
  port?: number
  /**
   * The user name from the ident protocol (RFC 1413), or a mailbox that some mail systems write
   * instead.
   */
  ident?: string
  /** The user name with which the peer authenticated. */
  account?: string
}

/**
 * Parses the from clause of a Received field. Takes the address from the last comment that contains
 * one, because the HELO, which the peer chooses, comes first. If no comment contains one, takes it
 * from the words, unless a comment has a bracket that should contain it. Undefined when the clause
 * contains nothing.
 */
export function receivedPeer(
  { words, comments }: ReceivedClause,
  style: ReceivedStyle,
): ReceivedPeer | undefined {
  const { seen, stated, last } = readRemarks(comments)
  const peer = seen ?? (last.hasBracket ? undefined : lastLiteral(words))
  const head = words[0]
  const name = head === undefined || readLiteral(head) ? undefined : knownName(head)
  const named = stated ?? asideHelo(words, comments, style)
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

/**
 * Returns the last remark that contains an address, the last HELO, and the last value of each other
 * kind.
 */
function readRemarks(comments: readonly string[]) {
  const last: PeerRemark = {}
  let seen: PeerRemark | undefined
  let stated: string | undefined
  for (const comment of comments) {
    const remark = readPeerRemark(comment)
    if (remark.ip !== undefined) seen = remark
    if (remark.helo !== undefined) stated = remark.helo
    if (remark.port !== undefined) last.port = remark.port
    if (remark.ident !== undefined) last.ident = remark.ident
    if (remark.account !== undefined) last.account = remark.account
    if (remark.rdns !== undefined) last.rdns = remark.rdns
    if (remark.hasBracket) last.hasBracket = true
  }
  return { seen, stated, last }
}

function lastLiteral(words: readonly string[]) {
  for (let at = words.length - 1; at >= 0; at--) {
    const word = words[at] ?? ''
    const literal = readLiteral(word.slice(word.lastIndexOf('@') + 1))
    if (literal) return literal
  }
  return undefined
}

/** Returns a HELO that is neither the first word nor announced by the word `HELO`. */
function asideHelo(
  words: readonly string[],
  comments: readonly string[],
  style: ReceivedStyle,
): string | undefined {
  if (style === 'firewall' && words[words.length - 2] === 'be') {
    return words[words.length - 1]?.replaceAll('"', '')
  }
  // Old Exim writes `name (helo) [address]`.
  const first = comments[0] ?? ''
  return style === 'exim' && words.length > 1 && isHostName(first) ? first : undefined
}

/**
 * Returns the first comment if it is only a host name; otherwise undefined. Beside an address, such
 * a name could also be the HELO.
 */
function loneName(comments: readonly string[]): string | undefined {
  const first = comments[0]
  if (first === undefined || !isHostName(first) || readLiteral(first)) return undefined
  return knownName(first)
}

/** Old web mailers write `from 192.0.2.1 ( [192.0.2.1]) as user x`. */
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
