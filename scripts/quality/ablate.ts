import type { FactDefinition } from '../../src/verdict/facts/fact.ts'
import { rocOf } from '../../src/verdict/model/figures.ts'
import { fileRefusalOf, unfitReason } from '../../src/verdict/model/features.ts'
import { learnFolds } from './learn-folds.ts'
import type { Sample } from './read-corpus.ts'

type Training = { definitions: readonly FactDefinition[]; source: 'files'; seed: number }

/**
 * Measures models without each group of facts, with each group alone, and with only the facts that
 * models trained on files must not use (`fileRefusalOf` returns the reasons).
 */
export async function ablate(samples: readonly Sample[], training: Training): Promise<string[][]> {
  const { definitions, seed } = training
  const fit = definitions.filter((one) => fileRefusalOf(one) === undefined)
  const aucOf = async (some: readonly FactDefinition[], source: 'files' | 'reports' = 'files') => {
    const folds = await learnFolds(samples, { definitions: some, source, seed })
    return rocOf(folds.flatMap(({ scored }) => scored))?.auc.toFixed(4) ?? '–'
  }
  const rows: string[][] = [['all features', '–', await aucOf(fit)]]
  for (const group of new Set(fit.map((one) => one.group))) {
    const inGroup = (one: FactDefinition) => one.group === group
    const without = await aucOf(fit.filter((one) => !inGroup(one)))
    rows.push([group, without, await aucOf(fit.filter(inGroup)).catch(() => '–')])
  }
  const isAboutLists = ({ group, name }: FactDefinition) =>
    group === 'bulk' || name === 'has_list_unsubscribe'
  const without = await aucOf(fit.filter((one) => !isAboutLists(one)))
  rows.push(['bulk and has_list_unsubscribe', without, await aucOf(fit.filter(isAboutLists))])
  const kept = definitions.filter((one) => unfitReason(one) === undefined && !fit.includes(one))
  rows.push(['(not used by models of files)', '–', await aucOf(kept, 'reports')])
  return rows
}
