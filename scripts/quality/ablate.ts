import type { FactDefinition } from '../../src/verdict/facts/fact.ts'
import { rocOf } from '../../src/verdict/model/figures.ts'
import { refusalOf, type RowSource } from '../../src/verdict/model/features.ts'
import { learnFolds } from './learn-folds.ts'
import type { Sample } from './read-corpus.ts'

type Training = { definitions: readonly FactDefinition[]; source: 'own-files'; seed: number }

const noText = new Uint32Array()

/**
 * Measures models without the text and each group of facts, with each of them alone, and with only
 * the facts that models trained on files must not use (`refusalOf` returns the reasons).
 */
export async function ablate(samples: readonly Sample[], training: Training): Promise<string[][]> {
  const { definitions, seed } = training
  const fit = definitions.filter((one) => refusalOf(one, 'own-files') === undefined)
  const textless = samples.map((sample) => ({ ...sample, text: noText }))
  const aucOf = async (
    some: readonly FactDefinition[],
    its: readonly Sample[] = samples,
    source: RowSource = 'own-files',
  ) => {
    const folds = await learnFolds(its, { definitions: some, source, seed })
    return rocOf(folds.flatMap(({ scored }) => scored))?.auc.toFixed(4) ?? '–'
  }
  const rows: string[][] = [
    ['text and all facts', '–', await aucOf(fit)],
    ['pieces of the text', await aucOf(fit, textless), await aucOf([])],
  ]
  const isAboutLists = ({ group, name }: FactDefinition) =>
    group === 'bulk' || name === 'has_list_unsubscribe'
  const groups = [...new Set(fit.map((one) => one.group))].map((group) => {
    return [group, (one: FactDefinition) => one.group === group] as const
  })
  for (const [name, isIn] of [
    ...groups,
    ['bulk and has_list_unsubscribe', isAboutLists] as const,
  ]) {
    const without = await aucOf(fit.filter((one) => !isIn(one)))
    rows.push([name, without, await aucOf(fit.filter(isIn), textless).catch(() => '–')])
  }
  const kept = definitions.filter((one) => {
    return refusalOf(one, 'reports') === undefined && !fit.includes(one)
  })
  rows.push(['(not used by models of files)', '–', await aucOf(kept, textless, 'reports')])
  return rows
}
