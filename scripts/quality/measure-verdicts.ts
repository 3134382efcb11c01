import { isUnwantedKind, type RowKind } from '../../src/verdict/model/training.ts'
import { isUnwanted, type VerdictClass } from '../../src/verdict/verdict.ts'
import type { Fold } from './learn-folds.ts'
import type { Sample } from './read-corpus.ts'
import { type Kept, openWorld, type World } from './world.ts'

/** A measured share: how often something happened, and out of how many. */
export type Figure = { name: string; hits: number; of: number }

/** The number of reporters of each campaign. */
const TIMES = 3

/**
 * A campaign: the messages that are reported, in time order, and the one about which a mail server
 * asks. A campaign of a single message reports and asks about that message.
 */
type Campaign = { kind: RowKind; reported: readonly Sample[]; asked: Sample }

/** Messages that were not in the training data of a model, and the checks of them. */
type Part = { fold: Fold; wanted: Sample[]; campaigns: Campaign[] }

/** Prints a message with a wrong result. */
type Explain = (line: string) => void

type Account = 'new' | 'vouched'

/**
 * Lets mail servers ask about all messages; then three reporters report every campaign in turn, and
 * others report every wanted message by mistake. Each reporter reports one message, and no campaign
 * is in the training data of the model that judges it.
 */
export async function measureVerdicts(
  folds: readonly Fold[],
  account: Account,
  explain: Explain,
): Promise<Figure[]> {
  const parts = folds.map((fold): Part => {
    const isWanted = ({ kind }: Sample) => !isUnwantedKind(kind)
    const unwanted = fold.samples.filter((sample) => !isWanted(sample))
    return { fold, wanted: fold.samples.filter(isWanted), campaigns: campaignsOf(unwanted) }
  })
  const world = await openWorld()
  try {
    const figures: Figure[] = []
    const asked: Asked[] = []
    if (account === 'new') figures.push(...(await askAll(world, parts, 'first sight', explain)))
    figures.push(...(await reportAll(world, parts, account, { say: explain, asked })))
    if (account === 'new') {
      figures.push(...(await askAll(world, parts, `after ${TIMES} reports`, explain)))
    }
    figures.push(...(await reportWanted(world, parts, account, explain)))
    return [...figures, ...(await answerAll(world, asked, explain))]
  } finally {
    await world.close()
  }
}

function campaignsOf(samples: readonly Sample[]): Campaign[] {
  return [...Map.groupBy(samples, ({ campaign }) => campaign).values()].flatMap((members) => {
    const inTime = members.toSorted((a, b) => a.at - b.at)
    const asked = inTime.at(-1)
    if (!asked) return []
    const others = inTime.slice(0, -1)
    return [{ kind: asked.kind, reported: others.length === 0 ? [asked] : others, asked }]
  })
}

function isCalled(verdict: VerdictClass): boolean {
  return isUnwanted({ class: verdict })
}

/** Lets a mail server ask about all messages, with the model and by the rules alone. */
async function askAll(
  world: World,
  parts: readonly Part[],
  when: string,
  explain: Explain,
): Promise<Figure[]> {
  const kinds = [...new Set(parts.flatMap(({ campaigns }) => campaigns.map(({ kind }) => kind)))]
  const ask = async (kind: RowKind | undefined, isBare: boolean): Promise<Figure> => {
    const what = kind === undefined ? 'wanted mail called unwanted' : `${kind} recognized`
    const name = `mail server asks, ${when}: ${what}${isBare ? ' by rules alone' : ''}`
    const figure = { name, hits: 0, of: 0 }
    for (const { fold, wanted, campaigns } of parts) {
      world.use(isBare ? undefined : fold.model)
      const some = campaigns.flatMap((one) => (one.kind === kind ? [one.asked] : []))
      const files = (kind === undefined ? wanted : some).map(({ file }) => file)
      const found = await world.judge(files)
      figure.of += files.length
      for (const [at, { verdict }] of found.entries()) {
        if (isCalled(verdict.class)) figure.hits++
        if (isBare || isCalled(verdict.class) === (kind !== undefined)) continue
        const symbols = verdict.symbols.map(({ name: its, weight }) => `${its} ${weight}`)
        explain(`${name}: ${files[at]}: ${verdict.class}: ${symbols.join(', ')}`)
      }
    }
    return figure
  }
  const figures: Figure[] = []
  for (const isBare of [false, true]) {
    for (const kind of [...kinds, undefined]) figures.push(await ask(kind, isBare))
  }
  return figures
}

/** Counts what became of reports, and explains those with another result than `wanted`. */
function tally(
  of: string,
  kept: readonly (Kept & { file: string })[],
  results: Readonly<Record<string, (one: Kept) => boolean>>,
  explain: { wanted: string; say: Explain },
): Figure[] {
  for (const one of kept) {
    if (results[explain.wanted]?.(one) === true) continue
    explain.say(`${of}: ${one.file}: ${one.action} (${one.why}), ${one.verdict}: ${one.symbols}`)
  }
  return Object.entries(results).map(([result, holds]) => {
    return { name: `${of}: ${result}`, hits: kept.filter(holds).length, of: kept.length }
  })
}

const isForwarded = ({ action }: Kept) => action === 'forward'
const isAsked = ({ action }: Kept) => action === 'ask'
const isQuestioned = ({ action }: Kept) => action === 'confirm'
/** Whether the origin of a message is sure; without it, nobody is notified. */
export const hasOrigin = ({ why }: Kept) => !why.startsWith('origin-')
const isAdvised = ({ action }: Kept) => action === 'advise'

/** The reports of one time whose reporters are asked about machines of their providers. */
type Asked = {
  of: string
  /** How many reports of that time there were, and how many were forwarded without an answer. */
  total: number
  forwarded: number
  open: { fold: Fold; one: Kept & { file: string } }[]
}

async function reportAll(
  world: World,
  parts: readonly Part[],
  account: Account,
  { say, asked }: { say: Explain; asked: Asked[] },
): Promise<Figure[]> {
  const figures: Figure[] = []
  for (let time = 0; time < TIMES; time++) {
    const kept: (Kept & { file: string })[] = []
    const open: Asked['open'] = []
    for (const { fold, campaigns } of parts) {
      world.use(fold.model)
      for (const kind of ['spam', 'phishing'] as const) {
        const some = campaigns.filter((one) => (one.kind === 'spam') === (kind === 'spam'))
        const files = some.flatMap(({ reported }) => reported[time % reported.length]?.file ?? [])
        const results = await world.report(account === 'new', kind, files)
        const its = results.map((one, at) => ({ ...one, file: files[at] ?? '' }))
        kept.push(...its)
        open.push(...its.filter(isAsked).map((one) => ({ fold, one })))
      }
    }
    const of = `${account} reporter, report ${time + 1} of spam or phishing`
    const results = {
      forwarded: isForwarded,
      'asked about machines of the provider': isAsked,
      'asked to confirm': isQuestioned,
      advised: isAdvised,
      'judged unwanted': ({ verdict }: Kept) => isCalled(verdict),
    }
    figures.push(...tally(of, kept, results, { wanted: 'forwarded', say }))
    const withOrigin = kept.filter(hasOrigin)
    const name = `${of}: forwarded, of those with a sure origin`
    figures.push({ name, hits: withOrigin.filter(isForwarded).length, of: withOrigin.length })
    asked.push({ of, total: kept.length, forwarded: kept.filter(isForwarded).length, open })
  }
  return figures
}

/** Answers the questions about machines, after everything else was measured. */
async function answerAll(world: World, asked: readonly Asked[], say: Explain): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const { of, total, forwarded, open } of asked) {
    let hits = forwarded
    for (const [fold, its] of Map.groupBy(open, (one) => one.fold)) {
      world.use(fold.model)
      const kept = await world.answer(its.map(({ one }) => one.id))
      hits += kept.filter(isForwarded).length
      for (const [at, { action, why }] of kept.entries()) {
        if (action !== 'forward') say(`${of}, answered: ${its[at]?.one.file}: ${action} (${why})`)
      }
    }
    const name = `${of}: forwarded at once or after an answer about machines`
    figures.push({ name, hits, of: total })
  }
  return figures
}

/** The worst mistake of honest people: they report wanted messages as spam. */
async function reportWanted(
  world: World,
  parts: readonly Part[],
  account: Account,
  say: Explain,
): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const kind of ['ham', 'newsletter'] as const) {
    const kept: (Kept & { file: string })[] = []
    for (const { fold, wanted } of parts) {
      world.use(fold.model)
      const files = wanted.flatMap((one) => (one.kind === kind ? [one.file] : []))
      const its = await world.report(account === 'new', 'spam', files)
      kept.push(...its.map((one, at) => ({ ...one, file: files[at] ?? '' })))
    }
    const what = kind === 'ham' ? 'wanted personal or list mail' : 'a newsletter'
    const results = {
      'network notified': isForwarded,
      'network not notified': (one: Kept) => !isForwarded(one),
      'asked to confirm': isQuestioned,
      advised: isAdvised,
      'judged unwanted': ({ verdict }: Kept) => isCalled(verdict),
    }
    const of = `${account} reporter, mistaken report of ${what}`
    figures.push(...tally(of, kept, results, { wanted: 'network not notified', say }))
  }
  return figures
}
