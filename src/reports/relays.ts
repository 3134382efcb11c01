import type { Db } from '../db/pool.ts'
import { listMailboxesOf } from '../db/receiving-hosts.ts'
import { listRelaysOf } from '../db/reporter-relays.ts'
import type { Report } from '../db/reports.ts'
import { networkSet, type NetworkSet, parseIp } from '../mail/ip.ts'
import type { AnalysisDigest } from '../parsing/parser-pool.ts'
import type { AnalysisOptions } from '../pieces/analyze.ts'
import { openCandidates } from '../verdict/relays.ts'

export type ReportRelays = {
  /**
   * CIDR blocks named in this report or earlier by its reporter or by an operator, blocks learned
   * from the reporter's history, and blocks that the reporter denied. For a mailbox user, what is
   * known of the provider's account counts too.
   */
  options: Required<
    Pick<
      AnalysisOptions,
      'trustedRelays' | 'learnedRelays' | 'deniedRelays' | 'borders' | 'reporterAddresses'
    >
  >
  /** The address at whose domain the reporter's mail is received, if known. */
  mailbox: string | undefined
  /** The machines that the reporter confirmed or denied as the provider's. */
  confirmed: { mine: NetworkSet; notMine: NetworkSet }
  /** Returns how an address is known (`set`, `learned`, `refused`), as a string to compare. */
  knownOf: (ip: string) => string
}

export async function findRelays(
  db: Db,
  reports: readonly Pick<Report, 'id' | 'reporterId' | 'receivedVia'>[],
): Promise<(id: string) => ReportRelays> {
  const reporterIds = [...new Set(reports.map(({ reporterId }) => reporterId))]
  const [own, mailboxes] = await Promise.all([
    listRelaysOf(db, reporterIds),
    listMailboxesOf(db, reporterIds),
  ])
  const providerIds = [...new Set(mailboxes.flatMap(({ providerId }) => providerId ?? []))]
  const relays = providerIds.length === 0 ? own : [...own, ...(await listRelaysOf(db, providerIds))]
  const found = new Map(
    reports.map(({ id, reporterId, receivedVia }) => {
      const its = mailboxes.filter((one) => one.reporterId === reporterId)
      const [mailbox] = its
      const known = (how: string) =>
        relays.flatMap((relay) =>
          [reporterId, mailbox?.providerId].includes(relay.reporterId) && relay.how === how
            ? [relay.host]
            : [],
        )
      const hosts = its.flatMap(({ host }) => host ?? [])
      const set = [...known('set'), ...hosts.filter(isBlock)]
      const refused = known('refused')
      return [
        id,
        {
          options: {
            trustedRelays: [...receivedVia, ...set],
            learnedRelays: known('learned'),
            deniedRelays: refused,
            borders: [...known('border'), ...hosts.filter((host) => !isBlock(host))],
            reporterAddresses: mailbox ? [mailbox.email] : [],
          },
          mailbox: mailbox?.address,
          confirmed: { mine: networkSet(set), notMine: networkSet(refused) },
          knownOf: describeKnown([
            ['set', set],
            ['learned', known('learned')],
            ['refused', refused],
          ]),
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
    mailbox: undefined,
    confirmed: { mine: nothing, notMine: nothing },
    knownOf: () => '',
  }
  return (id) => found.get(id) ?? none
}

function isBlock(host: string): boolean {
  return host.includes('/')
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
