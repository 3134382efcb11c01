import { existsSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { factDefinitions } from '../src/verdict/facts/facts.ts'
import { shareOf, shareText } from '../src/verdict/model/figures.ts'
import { chanceFrom } from '../test/support/chance.ts'
import { printTable } from './bench/corpus.ts'
import { learnFolds } from './quality/learn-folds.ts'
import { hasOrigin } from './quality/measure-verdicts.ts'
import { readCorpus } from './quality/read-corpus.ts'
import { rings } from './simulate/people.ts'
import { isProven, type Outcome, type Played, playReporters } from './simulate/reporters.ts'

/*
 * Plays a site with sign-up only: npm run simulate reporters [-- --people N --days N --seed N
 * --corpus DIR --no-model --explain]. Messages of the corpus are reported by honest, careless and
 * lazy people and by three rings of attackers. Prints tables, and one line per figure: name, hits
 * and total, separated by tabs.
 */
const usual = path.join(import.meta.dirname, '..', '..', 'shared', 'corpus')
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    corpus: { type: 'string', default: usual },
    people: { type: 'string', default: '2000' },
    days: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
    'no-model': { type: 'boolean', default: false },
    explain: { type: 'boolean', default: false },
  },
})
const [people, days, seed] = [Number(values.people), Number(values.days), Number(values.seed)]
const areNumbers = [people, days, seed].every((one) => Number.isSafeInteger(one) && one > 0)
if (positionals.join(' ') !== 'reporters' || !areNumbers) {
  console.error('Usage: npm run simulate reporters [-- --people N --days N --seed N --no-model]')
  process.exit(2)
}
if (!existsSync(values.corpus)) {
  console.error(`The folder ${values.corpus} does not exist. Use --corpus DIR.`)
  process.exit(2)
}

const samples = await readCorpus(values.corpus)
const withModel = !values['no-model']
const training = { definitions: factDefinitions, source: 'own-files', seed } as const
const folds = withModel ? await learnFolds(samples, training) : []
const foldOf = new Map(folds.flatMap(({ samples: own, model }) => own.map((one) => [one, model])))
const outcome = await playReporters({
  ...{ samples, people, days, chance: chanceFrom(seed) },
  modelOf: (sample) => foldOf.get(sample),
  tell: (line) => console.error(line),
})

console.log(`# ${days} days of a site with ${people} accounts from sign-up only, seed ${seed}\n`)
const judges = withModel ? 'Rules and a model of other campaigns' : 'Rules without a model'
console.log(`${judges}; ${outcome.played.length} reports. In brackets: the interval of 95 %.\n`)
const isForwarded = ({ kept }: Played) => kept.action === 'forward'
const isForwardedAtLast = (one: Played) => isForwarded(one) || one.answered?.action === 'forward'
const isTraced = ({ kept }: Played) => hasOrigin(kept)
const figures: [name: string, hits: number, total: number][] = []
if (values.explain) explain(outcome)
printDays(outcome)
printRings(outcome)
console.log('\n## Figures\n')
for (const figure of figures) console.log(figure.join('\t'))

/** The days for which figures are printed, each with the first day of its span. */
function spans(): { from: number; to: number }[] {
  const marks = [1, 7, 30, 60].filter((day) => day < days)
  return [...marks, days].map((to) => ({ from: Math.max(1, Math.ceil(to * 0.85)), to }))
}

function count(name: string, some: readonly Played[], isHit: (one: Played) => boolean): string {
  const hits = some.filter(isHit).length
  figures.push([name, hits, some.length])
  return shareText(shareOf(hits, some.length))
}

/** Prints spam that was not forwarded and wanted mail that was, to standard error. */
function explain({ played }: Outcome): void {
  for (const { day, role, about, file, kept, answered } of played) {
    const isWanted = about === 'personal' || about === 'newsletter'
    const { action, why, symbols } = answered ?? kept
    if (about === 'attack' || (action === 'forward') !== isWanted) continue
    console.error(`day ${day}: ${role}, ${about}: ${file}: ${action}, ${why}: ${symbols}`)
  }
}

function printDays({ played, lists }: Outcome): void {
  const isAsked = ({ kept }: Played) => kept.action === 'confirm'
  const usualRoles = ['honest', 'careless', 'lazy']
  const complaints = played.filter(
    (one) => usualRoles.includes(one.role) && one.kind !== 'not-spam',
  )
  const rows = spans().map(({ from, to }) => {
    const some = complaints.filter(({ day }) => day >= from && day <= to)
    const about = (...names: string[]) => some.filter((one) => names.includes(one.about))
    const wanted = about('personal', 'newsletter')
    const when = `day ${to}`
    const entries = lists.find(({ day }) => day === to)?.entries ?? {}
    for (const [list, size] of Object.entries(entries)) {
      figures.push([`entries of the list ${list}, ${when}`, size, size])
    }
    const spam = about('unwanted', 'own spam')
    return [
      from === to ? when : `days ${from} to ${to}`,
      count(`spam forwarded within a minute, ${when}`, spam, isForwarded),
      count(`… of spam with a sure origin, ${when}`, spam.filter(isTraced), isForwarded),
      count(`spam forwarded at once or after a question, ${when}`, spam, isForwardedAtLast),
      count(`wanted mail forwarded by mistake, ${when}`, wanted, isForwardedAtLast),
      count(`newsletters: advice given, ${when}`, about('newsletter'), ({ kept }) => {
        return kept.action === 'advise'
      }),
      count(`questions to the reporter, ${when}`, some, isAsked),
      count(`questions about machines, ${when}`, some, ({ kept }) => kept.action === 'ask'),
      Object.entries(entries)
        .map(([list, size]) => `${list} ${size}`)
        .join(', '),
    ]
  })
  printTable(
    [
      'days',
      'spam forwarded',
      'origin sure',
      'or after a question',
      'wanted forwarded',
      'newsletters: advice',
      'questions',
      'about machines',
      'lists',
    ],
    rows,
  )
  const wanted = complaints.filter(({ about }) => about === 'personal' || about === 'newsletter')
  for (const about of ['personal', 'newsletter'] as const) {
    const some = wanted.filter((one) => one.about === about)
    console.log(
      `\n${about}, all days: ${count(`${about} forwarded, all days`, some, isForwardedAtLast)}`,
    )
  }
}

function printRings({ played, harm, karmas }: Outcome): void {
  console.log('\n## Rings\n')
  for (const [ring, what] of Object.entries(rings)) console.log(`- ${ring} ${what}`)
  for (const [ring, all] of Object.entries(harm)) {
    const worst = all.reduce((a, b) => (a.worst.score <= b.worst.score ? a : b))
    const { score, weight } = worst.worst
    figures.push([
      `days with the victim of the ${ring} in a list`,
      all.filter(({ isListed }) => isListed).length,
      all.length,
    ])
    figures.push([
      `days with the victim of the ${ring} flagged as certainly bad`,
      all.filter(({ isFlagged }) => isFlagged).length,
      all.length,
    ])
    const reputation = `score ${score.toFixed(2)}, weight ${weight.toFixed(1)}`
    console.log(`- victim of the ${ring}: worst reputation on day ${worst.day}: ${reputation}`)
    const theirs = played.filter(({ role, about }) => role === ring && about === 'attack')
    const name = `reports of the ${ring} forwarded`
    console.log(`- ${name}: ${count(name, theirs, isForwardedAtLast)}`)
  }
  const onOwn = played.filter(({ about }) => about === 'own spam')
  const own = count('spam of the acquitters forwarded', onOwn, isForwarded)
  console.log(`- spam of the acquitters forwarded after reports of others: ${own}\n`)
  const rows = [...karmas].map(([role, all]) => {
    const proven = all.filter(isProven).length
    figures.push([`proven ${role}`, proven, all.length])
    const sorted = all.toSorted((a, b) => a - b)
    const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)]?.toFixed(2) ?? ''
    const mean = all.reduce((sum, one) => sum + one, 0) / all.length
    return [role, String(all.length), String(proven), mean.toFixed(3), at(0.1), at(0.5), at(0.9)]
  })
  printTable(['karma at the end', 'active', 'proven', 'mean', '10 %', 'median', '90 %'], rows)
}
