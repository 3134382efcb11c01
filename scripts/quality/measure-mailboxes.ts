import { existsSync, readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { domainOf } from '../../src/mail/address.ts'
import { type Header, parseHeader } from '../../src/mail/header.ts'
import { type AnalysisOptions, analyzePlainly } from '../../src/pieces/analyze.ts'
import { blockOfAddress } from '../../src/mail/ip-blocks.ts'
import { parseIp } from '../../src/mail/ip.ts'
import { type Hop, readHops } from '../../src/origin/hop.ts'
import { findWayIn } from '../../src/origin/way-in.ts'
import type { Resolve } from '../../src/world.ts'

/** How the origin that was found compares with the machine that handed the message over. */
export const outcomes = ['right-sure', 'right-asked', 'wrong-asked', 'wrong-sure', 'none'] as const
export type Outcome = (typeof outcomes)[number]

/** What is known of an installation before its messages are measured. */
type Known = 'exchangers' | 'probe'

/** The outcomes of the messages of an installation. */
type InstallationOutcomes = { name: string; counts: Record<Outcome, number> }

/** The default of `ORIGIN_CONFIDENCE_MIN`; below it, the reporter is asked. */
const SURE_MIN = 0.7

/** What is known of a message of an installation. */
type Truth = { file: string; handover: string | null; label: 'wanted' | 'unwanted' | null }
type Meta = { own_by: string; own_from?: string }

/**
 * Finds the origin of every message of the installations in `folder`, as for a first report whose
 * reporter said nothing before. An installation is a folder with `messages`, `truth.jsonl` and
 * `meta.json`. With `exchangers`, the names and addresses of the hosts that write Received
 * fields for the installation are known, as from MX records; with `probe`, the way of one message,
 * as of a test letter. That message is not measured.
 */
export async function measureMailboxes(
  folder: string,
  { known, explain }: { known: Known | 'nothing'; explain: (line: string) => void },
): Promise<InstallationOutcomes[]> {
  const measured: InstallationOutcomes[] = []
  for (const name of readdirSync(folder).toSorted()) {
    const own = path.join(folder, name)
    if (!existsSync(path.join(own, 'truth.jsonl'))) continue
    const messages = await readMessages(own)
    const exchangers =
      known === 'exchangers' ? await ownHosts(own, messages.map(headerOf)) : undefined
    const probe = known === 'probe' ? await probeOf(messages) : undefined
    const counts = { 'right-sure': 0, 'right-asked': 0, 'wrong-asked': 0, 'wrong-sure': 0, none: 0 }
    for (const { file, handover, raw, hops } of messages) {
      if (file === probe?.file) continue
      const { origin } = await analyzePlainly(raw, {
        trustedRelays: [],
        ignoreStamps: false,
        ...probe?.options,
        ...(exchangers && { exchangers: { ...exchangers, domain: recipientDomain(hops) } }),
      })
      const isRight = origin?.ip === parseIp(handover)?.text
      const isSure = origin !== null && origin.confidence >= SURE_MIN
      const outcome: Outcome =
        origin === null ? 'none' : `${isRight ? 'right' : 'wrong'}-${isSure ? 'sure' : 'asked'}`
      counts[outcome]++
      explain([name, file, outcome, origin?.ip, origin?.confidence, handover].join('\t'))
    }
    measured.push({ name, counts })
  }
  return measured
}

/** The domain that the topmost line with a recipient names. */
function recipientDomain(hops: readonly Hop[]): string {
  const recipient = hops.find(({ field }) => field?.for !== undefined)?.field?.for
  return domainOf(recipient ?? '') ?? ''
}

/**
 * What a test letter would show that took the way of a message: of the one with the middle number
 * of lines. It comes from the machine that handed that message over.
 */
async function probeOf(messages: readonly Message[]) {
  const ordered = messages.toSorted((one, other) => one.hops.length - other.hops.length)
  const probe = ordered[Math.floor(ordered.length / 2)]
  if (!probe) return undefined
  const policy = `v=spf1 ip${probe.handover.includes(':') ? 6 : 4}:${probe.handover} -all`
  const resolve: Resolve = async () => ({ is: 'found', records: [policy] })
  const sender = { domain: 'site.example', relayHost: undefined }
  const way = await findWayIn(probe.hops, sender, resolve)
  if (!way) return undefined
  const { border, relays } = way
  const trustedRelays = relays.flatMap(({ ip }) => blockOfAddress(ip) ?? [])
  return { file: probe.file, options: { trustedRelays, borders: border ? [border] : [] } }
}

type Message = { file: string; handover: string; raw: Buffer; hops: Hop[] }

const headerOf = ({ raw }: Message) => parseHeader(raw)

/** Reads what is known of the messages of the installation in a folder. */
export async function readTruths(own: string): Promise<Truth[]> {
  const lines = (await readFile(path.join(own, 'truth.jsonl'), 'utf8')).split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Truth)
}

async function readMessages(own: string): Promise<Message[]> {
  const known: Message[] = []
  for (const { file, handover } of await readTruths(own)) {
    if (handover === null) continue
    const raw = await readFile(path.join(own, 'messages', file))
    known.push({ file, handover, raw, hops: readHops(parseHeader(raw).fields) })
  }
  return known
}

/**
 * The hosts that write fields for an installation, with the addresses that Received fields or
 * `meta.json` name.
 */
export async function ownHosts(
  own: string,
  headers: readonly Header[],
): Promise<NonNullable<AnalysisOptions['exchangers']>> {
  const { own_by, own_from = '' } = JSON.parse(
    await readFile(path.join(own, 'meta.json'), 'utf8'),
  ) as Meta
  const isOwn = new RegExp(own_by, 'i')
  const hops = headers.flatMap(({ fields }) => readHops(fields))
  const names = new Set(
    hops.flatMap(({ byHost }) => (byHost !== undefined && isOwn.test(byHost) ? [byHost] : [])),
  )
  const addresses = hops.flatMap(({ rdns, fromIp }) =>
    rdns !== undefined && fromIp && names.has(rdns) ? [fromIp.text] : [],
  )
  const named = own_from.replaceAll('\\', '').match(/\d{1,3}(?:\.\d{1,3}){3}/g) ?? []
  return { domain: '', names: [...names], addresses: [...new Set([...addresses, ...named])] }
}
