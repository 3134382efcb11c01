import { countsText, percentText, shareText } from '../../verdict/model/figures-text.ts'
import type { ModelReport } from '../../verdict/model/model-report.ts'

const FEATURES_SHOWN = 15

/** The report of a model as a text for a terminal. */
export function reportText(report: ModelReport): string {
  const { rows } = report
  return [
    `from          ${report.sources.join('; ')}`,
    `split         by ${report.split}, seed ${report.seed}; ${report.campaigns} campaigns`,
    `learned from  ${countsText(rows.train)}`,
    `calibrated on ${countsText(rows.calibrate)}`,
    `measured on   ${countsText(rows.test)}`,
    `left out      ${rows.leftOut}, whose campaigns an earlier part has`,
    `features      ${report.features}`,
    `ROC AUC       ${report.auc === undefined ? 'not known' : report.auc.toFixed(4)}`,
    `Brier score   ${report.brier.toFixed(4)}`,
    '',
    'threshold  precision                         recall',
    ...report.thresholds.map(
      ({ threshold, precision, recall }) =>
        `${threshold.toFixed(2).padEnd(11)}${shareText(precision).padEnd(34)}${shareText(recall)}`,
    ),
    '',
    'said       on average  was unwanted',
    ...report.calibration.map(
      ({ from, to, meanPredicted, observed }) =>
        `${`${from.toFixed(1)}–${to.toFixed(1)}`.padEnd(11)}` +
        `${percentText(meanPredicted).padEnd(12)}${shareText(observed)}`,
    ),
    '',
    'ROC: falsely called → found',
    ...rocLines(report.roc),
    '',
    'what carries it',
    ...report.importance
      .slice(0, FEATURES_SHOWN)
      .map(({ feature, share }) => `${percentText(share).padStart(7)}  ${feature}`),
  ].join('\n')
}

/** At most a dozen points: the whole curve is in the admin pages. */
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
