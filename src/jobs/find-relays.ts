import type { Db } from '../db/pool.ts'
import { listRelaysOf } from '../db/reporter-relays.ts'
import type { Report } from '../db/reports.ts'
import { type NetworkSet, networkSet } from '../mail/ip.ts'

/** What is known of the relays that a report came through. */
export type ReportRelays = {
  /** CIDR blocks: named with the report, or by its reporter before. */
  trustedRelays: readonly string[]
  /** CIDR blocks: taught by the reporter's earlier reports. */
  learnedRelays: readonly string[]
  /** What the reporter said of machines, in favor and against. */
  said: { mine: NetworkSet; notMine: NetworkSet }
}

/** The relays of each of the reports, by the id of the report. */
export async function findRelays(
  db: Db,
  reports: readonly Pick<Report, 'id' | 'reporterId' | 'receivedVia'>[],
): Promise<(id: string) => ReportRelays> {
  const relays = await listRelaysOf(db, [...new Set(reports.map(({ reporterId }) => reporterId))])
  const found = new Map(
    reports.map(({ id, reporterId, receivedVia }) => {
      const known = (how: string) =>
        relays.flatMap((relay) =>
          relay.reporterId === reporterId && relay.how === how ? [relay.cidr] : [],
        )
      const set = known('set')
      return [
        id,
        {
          trustedRelays: [...receivedVia, ...set],
          learnedRelays: known('learned'),
          said: { mine: networkSet(set), notMine: networkSet(known('refused')) },
        },
      ] as const
    }),
  )
  const nothing = networkSet([])
  const none = { trustedRelays: [], learnedRelays: [], said: { mine: nothing, notMine: nothing } }
  return (id) => found.get(id) ?? none
}
