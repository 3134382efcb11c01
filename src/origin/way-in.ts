import { registrableDomainOf } from '../mail/address.ts'
import { isRoutable } from '../mail/ip.ts'
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
  /** The machines through which it passed from there to the mailbox, with a public address. */
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
  let asked = resolve
  for (const { field, fromIp, rdns, helo, byHost } of hops.slice(0, HOPS_MAX)) {
    if (!field) return found
    if (!fromIp || !isRoutable(fromIp)) continue
    const question = { ip: fromIp.text, helo, mailFrom: `letter@${domain}` }
    const spf = asked && (await checkSpf(question, asked).catch(() => undefined))
    if (spf?.result === 'temperror') asked = undefined
    const isKnown = spf && spf.result !== 'none' && spf.result !== 'temperror'
    const isNamed = !isKnown && own.includes(registrableDomainOf(rdns ?? helo) ?? '')
    if (spf?.result === 'pass' || isNamed) {
      // Below the first such line, only machines of the sender may be seen by others.
      if (found && !own.includes(registrableDomainOf(byHost) ?? '')) return undefined
      const isNameless = !byHost?.includes('.') || isPrivateName(byHost)
      found ??= { border: isNameless ? undefined : byHost, relays: [...relays] }
    } else if (!found && !senderProfile(fromIp))
      relays.push({ ip: fromIp.text, name: rdns ?? helo ?? null })
  }
  return found
}
