import type { App, WorkApp } from '../app.ts'
import { findScopes, type FoundScope } from '../db/consumer-scopes.ts'
import { ensureConsumers } from '../db/consumers.ts'
import type { Db } from '../db/pool.ts'
import { listReporterEmails } from '../db/reporters.ts'
import type { MergedNetwork, Network, NetworkLayer } from '../origin/networks.ts'
import type { Phrase } from '../phrase.ts'
import type { OtherRecipient, OwnAddresses, ScopeMatch } from '../verdict/choose-contact.ts'
import {
  additionalRecipients,
  type Consequence,
  consequenceOf,
  type Judged,
  type RegistryState,
} from '../verdict/consequences.ts'
import { knownContacts } from './known-contacts.ts'
import { findDesks } from './next-contact.ts'
import type { QueuedFeedback } from './queue-feedback.ts'

/**
 * The facts that decide a consequence, except those about contacts, the reporter and enrollments.
 */
export type Case = Omit<Judged, 'known' | 'own' | 'scopes' | 'forwardScope'> & {
  reporterId: string
  /** Authenticated domains of the message; consumers enrolled for one of them are notified. */
  verifiedDomains: readonly string[]
}

/** A consequence, and everyone to notify because of it. */
export type DrawnConsequence = {
  consequence: Consequence
  notified: Omit<QueuedFeedback, 'reportId'>[]
  /** The reasons for the report's history: of the consequence and of each additional recipient. */
  why: readonly Phrase[]
}

/**
 * Decides the consequences of cases, in order, using the known contacts of their networks and the
 * enrollments. Recipients who are notified for the first time are added as consumers. The number of
 * queries does not depend on the number of cases. `emails`: the reporters' addresses, if known.
 */
export async function drawConsequences(
  tx: Db,
  cases: readonly Case[],
  app: Pick<App, 'config'>,
  now: Date,
  emails?: ReadonlyMap<string, string>,
): Promise<DrawnConsequence[]> {
  const addresses = new Set(
    cases.flatMap(({ network, requestedRecipients }) => [
      ...(network?.contacts ?? []),
      ...requestedRecipients.map(({ address }) => address),
    ]),
  )
  const [scopesOf, contacts] = await Promise.all([
    scopesByCase(tx, cases),
    knownContacts(tx, [...addresses], now),
  ])
  const enrolled = new Set(cases.flatMap((one) => scopesOf(one).map(({ address }) => address)))
  const others = await knownContacts(tx, [...enrolled.difference(addresses)], now)
  const known = new Map([...contacts.byAddress, ...others.byAddress])
  const consumers = new Map([...contacts.consumers, ...others.consumers])
  const isAnybodyKnown = addresses.size + enrolled.size > 0
  const ownOf = await findOwn(tx, isAnybodyKnown ? cases : [], app, emails)
  const drawn = cases.map((one) => {
    const { forwardScope } = app.config
    const own = ownOf(one.reporterId)
    const judged = { ...one, known, own, forwardScope, scopes: scopesOf(one) }
    const consequence = consequenceOf(judged)
    return { consequence, also: additionalRecipients(judged, consequence) }
  })
  const wanted = drawn.flatMap(({ consequence, also }) => [
    ...(consequence.action === 'forward'
      ? [{ address: consequence.to, source: 'network' as const }]
      : []),
    ...also.map(({ address, source, format }) => ({ address, source, format })),
  ])
  const missing = wanted.filter(({ address }) => !consumers.has(address))
  const added = await ensureConsumers(tx, missing, now)
  const consumerAt = (address: string) => consumers.get(address) ?? added.get(address)
  return drawn.map(({ consequence, also }) => ({
    consequence,
    notified: recipientsOf(consequence, also).flatMap(({ address, ...how }) => {
      const consumer = consumerAt(address)
      return consumer ? [{ consumer, ...how }] : []
    }),
    why: [...consequence.why, ...also.map(({ why }) => why)],
  }))
}

type Recipient = Pick<OtherRecipient, 'address' | 'recipientRole' | 'keepsTokens'>

function recipientsOf(consequence: Consequence, also: readonly OtherRecipient[]): Recipient[] {
  const desks: Recipient[] =
    consequence.action === 'forward'
      ? [{ address: consequence.to, recipientRole: 'network', keepsTokens: false }]
      : []
  return [
    ...desks,
    ...also.map(({ address, recipientRole, keepsTokens }) => ({
      address,
      recipientRole,
      keepsTokens,
    })),
  ]
}

/** Returns a function that returns the enrolled scopes that match a case. */
async function scopesByCase(
  tx: Db,
  cases: readonly Case[],
): Promise<(one: Case) => readonly ScopeMatch[]> {
  const ips = [...new Set(cases.flatMap(({ origin }) => origin?.ip ?? []))]
  const asns = [...new Set(cases.flatMap(({ network }) => network?.asn ?? []))]
  const domains = [...new Set(cases.flatMap(({ verifiedDomains }) => verifiedDomains))]
  if (ips.length === 0) return () => []
  const found = await findScopes(tx, { ips, asns, domains })
  if (found.length === 0) return () => []
  return (one) => found.filter((scope) => holdsFor(scope, one))
}

function holdsFor({ kind, value, ip }: FoundScope, one: Case): boolean {
  if (kind === 'range') return ip === one.origin?.ip
  if (kind === 'as') return value === String(one.network?.asn)
  return one.verifiedDomains.includes(value)
}

/**
 * Returns, by reporter, the addresses that are never treated as an abuse desk: our own and the
 * reporter's.
 */
async function findOwn(
  tx: Db,
  cases: readonly Case[],
  { config: { mailFrom, returnPathDomain: domain } }: Pick<App, 'config'>,
  known?: ReadonlyMap<string, string>,
): Promise<(reporterId: string) => OwnAddresses> {
  const ids = [...new Set(cases.map(({ reporterId }) => reporterId))]
  const emails = known ?? (ids.length > 0 ? await listReporterEmails(tx, ids) : undefined)
  return (reporterId) => {
    const email = emails?.get(reporterId)
    return { addresses: email === undefined ? [mailFrom] : [mailFrom, email], domain }
  }
}

/** The known network of an address, and whether a registry can be queried for more. */
export type KnownNetwork = {
  network: Network | undefined
  registry: RegistryState
  /** The AS that announces the address, and the announced block. */
  announced?: { asn: number; cidr: string } | undefined
  /**
   * Mail addresses, in lower case, of desks that answered that they are not responsible for the IP
   * address.
   */
  disowned: ReadonlySet<string>
}

/**
 * Returns the known networks by address. Without a known contact, `registry` is `unasked` if the
 * registry may be queried, unless an administrator's override ends the search.
 */
export async function findKnownNetworks(
  db: Db,
  ips: readonly string[],
  rdap: WorkApp['rdap'],
  now: Date,
): Promise<Map<string, KnownNetwork>> {
  const found = await findDesks(db, ips, now)
  return new Map(
    ips.map((ip) => {
      const { merged, disowned } = found.get(ip) ?? {
        merged: undefined,
        disowned: new Set<string>(),
      }
      const { asn, cidr } = merged?.from.asn ?? { asn: null, cidr: '' }
      const announced = asn === null ? undefined : { asn, cidr }
      const registry = registryOf(ip, merged, rdap)
      return [ip, { network: merged?.network, announced, registry, disowned }]
    }),
  )
}

function registryOf(
  ip: string,
  merged: MergedNetwork<NetworkLayer> | undefined,
  rdap: WorkApp['rdap'],
): RegistryState {
  const isOpen = !merged?.network.isMuted && !merged?.network.contacts.length
  if (isOpen && merged?.answer) return 'asked'
  return isOpen && rdap?.mayAsk(ip) === true ? 'unasked' : 'off'
}
