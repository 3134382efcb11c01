import { parseArgs } from 'node:util'
import { z } from 'zod'
import type { App } from '../app.ts'
import type { Config } from '../config.ts'
import {
  findReputationsByName,
  type ShownReputation,
  showReputation,
} from '../counting/reputation-reader.ts'
import { dateOf, DAY_MS } from '../durations.ts'
import { CallerError, UsageError } from '../errors.ts'
import { findListed } from '../lists/delist.ts'
import { exemptFromLists, removeListExemption } from '../lists/list-actions.ts'
import { runPublishLists } from '../lists/publish-lists.ts'
import { concealKeys } from '../mail/conceal-keys.ts'
import { knownZones } from '../mail/dnsbl.ts'
import type { ZoneState } from '../net/blacklists.ts'
import { openDns } from '../processes/open-network.ts'
import { listedJson } from '../verdict/lists/judge-candidate.ts'
import { readListQuestion } from '../verdict/lists/questions.ts'
import { isSubjectKind, type SubjectKind, subjectKinds } from '../verdict/reputation/subject.ts'
import type { Clock } from '../world.ts'
import { columns, defineQuery, type Operations } from './command.ts'
import { inEnglish } from '../texts/phrases.ts'

/** The output of the blacklist test, and whether every list may be queried. */
export type BlacklistReport = { text: string; isSound: boolean }

/**
 * Tests the configured lists (RFC 5782 §5) and returns one line per list with its state. Without
 * configured lists, names the known ones.
 *
 * @throws UsageError listing every invalid entry of BLACKLISTS
 */
export async function testBlacklists(
  config: Pick<Config, 'dnsServers' | 'blacklists'>,
  clock: Clock,
): Promise<BlacklistReport> {
  const dns = await openDns(config, { clock })
  const states = await dns.blacklists.test()
  dns.close()
  if (states.length === 0) {
    const known = knownZones.map(({ zone, lists }) => `  ${zone.padEnd(26)}${lists}`)
    return { text: ['BLACKLISTS is empty. Known lists:', ...known].join('\n'), isSound: true }
  }
  const rows = [['zone', 'lists', 'state', 'ms', 'reason'], ...states.map(rowOf)]
  return { text: columns(rows).join('\n'), isSound: states.every(({ state }) => state === 'on') }
}

function rowOf({ zone, lists, state, hasIpv6, testMs, reason }: ZoneState): string[] {
  const what =
    lists === 'domains' || state === 'off' ? lists : `${lists}${hasIpv6 ? '' : ' (IPv4)'}`
  return [zone, what, state, String(testMs ?? ''), reason ?? '']
}

const publish = defineQuery({
  name: 'lists publish',
  summary: 'publish the DNS lists',
  async print(_, app) {
    const manifest = await runPublishLists(app)
    return manifest
      ? JSON.stringify(manifest, null, 2)
      : 'Another process is publishing the lists. Try again later.'
  },
})

const show = defineQuery({
  name: 'lists show',
  summary: 'show whether an address, domain or host is listed, as JSON',
  input: z.object({ name: z.string({ error: 'Enter a name.' }).meta({ argument: 'NAME' }) }),
  async print({ name: text }, { pool, clock }) {
    const question = readListQuestion(text)
    if (!question) throw new CallerError(422, `"${text}" is not an address, domain, host or link.`)
    const { name, asks } = question
    const listed = (await findListed({ pool, clock }, asks)).map(listedJson)
    return JSON.stringify({ name, is_listed: listed.length > 0, listed }, null, 2)
  },
})

export const operations: Operations = [publish, show, exemptFromLists, removeListExemption]

export type ReputationRequest = { kind: SubjectKind | undefined; name: string; isJson: boolean }

const FOUND_MAX = 20
const DAYS_SHOWN = 14

/** Parses `[KIND] NAME [--json]`. */
export function parseReputation(args: readonly string[]): ReputationRequest {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { json: { type: 'boolean', default: false } },
  })
  const [first, second, ...more] = positionals
  const isJson = values.json
  if (first === undefined || more.length > 0) {
    throw new UsageError(['Use "reputation NAME" or "reputation KIND NAME".'])
  }
  if (second === undefined) return { kind: undefined, name: normal(first), isJson }
  if (!isSubjectKind(first)) {
    const kinds = Object.keys(subjectKinds).join(', ')
    throw new UsageError([`Unknown kind "${first}". The kinds are ${kinds}.`])
  }
  return { kind: first, name: normal(second), isJson }
}

/** Converts a name to lower case, except a link, because links are case-sensitive. */
function normal(name: string): string {
  return name.includes('/') ? name : name.toLowerCase()
}

/**
 * Returns the reputations of a name, of one kind or all kinds, as text or JSON, and whether any
 * exist.
 */
export async function describeReputation(
  { kind, name, isJson }: ReputationRequest,
  { pool, clock }: Pick<App, 'pool' | 'clock'>,
): Promise<{ text: string; isKnown: boolean }> {
  const now = clock()
  const found = await findReputationsByName(pool, { name, kind, limit: FOUND_MAX }, now)
  const exact = found.filter(({ subject }) => subject.name === name).map(({ subject }) => subject)
  const asked = exact.length === 0 && kind !== undefined ? [{ kind, name }] : exact
  const shown = await Promise.all(asked.map((subject) => showReputation(pool, subject, now)))
  const isKnown = shown.some(({ detail, mark }) => detail !== null || mark !== null)
  if (isJson) {
    const inWords = shown.map((one) => ({ ...one, why: one.why.map(inEnglish) }))
    return { text: concealKeys(JSON.stringify(inWords)), isKnown }
  }
  const others = found.filter(({ subject }) => subject.name !== name)
  const lines = [
    ...(shown.length === 0 ? [`No reputation is stored for ${name}.`] : shown.map(textOf)),
    ...(others.length === 0
      ? []
      : [
          'Longer names that start with it:',
          ...others.map(({ subject }) => `  ${subject.kind} ${subject.name}`),
        ]),
  ]
  return { text: concealKeys(lines.join('\n\n')), isKnown }
}

function textOf({ subject, reputation, detail, mark, why }: ShownReputation): string {
  const { firstSeenAt, lastSeenAt, flags } = reputation
  const days = (detail?.days ?? []).slice(-DAYS_SHOWN).map(({ day, good, bad, newcomers }) => {
    const date = dateOf(new Date(day * DAY_MS))
    return `  ${date}  for ${good.toFixed(1)}  against ${bad.toFixed(1)}  newcomers ${newcomers}`
  })
  return [
    `${subject.kind} ${subject.name}`,
    `  score   ${reputation.score.toFixed(2)}   evidence ${reputation.weight.toFixed(2)}`,
    `  flags   ${flags.join(', ') || '-'}`,
    `  seen    ${firstSeenAt?.toISOString() ?? '-'} to ${lastSeenAt?.toISOString() ?? '-'}`,
    ...(mark
      ? [`  manual  ${mark.mark} until ${mark.untilAt?.toISOString() ?? 'removed'}: ${mark.reason}`]
      : []),
    ...why.map((sentence) => `  ${inEnglish(sentence)}`),
    ...days,
  ].join('\n')
}
