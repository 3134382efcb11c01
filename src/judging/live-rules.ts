import { follow } from '../db/follow.ts'
import type { Pool } from '../db/pool.ts'
import { addRuleListHits } from '../db/rule-lists.ts'
import { findRuleSet, keepRuleProcess, removeRuleProcess } from '../db/rule-sets.ts'
import type { Logger } from '../log.ts'
import type { FactDefinition } from '../verdict/facts/fact.ts'
import {
  type Compiled,
  compileRules,
  type RuleBook,
  type RuleHealth,
} from '../verdict/rules/rule-book.ts'
import { faultLine } from '../verdict/rules/rule-file.ts'
import type { RuleListHits } from '../verdict/rules/rule-lists.ts'
import { type Clock, systemElapsed, uuidv7 } from '../world.ts'
import { type LoadedRuleLists, loadRuleLists, shippedRules } from './rule-versions.ts'

export type LiveRulesOptions = {
  pool: Pool
  clock: Clock
  log: Logger
  /** Name of the process in the list of processes. */
  name: string
  definitions: readonly FactDefinition[]
  /** The version of the model that the process uses. */
  modelVersion?: () => number | undefined
}

export type LiveRules = {
  /** Returns the current rules. Call it once for each message, so that a single set judges it. */
  current: () => RuleBook
  state: () => LiveRulesState
  /** Stops following; the last rules stay in use. */
  close: () => Promise<void>
}

/**
 * The active version in this process, 0 for the shipped rules, and why a newer one is not active.
 */
type LiveRulesState = {
  version: number
  fault: string | undefined
  health: RuleHealth[]
}

/** Interval in milliseconds at which a process records that it is alive. */
const RECORD_EVERY_MS = 10_000
/** Time in milliseconds without a stored record after which a process counts as stopped. */
export const RULE_PROCESS_FORGOTTEN_MS = 60_000

/** The rules that this process applies, and their state as other processes see it. */
class ActiveRules {
  readonly #options: LiveRulesOptions
  #book: RuleBook
  #version = 0
  #fault: string | undefined
  #loaded: LoadedRuleLists | undefined
  /** Whether the state changed since it was last stored. */
  isUnrecorded = true

  constructor(options: LiveRulesOptions) {
    this.#options = options
    const shipped = this.#compile(shippedRules(), 0)
    if ('faults' in shipped) {
      throw new Error(`The program's own rules: ${shipped.faults.map(faultLine).join('; ')}`)
    }
    this.#book = shipped.rules
  }

  get book(): RuleBook {
    return this.#book
  }

  state(): LiveRulesState {
    return { version: this.#version, fault: this.#fault, health: this.#book.health() }
  }

  /** The number of times that entries of the lists were found since the last call. */
  takeHits(): RuleListHits[] {
    return this.#loaded?.lists.takeHits() ?? []
  }

  /** Whether an entry of the lists has ended since they were loaded. */
  hasEnded(now: Date): boolean {
    const { changesAt } = this.#loaded ?? {}
    return changesAt !== undefined && changesAt <= now
  }

  takeLists(loaded: LoadedRuleLists): void {
    this.#loaded = loaded
  }

  take(version: number, content: string): void {
    const { log } = this.#options
    this.isUnrecorded = true
    const compiled = this.#compile(content, version)
    if ('faults' in compiled) {
      this.#fault = compiled.faults.map(faultLine).join('\n')
      const [first] = compiled.faults
      const fields = { version, acting: this.#version, fault: first && faultLine(first) }
      log.error(
        fields,
        'This version of the program cannot run the new rules. The previous rules stay active.',
      )
      return
    }
    this.#book = compiled.rules
    this.#version = version
    this.#fault = undefined
    log.info({ version, rules: compiled.rules.rules.length }, 'Loaded the active rules.')
  }

  #compile(content: string, version: number): Compiled {
    return compileRules(content, this.#options.definitions, {
      elapsed: systemElapsed,
      lists: () => this.#loaded?.lists,
      onCutOff: (symbol, { why, costUs }) => {
        const fields = { version, symbol, why, costUs }
        this.#options.log.error(fields, 'A rule took too much time and was switched off.')
        this.isUnrecorded = true
      },
    })
  }
}

/**
 * Follows the versions of the rules and their lists: a new one takes effect in each process within
 * two seconds. A
 * version that this program cannot compile is reported and changes nothing; if there are no rules
 * yet, the shipped rules apply.
 *
 * @throws when the database is unreachable
 */
export async function openRules(options: LiveRulesOptions): Promise<LiveRules> {
  const { pool, clock, log, name } = options
  const id = uuidv7(clock())
  const active = new ActiveRules(options)
  let recordedAt = 0
  const loadLists = async () => {
    // The hits of the former lists would be lost with them.
    await addHits()
    active.takeLists(await loadRuleLists(pool, clock()))
  }
  const addHits = async () => {
    const hits = active.takeHits()
    if (hits.length > 0) await addRuleListHits(pool, hits, clock())
  }
  const onFailure = (err: unknown) =>
    log.warn({ err }, 'Could not update the rules or their statistics. Will retry.')
  const followingLists = await follow(pool, 'lists', {
    load: loadLists,
    async afterwards() {
      if (active.hasEnded(clock())) await loadLists()
    },
    onFailure,
  })
  const following = await follow(pool, 'rules', {
    async load(version) {
      if (version === 0) return
      const set = await findRuleSet(pool, version)
      if (!set) throw new Error(`Version ${version} of the rules is missing.`)
      active.take(version, set.content ?? shippedRules())
    },
    async afterwards() {
      const seenAt = clock()
      if (!active.isUnrecorded && seenAt.getTime() - recordedAt < RECORD_EVERY_MS) return
      active.isUnrecorded = false
      recordedAt = seenAt.getTime()
      await addHits()
      const { version, fault = null, health } = active.state()
      const modelVersion = options.modelVersion?.() ?? null
      const forgotten = new Date(recordedAt - RULE_PROCESS_FORGOTTEN_MS)
      const record = { id, name, version, modelVersion, fault, health, seenAt }
      await keepRuleProcess(pool, record, forgotten)
    },
    onFailure,
  }).catch(async (error: unknown) => {
    await followingLists.close()
    throw error
  })
  return {
    current: () => active.book,
    state: () => active.state(),
    async close() {
      await Promise.all([following.close(), followingLists.close()])
      await addHits().catch(() => undefined)
      await removeRuleProcess(pool, id).catch(() => undefined)
    },
  }
}
