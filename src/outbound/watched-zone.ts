import type { Logger } from '../log.ts'
import { type BlacklistZone, type Listing, readZoneAnswer } from '../mail/dnsbl.ts'
import type { Clock, Resolve } from '../world.ts'
import { testZone } from './zone-test.ts'

/** What one zone says of one subject. `unknown` is not clean. */
export type Said =
  { is: 'listed'; listings: readonly Listing[] } | { is: 'clean' } | { is: 'unknown'; why: string }

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
export type WatchedZone = {
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
export function watchZone(zone: BlacklistZone, { resolve, clock, log }: WatchOptions): WatchedZone {
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
