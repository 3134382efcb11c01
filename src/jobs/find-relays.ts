import type { AnalysisOptions } from '../analysis/analyze.ts'
import type { Db } from '../db/pool.ts'
import { listRelaysOf } from '../db/reporter-relays.ts'
import { listReporterEmails } from '../db/reporters.ts'
import type { Report } from '../db/reports.ts'
import { type NetworkSet, networkSet } from '../mail/ip.ts'

/** What is known of the relays that a report came through. */
export type ReportRelays = {
  /** CIDR blocks named with the report, or by its reporter before; and those it taught us. */
  options: Required<Pick<AnalysisOptions, 'trustedRelays' | 'learnedRelays' | 'reporterAddresses'>>
  /** What the reporter said of machines, in favor and against. */
  said: { mine: NetworkSet; notMine: NetworkSet }
}

/** The relays of each of the reports, by the id of the report. */
export async function findRelays(
  db: Db,
  reports: readonly Pick<Report, 'id' | 'reporterId' | 'receivedVia'>[],
): Promise<(id: string) => ReportRelays> {
  const reporterIds = [...new Set(reports.map(({ reporterId }) => reporterId))]
  const [relays, addresses] = await Promise.all([
    listRelaysOf(db, reporterIds),
    listReporterEmails(db, reporterIds),
  ])
  const found = new Map(
    reports.map(({ id, reporterId, receivedVia }) => {
      const known = (how: string) =>
        relays.flatMap((relay) =>
          relay.reporterId === reporterId && relay.how === how ? [relay.cidr] : [],
        )
      const set = known('set')
      const address = addresses.get(reporterId)
      return [
        id,
        {
          options: {
            trustedRelays: [...receivedVia, ...set],
            learnedRelays: known('learned'),
            reporterAddresses: address === undefined ? [] : [address.toLowerCase()],
          },
          said: { mine: networkSet(set), notMine: networkSet(known('refused')) },
        },
      ] as const
    }),
  )
  const nothing = networkSet([])
  const none: ReportRelays = {
    options: { trustedRelays: [], learnedRelays: [], reporterAddresses: [] },
    said: { mine: nothing, notMine: nothing },
  }
  return (id) => found.get(id) ?? none
}
