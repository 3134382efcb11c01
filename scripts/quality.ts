import { existsSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { ablate } from './quality/ablate.ts'
import { placeCells, readPlaces, scorePlaces, scoreWithin } from './quality/across-installations.ts'
import { printTable } from './bench/corpus.ts'
import { learnFolds } from './quality/learn-folds.ts'
import {
  type ForwardingFigures,
  measureForwarding,
  readCollection,
  readMailboxes,
} from './quality/measure-forwarding.ts'
import { measureMailboxes, outcomes } from './quality/measure-mailboxes.ts'
import { measurePages } from './quality/measure-pages.ts'
import { type Figure, measureVerdicts } from './quality/measure-verdicts.ts'
import { readCorpus } from './quality/read-corpus.ts'
import { factDefinitions } from '../src/verdict/facts/facts.ts'
import {
  countKinds,
  countsText,
  figuresOf,
  type Scored,
  shareText,
} from '../src/verdict/model/figures.ts'
import { isUnwantedKind } from '../src/verdict/model/training.ts'

/*
 * Measures the quality of verdicts on labeled mail: node scripts/quality.ts [--corpus DIR] [--seed
 * N] [--no-ablation] [--explain]. DIR has a MANIFEST.json with kinds, or the folders spam,
 * phishing, malware, ham, newsletters. Prints figures and the confidence interval of each.
 *
 * With --mailboxes DIR, measures the origin instead, for each installation in DIR; with
 * --exchangers too, as if the MX records of each were known, with --probe, as after a test letter.
 *
 * With --across DIR, measures models on each installation in DIR and each collection of the corpus,
 * or on those that --places A,B names, trained on all the others.
 *
 * With --pages LABELS, measures which pages of phishing messages would be named to those who can
 * stop them, and which links of wanted mail of --corpus and --mailboxes DIR, as if three
 * independent reporters had called each message phishing. LABELS has a line of JSON for each
 * message: `file`, relative to the corpus, `pages`, the links that lead to the page, and `also`,
 * those that may.
 *
 * With --forwarding and --mailboxes DIR or --corpus DIR or both, measures what is forwarded on
 * young sites without a model; with --verified too, as if the signatures could still be verified.
 */
const usual = path.join(import.meta.dirname, '..', '..', 'shared', 'corpus')
const { values } = parseArgs({
  options: {
    corpus: { type: 'string' },
    seed: { type: 'string', default: '1' },
    'no-ablation': { type: 'boolean', default: false },
    explain: { type: 'boolean', default: false },
    mailboxes: { type: 'string' },
    exchangers: { type: 'boolean', default: false },
    probe: { type: 'boolean', default: false },
    across: { type: 'string' },
    places: { type: 'string' },
    pages: { type: 'string' },
    forwarding: { type: 'boolean', default: false },
    verified: { type: 'boolean', default: false },
  },
})
/** Prints a line about each message to standard error. */
const explain = (line: string) => void (values.explain && console.error(line))
if (values.pages !== undefined) {
  const { mailboxes, corpus = usual } = values
  printFigures(await measurePages(values.pages, { corpus, mailboxes, explain }))
  process.exit()
}
if (values.forwarding) {
  await printForwarding()
  process.exit()
}
if (values.mailboxes !== undefined) {
  await printOrigins(values.mailboxes)
  process.exit()
}
const corpus = values.corpus ?? usual
if (!existsSync(corpus)) {
  console.error(`The folder ${corpus} does not exist. Use --corpus DIR.`)
  process.exit(2)
}
const seed = Number(values.seed)
if (values.across !== undefined) {
  await printAcross(values.across)
  process.exit()
}
const samples = await readCorpus(corpus)
const isTwoSided = new Set(samples.map(({ kind }) => isUnwantedKind(kind))).size === 2
if (!isTwoSided) {
  console.error('Wanted and unwanted messages are required: see the comment in this script.')
  process.exit(2)
}
const campaigns = new Set(samples.map(({ campaign }) => campaign)).size
console.log(`# Quality on ${samples.length} messages, ${campaigns} campaigns, seed ${seed}\n`)
console.log(`${countsText(countKinds(samples))}. In brackets: the interval of 95 %.\n`)

console.log(
  '## The model alone: five folds by campaign, each judged by a model trained on the others\n',
)
const training = { definitions: factDefinitions, source: 'own-files', seed } as const
const folds = await learnFolds(samples, training)
const { auc, brier, thresholds } = figuresOf(folds.flatMap(({ scored }) => scored))
console.log(`ROC AUC ${auc?.toFixed(4)}, Brier score ${brier.toFixed(4)}\n`)
printTable(
  ['threshold', 'precision', 'recall'],
  thresholds.map(({ threshold, precision, recall }) => {
    return [String(threshold), shareText(precision), shareText(recall)]
  }),
)

if (!values['no-ablation']) {
  console.log('\n## Contribution of each group: ROC AUC without it, and with it alone\n')
  const rows = await ablate(samples, training)
  printTable(['what a model reads', 'without it', 'alone'], rows)
}

console.log('\n## Complaints, verdicts and notices: each figure with its hits and its total\n')
for (const account of ['new', 'vouched'] as const) {
  printFigures(await measureVerdicts(folds, account, explain))
}

function printFigures(figures: readonly Figure[]): void {
  for (const { name, hits, of } of figures) console.log(`${name}\t${hits}\t${of}`)
}

async function printOrigins(folder: string): Promise<void> {
  const measured = await measureMailboxes(folder, {
    known: values.exchangers ? 'exchangers' : values.probe ? 'probe' : 'nothing',
    explain,
  })
  const rows = measured.map(({ name, counts }) => [name, counts] as const)
  const sum = (outcome: (typeof outcomes)[number]) =>
    rows.reduce((total, [, counts]) => total + counts[outcome], 0)
  const all = outcomes.map(sum)
  const total = all.reduce((sum, count) => sum + count, 0)
  printTable(
    ['installation', ...outcomes.map((outcome) => outcome.replace('-', ', '))],
    [
      ...rows.map(([name, counts]) => [name, ...outcomes.map((one) => String(counts[one]))]),
      ['all', ...all.map((count) => `${count} (${((100 * count) / total).toFixed(1)} %)`)],
    ],
  )
}

async function printAcross(folder: string): Promise<void> {
  const samples = await readPlaces(corpus, folder)
  const places = values.places?.split(',') ?? samples.map(({ place }) => place)
  for (const source of ['own-files', 'other-files'] as const) {
    console.log(`\n## Trained on all other places as ${source}\n`)
    printPlaces(await scorePlaces(samples, { source, seed, places }))
  }
  console.log('\n## Trained on the other campaigns of the same place\n')
  printPlaces(await scoreWithin(samples, { seed, places }))
}

function printPlaces(scored: ReadonlyMap<string, Scored[]>): void {
  printTable(
    ['place', 'ROC AUC', 'wanted called unwanted', 'surely', 'unwanted found'],
    [...scored, ['all', [...scored.values()].flat()] as const].map(([place, its]) => {
      return [place, ...placeCells(its)]
    }),
  )
}

/** One line for each mailbox and each kind of a collection, and the sums. */
async function printForwarding(): Promise<void> {
  const { mailboxes, corpus: folder } = values
  const all = [
    ...(mailboxes === undefined ? [] : await readMailboxes(mailboxes)),
    ...(folder === undefined ? [] : readCollection(folder)),
  ]
  const measured: ForwardingFigures[] = []
  for (const one of all) {
    console.error(one.name)
    measured.push(await measureForwarding(one, values.verified, explain))
  }
  const sharesOf = (one: ForwardingFigures) => [
    ...[one.firstSight, ...one.news, one.vouched],
    ...[one.wantedCalled, one.wantedNew, one.wantedVouched],
  ]
  const text = ({ hits, of }: { hits: number; of: number }) =>
    of === 0 ? '–' : `${hits} of ${of} (${((100 * hits) / of).toFixed(1)} %)`
  const rows = measured.map((one) => [one.name, ...sharesOf(one).map(text)])
  const shares = measured.map(sharesOf)
  const sums = (shares[0] ?? []).map((_, column) =>
    text({
      hits: shares.reduce((sum, row) => sum + (row[column]?.hits ?? 0), 0),
      of: shares.reduce((sum, row) => sum + (row[column]?.of ?? 0), 0),
    }),
  )
  printTable(
    [
      ...['mail', 'first sight', 'new 1', 'new 2', 'new 3', 'vouched'],
      ...['wanted: called unwanted', 'new', 'vouched'],
    ],
    [...rows, ['all', ...sums]],
  )
}
