import type { Logger } from '../log.ts'
import {
  addressQuestion,
  type BlacklistZone,
  domainQuestion,
  queriedZone,
  type BlacklistEntry,
  readZoneAnswer,
  testEntries,
  type TestEntry,
} from '../mail/dnsbl.ts'
import { addressScope, type IpAddress, parseIp } from '../mail/ip.ts'
import { type Clock, inTime, type Resolve } from '../world.ts'

/** Why a zone must not be queried. `isSilent`: it did not answer, so it may work again soon. */
type ZoneFault = { why: string; isSilent: boolean }

export type TestedZone = { isSound: true; hasIpv6: boolean } | ({ isSound: false } & ZoneFault)

/**
 * Tests a zone with the entries that every list must and must not contain (RFC 5782 §5): a list
 * that has shut down may answer every query with no, or with yes. A zone without entries for IPv6
 * is used for IPv4 only.
 */
export async function testZone(zone: BlacklistZone, resolve: Resolve): Promise<TestedZone> {
  const { ipv4, ipv6, domains } = testEntries(zone)
  const faultOf = async (pair: { listed: TestEntry; unlisted: TestEntry } | undefined) => {
    if (!pair) return undefined
    const [unlisted, listed] = await Promise.all([
      faultOfEntry(zone, pair.unlisted, 'clean', resolve),
      faultOfEntry(zone, pair.listed, 'listed', resolve),
    ])
    return unlisted ?? listed
  }
  const [fault4, fault6, faultDomains] = await Promise.all([ipv4, ipv6, domains].map(faultOf))
  const fault = fault4 ?? faultDomains
  if (fault) return { isSound: false, ...fault }
  return { isSound: true, hasIpv6: ipv6 !== undefined && fault6 === undefined }
}

async function faultOfEntry(
  zone: BlacklistZone,
  { name, shown }: TestEntry,
  expected: 'listed' | 'clean',
  resolve: Resolve,
): Promise<ZoneFault | undefined> {
  const answer = await resolve(name, 'A')
  if (answer.is === 'unknown') return { why: answer.why, isSilent: true }
  const records = answer.is === 'found' ? answer.records : []
  const reading = readZoneAnswer(zone, shown, records)
  if (reading.is === expected) return undefined
  if (reading.is === 'refused') return { why: reading.why, isSilent: false }
  const why =
    expected === 'listed'
      ? `The list does not contain its test entry ${shown}.`
      : `The list contains ${shown}, which no list may contain.`
  return { why, isSilent: false }
}

/** What one zone answered about one subject. `unknown` does not mean clean. */
type ZoneReply =
  | { is: 'listed'; listings: readonly BlacklistEntry[] }
  | { is: 'clean' }
  | { is: 'unknown'; why: string }

export type ZoneState = {
  zone: string
  lists: BlacklistZone['lists']
  state: 'untested' | 'on' | 'off'
  /** Why the zone is off. */
  reason: string | undefined
  hasIpv6: boolean
  /** Duration of the last test of the zone in milliseconds. */
  testMs: number | undefined
  questions: number
  listed: number
  unknown: number
}

/** A zone that is queried only while it passes its tests. */
type WatchedZone = {
  zone: BlacklistZone
  state: () => ZoneState
  /** Tests the zone; resolves when it has passed or failed. */
  test: () => Promise<void>
  /**
   * Starts a test if one is due. Waits for the test of a zone that was never tested or is off;
   * otherwise resolves immediately.
   */
  ready: () => Promise<void>
  /** Queries `name`. `family` is the family of the address that the query is about. */
  ask: (name: string, about: { subject: string; family: 4 | 6 | undefined }) => Promise<ZoneReply>
}

export type WatchOptions = {
  resolve: Resolve
  clock: Clock
  /** Logs when a zone is switched off and on. */
  log?: Pick<Logger, 'info' | 'warn'>
}

const minute = 60_000
/**
 * Time in milliseconds until the next test; short for a silent zone, because its network may have
 * failed only briefly.
 */
const pauses = { sound: 60 * minute, unsound: 10 * minute, silent: 2 * minute }
const UNANSWERED_MAX = 5

/**
 * Returns a zone that is tested first and then every hour. It is switched off when it fails a test,
 * refuses our queries, or leaves five queries in a row unanswered.
 */
function watchZone(zone: BlacklistZone, { resolve, clock, log }: WatchOptions): WatchedZone {
  const state = newState(zone)
  let [dueAt, unanswered] = [0, 0]
  let testing: Promise<void> | undefined

  function switchOff(reason: string, pauseMs: number): void {
    if (state.state !== 'off') log?.warn({ zone: zone.zone, reason }, 'Switched a blacklist off.')
    Object.assign(state, { state: 'off', reason })
    dueAt = clock().getTime() + pauseMs
  }

  async function retest(): Promise<void> {
    const began = performance.now()
    const tested = await testZone(zone, resolve)
    state.testMs = Math.round(performance.now() - began)
    unanswered = 0
    if (!tested.isSound) {
      return switchOff(tested.why, tested.isSilent ? pauses.silent : pauses.unsound)
    }
    if (state.state === 'off') log?.info({ zone: zone.zone }, 'Switched a blacklist on again.')
    Object.assign(state, { state: 'on', reason: undefined, hasIpv6: tested.hasIpv6 })
    dueAt = clock().getTime() + pauses.sound
  }

  function test(): Promise<void> {
    testing ??= retest().finally(() => (testing = undefined))
    return testing
  }

  return {
    zone,
    state: () => ({ ...state }),
    test,
    async ready() {
      const started = clock().getTime() >= dueAt ? test() : testing
      if (state.state !== 'on') await started
    },
    async ask(name, { subject, family }) {
      if (state.state === 'off') return unknown(state.reason)
      if (family === 6 && !state.hasIpv6) return unknown('The list has no IPv6 entries.')
      state.questions += 1
      const answer = await resolve(name, 'A')
      if (answer.is === 'unknown') {
        state.unknown += 1
        unanswered += 1
        if (unanswered >= UNANSWERED_MAX) switchOff(answer.why, pauses.silent)
        return answer
      }
      unanswered = 0
      const records = answer.is === 'found' ? answer.records : []
      const reading = readZoneAnswer(zone, subject, records)
      if (reading.is === 'listed') state.listed += 1
      if (reading.is !== 'refused') return reading
      switchOff(reading.why, pauses.unsound)
      return unknown(reading.why)
    },
  }
}

function newState({ zone, lists }: BlacklistZone): ZoneState {
  return {
    zone,
    lists,
    state: 'untested',
    reason: undefined,
    hasIpv6: false,
    testMs: undefined,
    questions: 0,
    listed: 0,
    unknown: 0,
  }
}

function unknown(why = 'The list is switched off.'): ZoneReply {
  return { is: 'unknown', why }
}

/** The subjects to query the lists about; only the first ten of each kind are queried. */
type Subjects = { addresses: readonly string[]; domains: readonly string[] }

type ZoneFinding = { zone: string; subject: string } & ZoneReply

/** Queries the configured DNS blacklists. None of the functions rejects. */
export type Blacklists = {
  /**
   * Returns all listings, in the order of the zones, within `waitMs` milliseconds; by default
   * within three seconds.
   */
  listings: (subjects: Subjects, waitMs?: number) => Promise<BlacklistEntry[]>
  /**
   * Returns all answers, including unknown ones, in the order of the zones, within three seconds.
   */
  ask: (subjects: Subjects) => Promise<ZoneFinding[]>
  /** Tests all zones now. Resolves when all have passed or failed. */
  test: () => Promise<readonly ZoneState[]>
  states: () => readonly ZoneState[]
}

/** An address or domain, parsed. */
type Subject = { subject: string; address: IpAddress | undefined }

/** A query to a zone, and its answer so far. */
type Question = Subject & { name: string; said: ZoneReply }

const ASK_MS_MAX = 3_000
const SUBJECTS_MAX = 10

/** Names that are used only inside networks (RFC 6761, RFC 8375, RFC 7686). */
const privateName = /(?:^|\.)(?:localhost|local|lan|internal|home\.arpa|onion|invalid|test)$/

/**
 * Creates the client for `zones`, which are queried in parallel. `isAskable` decides which
 * addresses are queried; by default those of the public Internet.
 */
export function createBlacklists(
  options: WatchOptions & {
    zones: readonly BlacklistZone[]
    isAskable?: (address: IpAddress) => boolean
  },
): Blacklists {
  const { isAskable = isPublic } = options
  const watched = options.zones.map((zone) => watchZone(zone, options))

  async function ask(given: Subjects, waitMs = ASK_MS_MAX): Promise<ZoneFinding[]> {
    const subjects = readSubjects(given, isAskable)
    const asked = watched.map((one) => ({ one, questions: questionsOf(one.zone, subjects) }))
    const all = asked.map(async ({ one, questions }) => {
      if (questions.length === 0) return
      await one.ready()
      await Promise.all(
        questions.map(async (question) => {
          const { name, subject, address } = question
          question.said = await one.ask(name, { subject, family: address?.family })
        }),
      )
    })
    await inTime(Promise.all(all), waitMs, [])
    return asked.flatMap(({ one, questions }) =>
      questions.map(({ subject, said }) => ({ zone: one.zone.zone, subject, ...said })),
    )
  }

  const states = () => watched.map((one) => one.state())
  return {
    ask,
    listings: async (subjects, waitMs) =>
      (await ask(subjects, waitMs)).flatMap((finding) =>
        finding.is === 'listed' ? finding.listings : [],
      ),
    test: async () => {
      await Promise.all(watched.map((one) => one.test()))
      return states()
    },
    states,
  }
}

function isPublic(address: IpAddress): boolean {
  return addressScope(address) === 'public'
}

function readSubjects(
  { addresses, domains }: Subjects,
  isAskable: (address: IpAddress) => boolean,
): Subject[] {
  const read = addresses.map(parseIp).filter((address) => address !== undefined)
  const askable = new Map(read.filter(isAskable).map((address) => [address.text, address]))
  const names = domains.map((domain) => domain.toLowerCase().replace(/\.$/, ''))
  const outward = new Set(names.filter((name) => !privateName.test(name)))
  return [
    ...[...askable].slice(0, SUBJECTS_MAX).map(([subject, address]) => ({ subject, address })),
    ...[...outward].slice(0, SUBJECTS_MAX).map((subject) => ({ subject, address: undefined })),
  ]
}

/** Returns one query for each name: most lists treat two hosts of one domain as the same. */
function questionsOf(zone: BlacklistZone, subjects: readonly Subject[]): Question[] {
  const questions = new Map<string, Question>()
  for (const subject of subjects) {
    const name = questionNameOf(zone, subject)
    if (name === undefined || questions.has(name)) continue
    const timedOut: ZoneReply = { is: 'unknown', why: 'The answer took too long.' }
    questions.set(name, { ...subject, name, said: timedOut })
  }
  return [...questions.values()]
}

function questionNameOf(zone: BlacklistZone, { subject, address }: Subject): string | undefined {
  if (address) {
    return zone.lists === 'domains' ? undefined : addressQuestion(queriedZone(zone), address)
  }
  return zone.lists === 'addresses' ? undefined : domainQuestion(zone, subject)
}
