import type { Logger } from '../log.ts'
import {
  addressQuestion,
  type BlacklistZone,
  domainQuestion,
  type BlacklistEntry,
  readZoneAnswer,
  testEntries,
  type TestEntry,
} from '../mail/dnsbl.ts'
import { addressScope, type IpAddress, parseIp } from '../mail/ip.ts'
import type { Clock, Resolve } from '../world.ts'
import { inTime } from './resolver.ts'

/** Why a zone may not be asked. `isSilent`: nobody answered, so it may be sound all the same. */
type ZoneFault = { why: string; isSilent: boolean }

/** How a zone stood its test. */
export type TestedZone = { isSound: true; hasIpv6: boolean } | ({ isSound: false } & ZoneFault)

/**
 * Asks a zone for what every list must and must not list (RFC 5782 §5): a list that is gone answers
 * no to everything, or yes. One without entries for IPv6 is good for IPv4 alone.
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
      ? `It does not list its test entry ${shown}.`
      : `It lists ${shown}, which no list may.`
  return { why, isSilent: false }
}

/** What one zone says of one subject. `unknown` is not clean. */
type Said =
  | { is: 'listed'; listings: readonly BlacklistEntry[] }
  | { is: 'clean' }
  | { is: 'unknown'; why: string }

/** How a zone stands. */
export type ZoneState = {
  zone: string
  lists: BlacklistZone['lists']
  state: 'untested' | 'on' | 'off'
  /** Why it is off. */
  reason: string | undefined
  hasIpv6: boolean
  /** How long its last test took. */
  testMs: number | undefined
  questions: number
  listed: number
  unknown: number
}

/** A zone that is asked only while it passes its tests. */
type WatchedZone = {
  zone: BlacklistZone
  /** As it stands at this moment. */
  state: () => ZoneState
  /** Resolves when the zone has passed or failed. */
  test: () => Promise<void>
  /**
   * Starts a test that is due. Resolves when the zone may be asked or not: a zone that was never
   * tested, or is off, is waited for while it is tested.
   */
  ready: () => Promise<void>
  /** `name` is the question, `family` that of the address it is about. */
  ask: (name: string, about: { subject: string; family: 4 | 6 | undefined }) => Promise<Said>
}

/** What watching a zone takes. */
export type WatchOptions = {
  resolve: Resolve
  clock: Clock
  /** Told when a zone goes off and on. */
  log?: Pick<Logger, 'info' | 'warn'>
}

const minute = 60_000
/** Until the next test: a zone that is silent may only have lost its network for a moment. */
const pauses = { sound: 60 * minute, unsound: 10 * minute, silent: 2 * minute }
const UNANSWERED_MAX = 5

/**
 * Watches a zone: it is tested first and then every hour, and switched off when it fails, refuses
 * us, or leaves five questions in a row unanswered.
 */
function watchZone(zone: BlacklistZone, { resolve, clock, log }: WatchOptions): WatchedZone {
  const state = newState(zone)
  let [dueAt, unanswered] = [0, 0]
  let testing: Promise<void> | undefined

  function switchOff(reason: string, pauseMs: number): void {
    if (state.state !== 'off') log?.warn({ zone: zone.zone, reason }, 'A blacklist is off.')
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
    if (state.state === 'off') log?.info({ zone: zone.zone }, 'A blacklist is on again.')
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
      if (family === 6 && !state.hasIpv6) return unknown('It lists no IPv6.')
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

function unknown(why = 'The list is off.'): Said {
  return { is: 'unknown', why }
}

/** What to ask the lists about; of each, the first ten are asked for. */
type Subjects = { addresses: readonly string[]; domains: readonly string[] }

/** What a zone says, and of whom. */
type ZoneFinding = { zone: string; subject: string } & Said

/** Asks the DNS blacklists that the settings name. Nothing here rejects. */
export type Blacklists = {
  /** All listings, in the order of the zones, within three seconds. */
  listings: (subjects: Subjects) => Promise<BlacklistEntry[]>
  /** Every answer, unknown ones too; the same order and bound. */
  ask: (subjects: Subjects) => Promise<ZoneFinding[]>
  /** Tests all zones now. Resolves when all have passed or failed. */
  test: () => Promise<readonly ZoneState[]>
  states: () => readonly ZoneState[]
}

/** One address or domain, read. */
type Subject = { subject: string; address: IpAddress | undefined }

/** A question to a zone, and what came of it so far. */
type Question = Subject & { name: string; said: Said }

const ASK_MS_MAX = 3_000
const SUBJECTS_MAX = 10

/** Names that never leave their network (RFC 6761, RFC 8375, RFC 7686). */
const privateName = /(?:^|\.)(?:localhost|local|lan|internal|home\.arpa|onion|invalid|test)$/

/**
 * The lists of `zones`, all asked at once. `isAskable` says which addresses they may be asked
 * about: those of the public Internet, unless told otherwise.
 */
export function createBlacklists(
  options: WatchOptions & {
    zones: readonly BlacklistZone[]
    isAskable?: (address: IpAddress) => boolean
  },
): Blacklists {
  const { isAskable = isPublic } = options
  const watched = options.zones.map((zone) => watchZone(zone, options))

  async function ask(given: Subjects): Promise<ZoneFinding[]> {
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
    await inTime(Promise.all(all), ASK_MS_MAX, [])
    return asked.flatMap(({ one, questions }) =>
      questions.map(({ subject, said }) => ({ zone: one.zone.zone, subject, ...said })),
    )
  }

  const states = () => watched.map((one) => one.state())
  return {
    ask,
    listings: async (subjects) =>
      (await ask(subjects)).flatMap((finding) => (finding.is === 'listed' ? finding.listings : [])),
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

/** Each name is asked for once: two hosts of one domain are the same to most lists. */
function questionsOf(zone: BlacklistZone, subjects: readonly Subject[]): Question[] {
  const questions = new Map<string, Question>()
  for (const subject of subjects) {
    const name = nameOf(zone, subject)
    if (name === undefined || questions.has(name)) continue
    const said: Said = { is: 'unknown', why: 'The answer took too long.' }
    questions.set(name, { ...subject, name, said })
  }
  return [...questions.values()]
}

function nameOf(zone: BlacklistZone, { subject, address }: Subject): string | undefined {
  if (address) return zone.lists === 'domains' ? undefined : addressQuestion(zone.zone, address)
  return zone.lists === 'addresses' ? undefined : domainQuestion(zone, subject)
}
