import type { TracedHop } from '../analysis/whence/trace.ts'
import { isRoutable, type NetworkSet, parseIp } from '../mail/ip.ts'

/** A machine of which the reporter may say that it is theirs or their provider's. */
export type RelayCandidate = {
  /** Canonical text. */
  ip: string
  name: string | null
  /** The Received line that names it, 0 = top. */
  line: number
  /** Whether a machine we trust saw it; otherwise a stranger may have invented it. */
  isSeen: boolean
}

const CANDIDATES_MAX = 6

/**
 * The machines to ask about when an origin is too uncertain, in the order of the walk: where the
 * walk stopped, and those that the lines below claim came before. Empty when no line gives an
 * address that can be trusted by itself. What cannot be true is not asked about, nor what is
 * below it.
 */
export function relayCandidates(hops: readonly TracedHop[]): RelayCandidate[] {
  const entry = hops.findIndex(({ trust }) => trust === 'injection')
  const start = entry >= 0 ? entry : hops.findLastIndex(({ trust }) => trust === 'trusted')
  const found: RelayCandidate[] = []
  for (const { index, from, trust } of hops.slice(Math.max(0, start))) {
    if (trust === 'forged' || found.length === CANDIDATES_MAX) break
    const address = from.ip === null ? undefined : parseIp(from.ip)
    if (!address || !isRoutable(address)) continue
    if (found.some(({ ip }) => ip === address.text)) continue
    const isSeen = trust === 'injection' || trust === 'trusted'
    found.push({ ip: address.text, name: from.rdns ?? from.helo, line: index, isSeen })
  }
  return found
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
