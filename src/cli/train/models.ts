import { writeFile } from 'node:fs/promises'
import { z } from 'zod'
import { findModel, findModelContent, type ListedModel, listModels } from '../../db/models.ts'
import { dateOf } from '../../durations.ts'
import {
  allowPromotion,
  importModel,
  modelVersion,
  noSuchVersion,
  promoteVersion,
  rollBackPromotion,
} from '../../judging/models.ts'
import {
  countsText,
  type ModelReport,
  percentText,
  plainFigures,
  shareText,
} from '../../verdict/model/figures.ts'
import { defineQuery, type Operations } from '../command.ts'
import { ownTestText, testVersion } from './own-test.ts'

const FEATURES_SHOWN = 15

function plainLines(report: ModelReport): string[] {
  const figures = plainFigures(report)
  if (!figures) return []
  return [
    `Of 100 messages that it calls unwanted, ${figures.precision} are.`,
    `Of 100 unwanted messages, it finds ${figures.recall}.`,
    `Of 100 wanted messages, it calls ${figures.mistaken} unwanted.`,
  ]
}

export function reportText(report: ModelReport): string {
  const { rows } = report
  return [
    ...plainLines(report),
    '',
    `origin        ${report.sources.join('; ')}`,
    `split         by ${report.split}, seed ${report.seed}; ${report.campaigns} campaigns`,
    `trained on    ${countsText(rows.train)}`,
    `evaluated on  ${countsText(rows.test)}`,
    `left out      ${rows.leftOut}, because their campaigns are in an earlier part`,
    `features      ${report.features}, and the text`,
    `ROC AUC       ${report.auc === undefined ? 'unknown' : report.auc.toFixed(4)}`,
    `Brier score   ${report.brier.toFixed(4)}`,
    ...(report.sure
      ? [
          `sure          ${shareText(report.sure.unwanted)} of unwanted mail`,
          `              ${shareText(report.sure.wanted)} of wanted mail`,
        ]
      : []),
    '',
    'threshold  precision                         recall',
    ...report.thresholds.map(
      ({ threshold, precision, recall }) =>
        `${threshold.toFixed(2).padEnd(11)}${shareText(precision).padEnd(34)}${shareText(recall)}`,
    ),
    '',
    'predicted  mean        actually unwanted',
    ...report.calibration.map(
      ({ from, to, meanPredicted, observed }) =>
        `${`${from.toFixed(1)}–${to.toFixed(1)}`.padEnd(11)}` +
        `${percentText(meanPredicted).padEnd(12)}${shareText(observed)}`,
    ),
    '',
    'ROC: false positive rate → true positive rate',
    ...rocLines(report.roc),
    '',
    'influence of the text and of the features',
    ...report.importance
      .slice(0, FEATURES_SHOWN)
      .map(({ feature, share }) => `${percentText(share).padStart(7)}  ${feature}`),
    '',
    'pieces of text with the largest weights; positive for unwanted mail',
    ...report.pieces.map(({ text, weight }) => `${weight.toFixed(2).padStart(7)}  ${text}`),
  ].join('\n')
}

/** Formats at most twelve points of the curve; the admin pages show the whole curve. */
function rocLines(points: ModelReport['roc']): string[] {
  const step = Math.max(1, Math.ceil(points.length / 12))
  return points
    .filter((_, at) => at % step === 0 || at === points.length - 1)
    .map(
      ({ threshold, falsePositives, truePositives }) =>
        `${percentText(falsePositives).padStart(8)} → ${percentText(truePositives).padStart(7)}` +
        `   at ${threshold.toFixed(4)}`,
    )
}

const LISTED_MAX = 100

const list = defineQuery({
  name: 'models list',
  summary: 'list the models',
  async print(_, { pool }) {
    const models = await listModels(pool, LISTED_MAX)
    if (models.length === 0) return 'There are no models yet. Train one with "signalpost train".'
    return models.map(lineOf).join('\n')
  },
})

function lineOf({ version, state, format, report, trainedAt, origin }: ListedModel): string {
  const auc = report?.auc === undefined ? 'AUC –     ' : `AUC ${report.auc.toFixed(4)}`
  const day = dateOf(trainedAt)
  return [String(version).padStart(4), state.padEnd(9), format.padEnd(8), day, auc, origin].join(
    '  ',
  )
}

const show = defineQuery({
  name: 'models show',
  summary: 'show a model and its evaluation',
  input: z.object({ version: modelVersion }),
  async print({ version }, { pool }) {
    const model = await findModel(pool, version)
    if (!model) throw noSuchVersion()
    const [slope, intercept] = [model.calibration.slope, model.calibration.intercept].map(
      (number) => number.toFixed(3),
    )
    return [
      lineOf(model).trimStart(),
      `${model.bytes} bytes; calibrated by ${slope} × log odds + ${intercept}`,
      '',
      model.ownTest
        ? ownTestText(model.ownTest)
        : `It was not tested on the mail of this site. Use "signalpost models test ${version}".`,
      '',
      model.report ? reportText(model.report) : 'No evaluation is stored for this model.',
    ].join('\n')
  },
})

const test = defineQuery({
  name: 'models test',
  summary: 'test a model on the newest mail of this site, as every night',
  input: z.object({ version: modelVersion }),
  async print({ version }, app) {
    return ownTestText(await testVersion(version, app))
  },
})

const exportModel = defineQuery({
  name: 'models export',
  summary: 'write a model to a file',
  input: z.object({
    version: modelVersion,
    file: z.string({ error: 'Give a file name.' }).meta({ argument: 'FILE' }),
  }),
  async print({ version, file }, { pool }) {
    const kept = await findModelContent(pool, version)
    if (!kept) throw noSuchVersion()
    await writeFile(file, kept.content)
    const kind = kept.format === 'linear' ? 'in Signalpost’s format' : 'CatBoost’s JSON'
    return `Wrote version ${version} to ${file}, ${kind}.`
  },
})

export const operations: Operations = [
  ...[list, show, test, allowPromotion, promoteVersion, rollBackPromotion],
  ...[importModel, exportModel],
]
