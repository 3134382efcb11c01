import type { Db } from '../db/pool.ts'
import { listRelaysOf } from '../db/reporter-relays.ts'
import { listReporterEmails } from '../db/reporters.ts'
import type { Report } from '../db/reports.ts'
import { networkSet, type NetworkSet, parseIp } from '../mail/ip.ts'
import type { AnalysisDigest } from '../parsing/parser-pool.ts'
import type { AnalysisOptions } from '../pieces/analyze.ts'
import { openCandidates } from '../verdict/relays.ts'

/** The known relays of a report. */
export type ReportRelays = {
  /**
   * CIDR blocks named in this report or earlier by its reporter, blocks learned from the reporter's
   * history, and blocks that the reporter denied.
   */
  options: Required<
    Pick<
      AnalysisOptions,
      'trustedRelays' | 'learnedRelays' | 'deniedRelays' | 'borders' | 'reporterAddresses'
    >
  >
  /** The machines that the reporter confirmed or denied as the provider's. */
  confirmed: { mine: NetworkSet; notMine: NetworkSet }
  /** Returns how an address is known (`set`, `learned`, `refused`), as a string to compare. */
  knownOf: (ip: string) => string
}

/** Returns the relays of reports, by report id. `emails`: the reporters' addresses, if known. */
export async function findRelays(
  db: Db,
  reports: readonly Pick<Report, 'id' | 'reporterId' | 'receivedVia'>[],
  emails?: ReadonlyMap<string, string>,
): Promise<(id: string) => ReportRelays> {
  const reporterIds = [...new Set(reports.map(({ reporterId }) => reporterId))]
  const [relays, addresses] = await Promise.all([
    listRelaysOf(db, reporterIds),
    emails ?? listReporterEmails(db, reporterIds),
  ])
  const found = new Map(
    reports.map(({ id, reporterId, receivedVia }) => {
      const known = (how: string) =>
        relays.flatMap((relay) =>
          relay.reporterId === reporterId && relay.how === how ? [relay.host] : [],
        )
      const set = known('set')
      const refused = known('refused')
      const address = addresses.get(reporterId)
      return [
        id,
        {
          options: {
            trustedRelays: [...receivedVia, ...set],
            learnedRelays: known('learned'),
            deniedRelays: refused,
            borders: known('border'),
            reporterAddresses: address === undefined ? [] : [address.toLowerCase()],
          },
          confirmed: { mine: networkSet(set), notMine: networkSet(refused) },
          knownOf: describeKnown(
            (['set', 'learned', 'refused'] as const).map((how) => [how, known(how)]),
          ),
        },
      ] as const
    }),
  )
  const nothing = networkSet([])
  const none: ReportRelays = {
    options: {
      trustedRelays: [],
      learnedRelays: [],
      deniedRelays: [],
      borders: [],
      reporterAddresses: [],
    },
    confirmed: { mine: nothing, notMine: nothing },
    knownOf: () => '',
  }
  return (id) => found.get(id) ?? none
}

function describeKnown(statements: readonly (readonly [how: string, cidrs: readonly string[]])[]) {
  const sets = statements.map(([how, cidrs]) => ({ how, set: networkSet(cidrs) }))
  return (ip: string): string => {
    const address = parseIp(ip)
    return sets.flatMap(({ how, set }) => (address && set.has(address) ? [how] : [])).join(' ')
  }
}

/** A person is asked about at most so many machines of one message. */
const QUESTIONS_MAX = 2

/**
 * Returns the addresses to ask the reporter about; none if all candidates are already answered, or
 * after two answers.
 */
export function askable(
  { candidates, addressesAsked }: Pick<AnalysisDigest, 'candidates' | 'addressesAsked'>,
  { confirmed }: ReportRelays,
  answers = 0,
): readonly string[] {
  if (answers >= QUESTIONS_MAX) return []
  return openCandidates(candidates, confirmed).length > 0 ? addressesAsked : []
}
