import { readFileSync } from 'node:fs'
import path from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { listJudgedFacts } from '../db/analyses.ts'
import { insertAudit } from '../db/audit-log.ts'
import { type Db, inTransaction, type Pool } from '../db/pool.ts'
import { listRawMessages } from '../db/reports.ts'
import type { Packed } from '../db/rows.ts'
import { readRuleListEntries, readRuleListKinds } from '../db/rule-lists.ts'
import { findRuleSet, insertRuleSet, newestRuleVersion } from '../db/rule-sets.ts'
import type { WrittenTexts } from '../pieces/written-texts.ts'
import type { FactDefinition, Facts } from '../verdict/facts/fact.ts'
import { factDefinitions, unpackFacts, withWritten } from '../verdict/facts/facts.ts'
import { DryRun, type DryRunResult, type Conclude } from '../verdict/rules/dry-run.ts'
import { changesInWords, compareRules, compileRules } from '../verdict/rules/rule-book.ts'
import { readRuleFile, type Rule, type RuleFault } from '../verdict/rules/rule-file.ts'
import { type RuleListKind, RuleLists } from '../verdict/rules/rule-lists.ts'
import { decide, type Verdict } from '../verdict/verdict.ts'
import { systemElapsed } from '../world.ts'

const file = path.join(import.meta.dirname, '..', 'verdict', 'rules', 'shipped-rules.yaml')

let kept: string | undefined

/** Returns the rules shipped with the program, which apply until an operator applies others. */
export function shippedRules(): string {
  return (kept ??= readFileSync(file, 'utf8'))
}

let keptMeanings: ReadonlyMap<string, string> | undefined

/** Returns what the symbols of the shipped rules mean, by their names. */
export function shippedMeanings(): ReadonlyMap<string, string> {
  return (keptMeanings ??= new Map(
    readRuleFile(shippedRules()).conditions.flatMap(({ rule }) =>
      rule ? [[rule.symbol, rule.meaning] as const] : [],
    ),
  ))
}

/**
 * Returns a verdict for storage, without the meanings of shipped symbols, which can be looked up by
 * name.
 */
export function withoutShippedMeanings(verdict: Verdict): Verdict {
  const shipped = shippedMeanings()
  const symbols = verdict.symbols.map(({ meaning, ...symbol }) =>
    meaning === undefined || meaning === shipped.get(symbol.name) ? symbol : { ...symbol, meaning },
  )
  return { ...verdict, symbols }
}

/** The facts and the decision function that rules are used with. */
export const ruleKnowledge: RuleKnowledge = {
  definitions: factDefinitions,
  unpackFacts,
  judge: decide,
}

/** A version of the rules with its text; the shipped rules if no version is stored. */
export type RuleVersion = { version: number; content: string; isShipped: boolean }

/** The operator who applies rules, the time, and the note. */
export type RuleAction = { at: Date; reporterId: string | null; note: string }

export type Applied =
  | { version: number; changes: string }
  | { faults: RuleFault[] }
  /** The version that another operator applied in the meantime. */
  | { overtakenBy: number }

/** Maximum length of a note in characters. */
export const RULE_NOTE_CHARS_MAX = 300

export async function actingRules(db: Db): Promise<RuleVersion> {
  const version = await newestRuleVersion(db)
  return (await findRules(db, version)) ?? { version, content: shippedRules(), isShipped: true }
}

/** Returns a version by its number; 0 is the shipped rules. */
export async function findRules(db: Db, version: number): Promise<RuleVersion | undefined> {
  if (version === 0) return { version, content: shippedRules(), isShipped: true }
  const set = await findRuleSet(db, version)
  if (!set) return undefined
  return { version, content: set.content ?? shippedRules(), isShipped: set.content === null }
}

/**
 * Activates rules as a new version, if the active version is still `base`, from which they were
 * edited. A file with any error is rejected. Null selects the shipped rules, including those of
 * later releases.
 */
export async function applyRules(
  { pool, definitions }: { pool: Pool; definitions: readonly FactDefinition[] },
  content: string | null,
  base: number,
  act: RuleAction,
): Promise<Applied> {
  const knownLists = await readRuleListKinds(pool)
  const compiled = compileRules(content ?? shippedRules(), definitions, { knownLists })
  if ('faults' in compiled) return compiled
  return inTransaction(pool, async (tx) => {
    const acting = await actingRules(tx)
    if (acting.version !== base) return { overtakenBy: acting.version }
    const version = base + 1
    const note = act.note.trim().slice(0, RULE_NOTE_CHARS_MAX)
    const isFirst = await insertRuleSet(tx, {
      version,
      content,
      note,
      appliedAt: act.at,
      appliedBy: act.reporterId,
    })
    if (!isFirst) return { overtakenBy: version }
    const changes = changesInWords(compareRules(rulesOf(acting, definitions), compiled.rules.rules))
    const detail = `version ${version}: ${changes}${note === '' ? '' : `; ${note}`}`
    const { at, reporterId } = act
    await insertAudit(tx, { at, reporterId, action: 'apply rules', detail })
    return { version, changes }
  })
}

/**
 * Rolls back: creates a new version with the rules of an old one; undefined when there is no such
 * version.
 */
export async function rollBackRules(
  app: { pool: Pool; definitions: readonly FactDefinition[] },
  version: number,
  act: Omit<RuleAction, 'note'>,
): Promise<Applied | undefined> {
  const former = await findRules(app.pool, version)
  if (!former) return undefined
  const base = await newestRuleVersion(app.pool)
  const note =
    version === 0
      ? 'Return to the rules shipped with the program.'
      : `Return to version ${version}.`
  const content = former.isShipped ? null : former.content
  return applyRules(app, content, base, { ...act, note })
}

/** Returns the rules of a version; empty if this program cannot compile them. */
export function rulesOf(
  { content }: RuleVersion,
  definitions: readonly FactDefinition[],
): readonly Rule[] {
  const compiled = compileRules(content, definitions)
  return 'rules' in compiled ? compiled.rules.rules : []
}

/**
 * The program's knowledge for judging by rules: the facts, and the function that decides the
 * verdict.
 */
export type RuleKnowledge = {
  definitions: readonly FactDefinition[]
  unpackFacts: (packed: Buffer) => Facts
  judge: Conclude
}

/** The lists as rules use them, their kinds, and when the next entry ends. */
export type LoadedRuleLists = {
  lists: RuleLists
  kinds: ReadonlyMap<string, RuleListKind>
  changesAt: Date | undefined
}

export async function loadRuleLists(db: Db, now: Date): Promise<LoadedRuleLists> {
  const kinds = await readRuleListKinds(db)
  const entries = await readRuleListEntries(db, now)
  let changesAt: Date | undefined
  for (const { expiresAt } of entries) {
    if (expiresAt && (!changesAt || expiresAt < changesAt)) changesAt = expiresAt
  }
  return { lists: new RuleLists(kinds, entries), kinds, changesAt }
}

/** Reads the texts of a message that rules can match. */
export type ReadWritten = (packed: Packed) => Promise<WrittenTexts>

/**
 * Reads the texts of the messages of reports, by report. A report whose message is deleted or
 * cannot be read is left out.
 */
export async function readWrittenOf(
  db: Db,
  reports: readonly { id: string }[],
  readWritten: ReadWritten,
): Promise<Map<string, WrittenTexts>> {
  const ids = reports.map(({ id }) => id)
  const messages = await listRawMessages(db, ids)
  const texts = await Promise.all(
    messages.map(async ({ id, ...packed }) => {
      const written = await readWritten(packed).catch(() => undefined)
      return written ? [[id, written] as const] : []
    }),
  )
  return new Map(texts.flat())
}

const BATCH = 200
const REPORTS_PER_TURN = 10

/**
 * Runs the given and the active rules on the newest reports and compares the verdicts, using the
 * stored facts of each report. If rules match texts, reads the messages for them. Writes nothing.
 * Calls `tell` with the number of reports processed so far.
 */
export async function dryRunRules(
  db: Db,
  content: string,
  knowledge: RuleKnowledge,
  options: {
    last: number
    now: Date
    readWritten: ReadWritten
    tell?: (reports: number) => void
    isOver?: () => boolean
  },
): Promise<{ result: DryRunResult } | { faults: RuleFault[] }> {
  const { definitions, unpackFacts, judge } = knowledge
  const { lists, kinds: knownLists } = await loadRuleLists(db, options.now)
  const used = { lists: () => lists }
  const candidate = compileRules(content, definitions, {
    ...used,
    knownLists,
    elapsed: systemElapsed,
  })
  if ('faults' in candidate) return candidate
  const acting = compileRules((await actingRules(db)).content, definitions, used)
  if ('faults' in acting) {
    const [fault] = acting.faults
    const reason = `This program cannot run the active rules: ${fault?.reason ?? ''}`
    return { faults: [{ line: 1, reason }] }
  }
  const run = new DryRun(acting.rules, candidate.rules, judge)
  const readsWritten = acting.rules.readsWritten || candidate.rules.readsWritten
  let before: string | undefined
  for (let looked = 0; looked < options.last && options.isOver?.() !== true;) {
    const limit = Math.min(BATCH, options.last - looked)
    const rows = await listJudgedFacts(db, { before, limit })
    const written = readsWritten ? await readWrittenOf(db, rows, options.readWritten) : undefined
    for (const [at, { id, facts, estimate }] of rows.entries()) {
      // Yields to other requests of the process.
      if (at % REPORTS_PER_TURN === REPORTS_PER_TURN - 1) await nextTurn()
      run.look(id, withWritten(unpackFacts(facts), written?.get(id)), estimate ?? undefined)
    }
    looked += rows.length
    options.tell?.(looked)
    before = rows.at(-1)?.id
    if (rows.length < limit) break
  }
  return { result: run.result() }
}
