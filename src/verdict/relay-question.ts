import { isLmtp, providerOfHost } from '../analysis/whence/providers.ts'
import type { TracedHop } from '../analysis/whence/trace.ts'
import { addressScope, isInternal, type NetworkSet, parseIp } from '../mail/ip.ts'
import { addressRefusal } from '../mail/relay-block.ts'

/** A machine of which the reporter may say that it is theirs or their provider's. */
export type RelayCandidate = {
  /** Canonical text. */
  ip: string
  /** The name that a machine we trust looked up for it. */
  name: string | null
  /** Another name it goes by: its greeting, or what a stranger's line says. Anybody's choice. */
  callsItself: string | null
  /** The Received line that names it, 0 = top. */
  line: number
  /** Whether a machine we trust saw it; otherwise a stranger may have invented it. */
  isSeen: boolean
  /** Whether its address is loopback or of an internal network: a gateway may stand before it. */
  isInternal: boolean
}

const CANDIDATES_MAX = 6
const ADDRESSES_MAX = 30

/**
 * The machines to ask about when an origin is too uncertain, in the order of the walk: internal
 * ones it passed that may hide behind a gateway, where it stopped, and those that the lines below
 * claim came before. Empty when no line gives an address that can be trusted by itself. What
 * cannot be true is not asked about, nor what is below it.
 */
export function relayCandidates(hops: readonly TracedHop[]): RelayCandidate[] {
  const entry = hops.findIndex(({ trust }) => trust === 'injection')
  const start = entry >= 0 ? entry : hops.findLastIndex(({ trust }) => trust === 'trusted')
  const found: RelayCandidate[] = []
  for (const [at, hop] of hops.entries()) {
    if (hop.trust === 'forged' || found.length === CANDIDATES_MAX) break
    const candidate = candidateOf(hop)
    if (!candidate || found.some(({ ip }) => ip === candidate.ip)) continue
    const isMeant = candidate.isInternal
      ? candidate.isSeen && !isShownInside(hop, hops[at + 1])
      : at >= start
    if (isMeant) found.push(candidate)
  }
  return found
}

/**
 * The addresses on the way down to the last machine that is asked about: what the reporter says of
 * any of them may change where the walk goes. At most 30.
 */
export function addressesAsked(hops: readonly TracedHop[]): string[] {
  const last = relayCandidates(hops).at(-1)?.line ?? -1
  const above = hops.filter(({ index }) => index <= last)
  const found = above.flatMap((hop) => candidateOf(hop)?.ip ?? [])
  return [...new Set(found)].slice(-ADDRESSES_MAX)
}

function candidateOf({ index, from, trust }: TracedHop): RelayCandidate | undefined {
  const address = from.ip === null ? undefined : parseIp(from.ip)
  if (!address || addressRefusal(address)) return undefined
  const isSeen = trust === 'injection' || trust === 'trusted'
  const name = isSeen ? from.rdns : null
  const claim = isSeen ? from.helo : (from.rdns ?? from.helo)
  return {
    ip: address.text,
    name,
    callsItself: claim?.toLowerCase() === name?.toLowerCase() ? null : claim,
    line: index,
    isSeen,
    isInternal: isInternal(address),
  }
}

/** Whether there is nothing to ask of an internal machine: it is known, or nothing is below it. */
function isShownInside(hop: TracedHop, next: TracedHop | undefined): boolean {
  if (!next || isLmtp(hop.with ?? undefined)) return true
  if (hop.by.host !== null && providerOfHost(hop.by.host.toLowerCase()) !== undefined) return true
  const address = hop.from.ip === null ? undefined : parseIp(hop.from.ip)
  if (address && addressScope(address) === 'loopback') return false
  return hop.from.rdns !== null && hop.from.rdns.toLowerCase() === next.by.host?.toLowerCase()
}

/**
 * The candidates that the reporter has not spoken of. Whoever is not theirs ends the list: what
 * stands below, a stranger wrote.
 */
export function openCandidates<Candidate extends { ip: string }>(
  candidates: readonly Candidate[],
  said: { mine: NetworkSet; notMine: NetworkSet },
): Candidate[] {
  const isIn = (set: NetworkSet, { ip }: Candidate) => {
    const address = parseIp(ip)
    return address !== undefined && set.has(address)
  }
  const end = candidates.findIndex((candidate) => isIn(said.notMine, candidate))
  const open = end < 0 ? candidates : candidates.slice(0, end)
  return open.filter((candidate) => !isIn(said.mine, candidate))
}

/** What an answer comes to: whom to trust and whom never to ask about again; or why it cannot. */
export type RelayAnswer =
  | { mine: RelayCandidate[]; notMine: RelayCandidate[] }
  | { gap: { picked: RelayCandidate; between: RelayCandidate } }

/**
 * Reads which of the candidates the reporter picked. What stands nearer to the mailbox than a
 * machine of theirs must be theirs too: otherwise a stranger wrote the line that names it, and
 * trusting it would be trusting the stranger.
 */
export function readAnswer(
  candidates: readonly RelayCandidate[],
  pickedIps: readonly string[],
): RelayAnswer {
  const isPicked = ({ ip }: RelayCandidate) => pickedIps.includes(ip)
  const first = candidates.findIndex((candidate) => !isPicked(candidate))
  const between = first < 0 ? undefined : candidates[first]
  const picked = between && candidates.slice(first).find(isPicked)
  if (between && picked) return { gap: { picked, between } }
  const mine = candidates.filter(isPicked)
  return { mine, notMine: candidates.filter((candidate) => !isPicked(candidate)) }
}
