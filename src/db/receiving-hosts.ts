import type { Db } from './pool.ts'
import { isOneOf, preparedRowsOf } from './prepared.ts'
import { changesAny, rowOf, rowsOf, valuesOf } from './rows.ts'

/** A host that receives mail for a domain, as an operator stated. */
export type ReceivingHost = {
  /** The domain of reporters' addresses, in lower case. */
  domain: string
  /** The name of a host, in lower case, or a CIDR block. */
  host: string
  note: string
  createdAt: Date
}

/** Returns all hosts by domain; there are at most a few thousand. */
export function listReceivingHosts(db: Db): Promise<ReceivingHost[]> {
  return rowsOf(db)`select domain, host, note, created_at as "createdAt" from receiving_hosts
    order by domain, host`
}

export async function countReceivingHosts(db: Db): Promise<number> {
  const found = await rowOf(db)<{ count: number }>`
    select count(*)::integer as count from receiving_hosts`
  return found?.count ?? 0
}

/** Adds a host; false if it is known for its domain. */
export function insertReceivingHost(tx: Db, host: ReceivingHost): Promise<boolean> {
  return changesAny(tx)`insert into receiving_hosts (domain, host, note, created_at)
    values (${host.domain}, ${host.host}, ${host.note}, ${host.createdAt})
    on conflict (domain, host) do nothing`
}

/** Removes a host; false if it is not known for its domain. */
export function removeReceivingHost(
  tx: Db,
  { domain, host }: Pick<ReceivingHost, 'domain' | 'host'>,
): Promise<boolean> {
  return changesAny(tx)`
    delete from receiving_hosts where domain = ${domain} and host = ${host}`
}

/**
 * A reporter, and who receives mail for the mailbox: the address is that of the provider's account
 * for a mailbox user, else the reporter's own. One row for each host, or one without a host.
 */
type Mailbox = {
  reporterId: string
  email: string
  address: string
  providerId: string | null
  host: string | null
}

/** Returns the mailboxes of several reporters, unordered. */
export function listMailboxesOf(db: Db, reporterIds: readonly string[]): Promise<Mailbox[]> {
  return preparedRowsOf(db)<Mailbox>`
    select reporters.id as "reporterId", reporters.email, reporters.provider_id as "providerId",
      coalesce(provider.email, reporters.email) as address, host
    from reporters left join reporters as provider on provider.id = reporters.provider_id
      left join receiving_hosts
        on receiving_hosts.domain = split_part(coalesce(provider.email, reporters.email), '@', -1)
    where ${isOneOf('reporters.id', reporterIds, 'uuid[]')} order by 1, 5`
}

/**
 * Returns reporters with an address at a domain, and mailbox users of such reporters: the latest
 * `limit`.
 */
export function listReportersAt(db: Db, domain: string, limit: number): Promise<string[]> {
  return valuesOf(db)`
    with own as (select id from reporters where split_part(email, '@', -1) = ${domain})
    select id from own union select id from reporters where provider_id in (select id from own)
    order by id desc limit ${limit}`
}

/** Returns the mailbox users of a provider's account: the latest `limit`. */
export function listMailboxUsers(db: Db, providerId: string, limit: number): Promise<string[]> {
  return valuesOf(db)`
    select id from reporters where provider_id = ${providerId} order by id desc limit ${limit}`
}
