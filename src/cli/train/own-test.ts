import type { App } from '../../app.ts'
import {
  findModel,
  findModelContent,
  type ListedModel,
  listModels,
  updateOwnTest,
} from '../../db/models.ts'
import { DAY_MS } from '../../durations.ts'
import { CallerError } from '../../errors.ts'
import { noSuchVersion } from '../../judging/models.ts'
import {
  countKinds,
  countsText,
  type OwnTest,
  ownFiguresOf,
  scoresOf,
  shareText,
} from '../../verdict/model/figures.ts'
import { loadModel } from '../../verdict/model/load-model.ts'
import { type KeptModel, type Model, ModelFault } from '../../verdict/model/model.ts'
import { splitRows, type TrainingRow } from '../../verdict/model/training.ts'
import { readReports } from './read-reports.ts'

type Needs = Pick<App, 'pool' | 'clock'>

const DAYS = 90
const NEWEST_MAX = 1_000
/** Number of the newest versions that are tested every night. */
const VERSIONS_MAX = 10

/**
 * Tests a stored model on the newest reports of the site, and stores and returns the result. The
 * rows are those of the last 90 days; they are read if they are not given.
 *
 * @throws CallerError if there is no such version, or if the model cannot be loaded
 */
export async function testVersion(
  version: number,
  { pool, clock }: Needs,
  given?: readonly TrainingRow[],
): Promise<OwnTest> {
  const [stored, content] = await Promise.all([
    findModel(pool, version),
    findModelContent(pool, version),
  ])
  if (!stored || !content) throw noSuchVersion()
  const now = clock()
  const since = new Date(now.getTime() - DAYS * DAY_MS)
  const rows = given ?? (await readReports(pool, since, () => undefined))
  const unseen = unseenBy(stored, rows)
  const figures = ownFiguresOf(scoresOf(load(content), unseen))
  const test = { testedAt: now.toISOString(), rows: countKinds(unseen), ...figures }
  await updateOwnTest(pool, version, test)
  return test
}

function load(content: KeptModel): Model {
  try {
    return loadModel(content)
  } catch (error) {
    if (error instanceof ModelFault) throw new CallerError(422, error.message)
    throw error
  }
}

/**
 * The newest reports that a model did not learn from: newer ones of campaigns that it does not
 * know, and those that its training set apart.
 */
function unseenBy(model: ListedModel, rows: readonly TrainingRow[]): TrainingRow[] {
  const { report, trainedAt } = model
  // An imported model has no report. Earlier versions did not store how far a model learned.
  const until = report === null ? 0 : (report.learnedUntil ?? trainedAt.getTime())
  const older = rows.filter(({ at }) => at <= until)
  const known = new Set(older.map(({ campaign }) => campaign))
  const newer = rows.filter(({ at, campaign }) => at > until && !known.has(campaign))
  const apart = report?.split === 'campaign' ? splitRows(older, 'campaign', report.seed).test : []
  return [...apart, ...newer].toSorted((one, other) => other.at - one.at).slice(0, NEWEST_MAX)
}

/** Tests the active model and the newest candidates again. */
export async function testNewest(app: Needs, rows: readonly TrainingRow[]): Promise<void> {
  for (const { version, state } of await listModels(app.pool, VERSIONS_MAX)) {
    if (state === 'retired') continue
    await testVersion(version, app, rows).catch((error: unknown) => {
      // A model that cannot be loaded gets no test. It could not be promoted anyway.
      if (!(error instanceof CallerError)) throw error
    })
  }
}

export function ownTestText({ rows, auc, found, mistaken, sure }: OwnTest): string {
  if (found.of + mistaken.of === 0) {
    return 'No report of this site can test it yet: none is labeled, or it learned from all.'
  }
  return [
    `On the newest mail of this site (${countsText(rows)}):`,
    `ROC AUC                        ${auc === undefined ? 'unknown' : auc.toFixed(4)}`,
    `unwanted mail found            ${shareText(found)}`,
    `wanted mail called unwanted    ${shareText(mistaken)}`,
    `wanted mail called surely so   ${shareText(sure)}`,
  ].join('\n')
}
