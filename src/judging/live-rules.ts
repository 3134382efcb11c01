import { type Listening, openListening } from '../db/follow.ts'
import type { Db, Pool } from '../db/pool.ts'
import {
  findRuleSet,
  listenForRuleSets,
  keepRuleProcess,
  newestRuleVersion,
  removeRuleProcess,
} from '../db/rule-sets.ts'
import { reasonOf } from '../errors.ts'
import type { Logger } from '../log.ts'
import type { FactDefinition } from '../verdict/facts/fact.ts'
import {
  type Compiled,
  compileRules,
  type RuleBook,
  type RuleHealth,
} from '../verdict/rules/rule-book.ts'
import { faultLine } from '../verdict/rules/rule-file.ts'
import { type Clock, systemElapsed, uuidv7 } from '../world.ts'
import { shippedRules } from './rule-versions.ts'

/** Options of live rules. */
export type LiveRulesOptions = {
  pool: Pool
  /** Connection string for notifications; without it new versions are found by polling. */
  listenUrl?: string | undefined
  clock: Clock
  log: Logger
  /** Name of the process in the list of processes. */
  name: string
  definitions: readonly FactDefinition[]
}

/** The active rules in one process. */
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

/**
 * Polling interval in milliseconds. Including the query, a change without notification takes effect
 * within two seconds.
 */
const ASK_EVERY_MS = 800
/** Interval in milliseconds at which a process records that it is alive. */
const TELL_EVERY_MS = 10_000
/** Time in milliseconds without such a record after which a process counts as stopped. */
export const RULE_PROCESS_FORGOTTEN_MS = 60_000

/**
 * Follows the versions of the rules by notifications, and by polling, because a notification may be
 * lost. A version that this program cannot compile is reported and changes nothing; if there are no
 * rules yet, the shipped rules apply.
 *
 * @throws when the database is unreachable
 */
export async function openRules(options: LiveRulesOptions): Promise<LiveRules> {
  const follower = new Follower(options)
  await follower.follow().catch(async (error: unknown) => {
    await follower.close()
    throw error
  })
  return {
    current: () => follower.book,
    state: () => follower.state(),
    close: () => follower.close(),
  }
}

class Follower {
  readonly #options: LiveRulesOptions
  readonly #id: string
  #book: RuleBook
  #version = 0
  /** The newest version that was read, whether or not it compiled. */
  #seen = 0
  #fault: string | undefined
  #listening: Listening | undefined
  #timer: NodeJS.Timeout | undefined
  #isClosed = false
  #round: Promise<void> | undefined
  #isAskedAgain = false
  #toldAt = Number.NEGATIVE_INFINITY
  #complaint: string | undefined

  constructor(options: LiveRulesOptions) {
    this.#options = options
    this.#id = uuidv7(options.clock())
    const shipped = this.#compile(shippedRules(), 0)
    if ('faults' in shipped) {
      throw new Error(`The shipped rules are invalid: ${shipped.faults.map(faultLine).join('; ')}`)
    }
    this.#book = shipped.rules
  }

  get book(): RuleBook {
    return this.#book
  }

  state(): LiveRulesState {
    return { version: this.#version, fault: this.#fault, health: this.#book.health() }
  }

  /** Reads the rules once, which may fail, then on every notification and at every interval. */
  async follow(): Promise<void> {
    await this.#look(this.#options.pool)
    await this.#listen()
    await this.#tell()
    this.#rest()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#round
    await this.#listening?.close()
    await removeRuleProcess(this.#options.pool, this.#id).catch(() => undefined)
  }

  #rest(): void {
    if (this.#isClosed) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#ask(), ASK_EVERY_MS)
    this.#timer.unref()
  }

  /** Reads once at a time; a request in the meantime causes one more read afterwards. */
  #ask(): void {
    if (this.#isClosed) return
    this.#isAskedAgain = true
    this.#round ??= this.#rounds().finally(() => {
      this.#round = undefined
      this.#rest()
    })
  }

  async #rounds(): Promise<void> {
    while (this.#isAskedAgain && !this.#isClosed) {
      this.#isAskedAgain = false
      try {
        await this.#listen()
        await this.#lookByConnection()
        if (this.#options.clock().getTime() - this.#toldAt >= TELL_EVERY_MS) await this.#tell()
        this.#complaint = undefined
      } catch (error) {
        this.#complain(error)
      }
    }
  }

  async #listen(): Promise<void> {
    const { listenUrl, name } = this.#options
    if (listenUrl === undefined || this.#listening) return
    try {
      const listening = await openListening(listenUrl, `signalpost ${name} rules`, {
        begin: listenForRuleSets,
        onNews: () => this.#ask(),
        onLost: () => (this.#listening = undefined),
      })
      if (this.#isClosed) await listening.close()
      else this.#listening = listening
    } catch (error) {
      this.#complain(error)
    }
  }

  /** Reads over its own connection, because requests to a busy pool would be queued. */
  async #lookByConnection(): Promise<void> {
    const listening = this.#listening
    if (!listening) return this.#look(this.#options.pool)
    try {
      await this.#look(listening.db)
    } catch (error) {
      this.#complain(error)
      // The connection may be broken: the next read opens another.
      if (this.#listening === listening) this.#listening = undefined
      void listening.close()
      await this.#look(this.#options.pool)
    }
  }

  async #look(db: Db): Promise<void> {
    const newest = await newestRuleVersion(db)
    if (newest === this.#seen) return
    const set = newest === 0 ? { content: null } : await findRuleSet(db, newest)
    if (!set) return
    this.#seen = newest
    this.#take(newest, set.content ?? shippedRules())
    this.#toldAt = Number.NEGATIVE_INFINITY
  }

  #take(version: number, content: string): void {
    const { log } = this.#options
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
      onCutOff: (symbol, { why, costUs }) => {
        const fields = { version, symbol, why, costUs }
        this.#options.log.error(fields, 'A rule took too much time and was switched off.')
        this.#toldAt = Number.NEGATIVE_INFINITY
      },
    })
  }

  async #tell(): Promise<void> {
    const { pool, clock, name } = this.#options
    const now = clock()
    const { version, fault, health } = this.state()
    this.#toldAt = now.getTime()
    await keepRuleProcess(
      pool,
      { id: this.#id, name, version, fault: fault ?? null, health, seenAt: now },
      new Date(now.getTime() - RULE_PROCESS_FORGOTTEN_MS),
    )
  }

  /** Logs each reason once, because the database may be unreachable for long. */
  #complain(error: unknown): void {
    const reason = reasonOf(error)
    if (this.#isClosed || reason === this.#complaint) return
    this.#complaint = reason
    this.#options.log.warn(
      { err: error },
      'Could not update the rules or their statistics. Will retry.',
    )
  }
}
