import { registrableDomainOf } from '../mail/address.ts'
import { isRoutable } from '../mail/ip.ts'
import type { Resolve } from '../world.ts'
import { checkSpf } from './authenticity/spf.ts'
import type { Hop } from './hop.ts'
import { senderProfile } from './providers.ts'

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
 * also send for strangers. Undefined if no line shows the sender.
 */
export async function findWayIn(
  hops: readonly Hop[],
  sender: Sender,
  resolve: Resolve | undefined,
): Promise<WayIn | undefined> {
  const relays: WayIn['relays'] = []
  for (const hop of hops.slice(0, HOPS_MAX)) {
    const { fromIp, rdns, helo, byHost } = hop
    if (!hop.field) return undefined
    if (!fromIp || !isRoutable(fromIp)) continue
    if (await sendsFor(sender, hop, resolve)) {
      return { border: byHost?.includes('.') ? byHost : undefined, relays }
    }
    if (!senderProfile(fromIp)) relays.push({ ip: fromIp.text, name: rdns ?? helo ?? null })
  }
  return undefined
}

async function sendsFor(
  { domain, relayHost }: Sender,
  { fromIp, rdns, helo }: Hop,
  resolve: Resolve | undefined,
): Promise<boolean> {
  const question = { ip: fromIp?.text ?? '', helo, mailFrom: `letter@${domain}` }
  const found = resolve && (await checkSpf(question, resolve).catch(() => undefined))
  if (found?.result === 'pass') return true
  if (found && found.result !== 'none' && found.result !== 'temperror') return false
  const own = [domain, relayHost].flatMap((host) => registrableDomainOf(host) ?? [])
  return own.includes(registrableDomainOf(rdns ?? helo) ?? '')
}
