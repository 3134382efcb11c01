import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { readOne, type ReadFile } from '../../src/cli/train/read-reports.ts'
import { trainModel } from '../../src/cli/train/train.ts'
import { factDefinitions } from '../../src/verdict/facts/facts.ts'
import type { RowSource } from '../../src/verdict/model/features.ts'
import { CALLED_MIN, rocOf, type Scored, scoresOf } from '../../src/verdict/model/figures.ts'
import { loadModel } from '../../src/verdict/model/load-model.ts'
import { groupCampaigns, isUnwantedKind, type RowKind } from '../../src/verdict/model/training.ts'
import { learnFolds } from './learn-folds.ts'
import { kindOfFolder, type Sample } from './read-corpus.ts'

/** A labeled message, and the installation or collection that it comes from. */
export type PlacedSample = Sample & { place: string }

/**
 * Reads the labeled messages of a corpus with a manifest, whose collections are told apart by their
 * source, and of a folder of mailboxes (`measure-mailboxes.ts`).
 */
export async function readPlaces(corpus: string, mailboxes: string): Promise<PlacedSample[]> {
  const files: (ReadFile & { place: string })[] = []
  for (const { place, file, kind } of [...ofCorpus(corpus), ...ofMailboxes(mailboxes)]) {
    const read = await readOne(file, kind)
    if (read) files.push({ ...read, place })
  }
  const campaigns = groupCampaigns(files.map(({ fingerprints }) => fingerprints))
  return files.map(({ place, file, at, kind, facts, text }, index) => {
    const campaign = campaigns[index] ?? file
    // Nobody reads the pieces of these models, so no message is loaded again to spell them.
    const load = () => Promise.resolve(undefined)
    return { place, file, at, kind, facts, text, symbols: [], campaign, load }
  })
}

/** Minimum number of messages of each kind for a measurement within one place. */
const WITHIN_MIN = 100

type Placed = { place: string; file: string; kind: RowKind }

function ofCorpus(folder: string): Placed[] {
  const { files } = JSON.parse(readFileSync(path.join(folder, 'MANIFEST.json'), 'utf8')) as {
    files: Record<string, { kind: string; source: string }>
  }
  return Object.entries(files).flatMap(([name, { kind, source }]) => {
    const its = kindOfFolder[kind]
    const place = path.basename(source.split('@')[0] ?? source)
    return its === undefined ? [] : [{ place, file: path.join(folder, name), kind: its }]
  })
}

function ofMailboxes(folder: string): Placed[] {
  return readdirSync(folder).flatMap((place) => {
    const truth = path.join(folder, place, 'truth.jsonl')
    if (!existsSync(truth)) return []
    const lines = readFileSync(truth, 'utf8').split('\n')
    return lines.flatMap((line): Placed[] => {
      if (line === '') return []
      const { file, label } = JSON.parse(line) as { file: string; label: string | null }
      const kind = label === 'wanted' ? 'ham' : label === 'unwanted' ? 'spam' : undefined
      return kind ? [{ place, file: path.join(folder, place, 'messages', file), kind }] : []
    })
  })
}

/**
 * Scores the messages of some places, each by a model that was trained on all other places, without
 * the campaigns that the place shares with them.
 */
export async function scorePlaces(
  samples: readonly PlacedSample[],
  { source, seed, places }: { source: RowSource; seed: number; places: readonly string[] },
): Promise<Map<string, Scored[]>> {
  const scored = new Map<string, Scored[]>()
  for (const [place, its] of Map.groupBy(samples, (sample) => sample.place)) {
    if (!places.includes(place)) continue
    const own = new Set(its.map(({ campaign }) => campaign))
    const others = samples.filter((one) => one.place !== place && !own.has(one.campaign))
    const { content, calibration } = await trainModel(others, {
      ...{ definitions: factDefinitions, symbols: [], source, sources: [] },
      ...{ split: 'campaign', trainShare: 1, seed, tell: () => undefined },
    })
    const model = loadModel({ version: 1, format: 'linear', content, calibration })
    scored.set(place, scoresOf(model, its))
  }
  return scored
}

/** Scores the messages of each place with enough mail of both kinds by models of its own mail. */
export async function scoreWithin(
  samples: readonly PlacedSample[],
  { seed, places }: { seed: number; places: readonly string[] },
): Promise<Map<string, Scored[]>> {
  const scored = new Map<string, Scored[]>()
  for (const [place, its] of Map.groupBy(samples, (sample) => sample.place)) {
    if (!places.includes(place)) continue
    const unwanted = its.filter(({ kind }) => isUnwantedKind(kind)).length
    if (Math.min(unwanted, its.length - unwanted) < WITHIN_MIN) continue
    const training = { definitions: factDefinitions, source: 'own-files', seed } as const
    const folds = await learnFolds(its, training)
    scored.set(
      place,
      folds.flatMap((fold) => fold.scored),
    )
  }
  return scored
}

/** Formats scores: AUC, wanted mail called unwanted, and surely so, and unwanted mail found. */
export function placeCells(scored: readonly Scored[]): string[] {
  const wanted = scored.filter(({ isUnwanted }) => !isUnwanted)
  const unwanted = scored.filter(({ isUnwanted }) => isUnwanted)
  const called = (some: readonly Scored[]) =>
    some.filter(({ probability }) => probability >= CALLED_MIN).length
  const sure = wanted.filter(({ isSure }) => isSure).length
  return [
    rocOf(scored)?.auc.toFixed(3) ?? '–',
    wanted.length === 0 ? '–' : `${called(wanted)} of ${wanted.length}`,
    wanted.length === 0 ? '–' : String(sure),
    unwanted.length === 0 ? '–' : `${called(unwanted)} of ${unwanted.length}`,
  ]
}
