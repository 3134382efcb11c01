import { setImmediate as nextTurn } from 'node:timers/promises'
import { listStoredVerdicts } from '../db/analyses.ts'
import { findActiveModel, findModelContent } from '../db/models.ts'
import type { Db } from '../db/pool.ts'
import { type Complaint, complaintOf, doubtOf } from '../verdict/complaint.ts'
import type { Facts } from '../verdict/facts/fact.ts'
import { factDefinitions, unpackFacts } from '../verdict/facts/facts.ts'
import { loadModel } from '../verdict/model/load-model.ts'
import type { Model } from '../verdict/model/model.ts'
import { compileRules } from '../verdict/rules/rule-book.ts'
import { decide, type Verdict } from '../verdict/verdict.ts'
import { actingRules } from './rule-versions.ts'

/** What judging kept reports again with the active rules and model would change. */
export type StoredJudgments = {
  reports: number
  /** Reports whose verdict would have another class. */
  changed: number
  /** Complaints that would no longer be in doubt. Most of them would be forwarded. */
  believed: number
  /** Whether the active model reads the text, which is not stored: what it said then is used. */
  isModelOld: boolean
}

const REPORTS_PER_TURN = 10

/**
 * Judges analyzed reports by the facts that were stored with their analyses, with the active rules
 * and model. Writes nothing. Counts and reputations are those of the time of the analysis.
 */
export async function judgeStored(db: Db, ids: readonly string[]): Promise<StoredJudgments> {
  const [stored, { content }, model] = await Promise.all([
    listStoredVerdicts(db, ids),
    actingRules(db),
    findModelToApply(db),
  ])
  const isModelOld = model?.readsText === true
  const total = { reports: stored.length, changed: 0, believed: 0, isModelOld }
  const compiled = compileRules(content, factDefinitions)
  if ('faults' in compiled) return { ...total, reports: 0 }
  for (const [at, { facts: packed, judgment }] of stored.entries()) {
    // Yields to other requests of the process.
    if (at % REPORTS_PER_TURN === REPORTS_PER_TURN - 1) await nextTurn()
    const facts = unpackFacts(packed)
    const symbols = compiled.rules.run(facts)
    const estimate = isModelOld ? judgment.verdict.estimate : model?.apply(facts, symbols)
    const verdict = decide({ facts, symbols, estimate })
    const { complaint: before } = judgment
    const after = complaintAgain(before, verdict, facts)
    if (verdict.class !== judgment.verdict.class) total.changed++
    if (doubtOf(before) !== undefined && doubtOf(after) === undefined) total.believed++
  }
  return total
}

/** Returns a complaint as it is under another verdict from the same facts. */
export function complaintAgain(before: Complaint, verdict: Verdict, facts: Facts): Complaint {
  return { ...before, ...complaintOf(before, { verdict, facts, isRelayed: before.isRelayed }) }
}

async function findModelToApply(db: Db): Promise<Model | undefined> {
  const version = await findActiveModel(db)
  const kept = version === undefined ? undefined : await findModelContent(db, version)
  return kept && loadModel(kept)
}
