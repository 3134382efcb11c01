import { registrableDomainOf } from '../mail/address.ts'
import { isInternal, isRoutable } from '../mail/ip.ts'
import type { Resolve } from '../world.ts'
import { checkSpf } from './authenticity/spf.ts'
import type { Hop } from './hop.ts'
import { isPrivateName, senderProfile } from './providers.ts'

/** Who sent a message: the domain of its return path, and the host of the relay, if known. */
type Sender = { domain: string; relayHost: string | undefined }

/** The way of a message from its sender to the mailbox of its reader. */
export type WayIn = {
  /** The name of the host that received it from the sender; undefined if it names only itself. */
  border: string | undefined
  /** The machines through which it passed from there to the mailbox. */
  relays: { ip: string; name: string | null }[]
}

const HOPS_MAX = 20

/**
 * Finds where a message of a known sender came in: at the topmost line whose peer sends for it, by
 * the SPF record of its domain, or by the name of its relay if the DNS says nothing. All machines
 * above are the reader's. The machines from which a known provider sends are left out, because they
 * also send for strangers. Undefined if no line shows the sender, or if the sender seems to hand
 * mail to a machine that is not its own: then its record covers machines of the reader. After an
 * unknown answer the DNS is not asked again.
 */
export async function findWayIn(
  hops: readonly Hop[],
  { domain, relayHost }: Sender,
  resolve: Resolve | undefined,
): Promise<WayIn | undefined> {
  const relays: WayIn['relays'] = []
  let found: WayIn | undefined
  const own = [domain, relayHost].flatMap((host) => registrableDomainOf(host) ?? [])
  const isOwn = (host: string | undefined) => own.includes(registrableDomainOf(host) ?? '')
  let asked = resolve
  for (const { field, fromIp, rdns, helo, byHost } of hops.slice(0, HOPS_MAX)) {
    if (!field) return found
    if (!fromIp || !isRoutable(fromIp)) continue
    const question = { ip: fromIp.text, helo, mailFrom: `letter@${domain}` }
    const spf = asked && (await checkSpf(question, asked).catch(() => undefined))
    if (spf?.result === 'temperror') asked = undefined
    const isKnown = spf && spf.result !== 'none' && spf.result !== 'temperror'
    if (spf?.result === 'pass' || (!isKnown && isOwn(rdns ?? helo))) {
      // Below the first such line, only machines of the sender may be seen by others.
      if (found && !isOwn(byHost)) return undefined
      const border = !byHost?.includes('.') || isPrivateName(byHost) ? undefined : byHost
      const inner = border === undefined || isOwn(border) ? [] : innerRelays(hops)
      found ??= { border, relays: [...inner, ...relays] }
    } else if (!found && !senderProfile(fromIp))
      relays.push({ ip: fromIp.text, name: rdns ?? helo ?? null })
  }
  return found
}

/**
 * The machines with internal addresses above the first public peer. None if the lines down to there
 * are of several domains: a router that hides its clients would pass for such a machine.
 */
function innerRelays(hops: readonly Hop[]): WayIn['relays'] {
  const end = hops.findIndex(({ fromIp }) => fromIp && isRoutable(fromIp))
  const domains = hops.slice(0, end + 1).flatMap(({ byHost }) => registrableDomainOf(byHost) ?? [])
  if (new Set(domains).size > 1) return []
  return hops.slice(0, Math.min(end, HOPS_MAX)).flatMap(({ fromIp, rdns, helo }) => {
    return fromIp && isInternal(fromIp) ? [{ ip: fromIp.text, name: rdns ?? helo ?? null }] : []
  })
}
