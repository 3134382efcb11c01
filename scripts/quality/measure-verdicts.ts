import { freshKarma, karmaOf } from '../../src/verdict/reputation/karma.ts'
import { shareOf, shareText } from '../../src/verdict/model/figures.ts'
import { isUnwantedKind, type RowKind } from '../../src/verdict/model/training.ts'
import type { VerdictClass } from '../../src/verdict/verdict.ts'
import type { Fold } from './learn-folds.ts'
import type { Sample } from './read-corpus.ts'
import { openWorld, type World } from './world.ts'

/** The number of reports of a campaign before its messages are checked. */
const TIMES = 3

/**
 * A simulated campaign: the messages that are reported, in time order, and a later message that is
 * checked before and after the reports. A campaign of a single message reports and checks that
 * message (`isSame`).
 */
type Campaign = { kind: RowKind; reported: readonly Sample[]; asked: Sample; isSame: boolean }

/** The client that requests a verdict: a mail server, or a reporter. */
type Asker = 'asked' | 'newcomer' | 'trusted'

/** Messages that were not in the training data of a model, and the checks of them. */
type Part = { fold: Fold; wanted: Sample[]; campaigns: Campaign[] }

/**
 * Simulates three reporters who report every campaign in turn, and then one who reports each wanted
 * message by mistake. Checks messages before, between and after these reports.
 */
export async function measureVerdicts(
  folds: readonly Fold[],
  isNewcomer: boolean,
  explain: (line: string) => void,
): Promise<string[][]> {
  const parts = folds.map((fold): Part => {
    const isWanted = ({ kind }: Sample) => !isUnwantedKind(kind)
    const unwanted = fold.samples.filter((sample) => !isWanted(sample))
    return { fold, wanted: fold.samples.filter(isWanted), campaigns: campaignsOf(unwanted) }
  })
  const world = await openWorld()
  try {
    const lines: string[][] = []
    await askAll(world, parts, 'at first sight', lines, explain)
    await playReports(world, parts, isNewcomer, lines)
    await askAll(world, parts, `after ${TIMES} reports`, lines, explain)
    await playMistakes(world, parts, isNewcomer, lines, explain)
    return lines
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
    const isSame = others.length === 0
    return [{ kind: asked.kind, reported: isSame ? [asked] : others, asked, isSame }]
  })
}

function isCalled(verdict: VerdictClass): boolean {
  return verdict === 'spam' || verdict === 'phishing' || verdict === 'malware'
}

/** Returns the verdicts on all messages, for a mail server and for a reporter. */
async function askAll(
  world: World,
  parts: readonly Part[],
  when: string,
  lines: string[][],
  explain: (line: string) => void,
): Promise<void> {
  const ask = async (what: 'wanted' | Campaign['kind'], how: Asker, bare = false) => {
    let [hits, of] = [0, 0]
    for (const { fold, wanted, campaigns } of parts) {
      world.use(bare ? undefined : fold.model)
      const some =
        what === 'wanted'
          ? wanted
          : campaigns.flatMap(({ kind, asked }) => (kind === what ? [asked] : []))
      const said = what === 'spam' ? 'spam' : 'phishing'
      const karma = karmaOf(freshKarma(how === 'trusted'), new Date())
      const report = { kind: said, karma, channel: 'api' } as const
      const files = some.map(({ file }) => file)
      const found = await world.judge(files, how === 'asked' ? undefined : report)
      hits += found.filter(({ verdict }) => isCalled(verdict.class)).length
      of += files.length
      for (const [at, { verdict }] of found.entries()) {
        if (isCalled(verdict.class) === (what !== 'wanted')) continue
        const symbols = verdict.symbols.map(({ name, weight }) => `${name} ${weight}`).join(', ')
        if (!bare) explain(`${when}, ${what} ${how}: ${files[at]}: ${verdict.class}: ${symbols}`)
      }
    }
    return shareOf(hits, of)
  }
  const kinds = [...new Set(parts.flatMap(({ campaigns }) => campaigns.map(({ kind }) => kind)))]
  const spared = await ask('wanted', 'asked')
  const bare = await ask('wanted', 'asked', true)
  const sparedText = ({ hits, of }: typeof spared) => shareText(shareOf(of - hits, of))
  lines.push([`wanted mail not judged unwanted, ${when}`, sparedText(spared)])
  lines.push([`… by rules without a model`, sparedText(bare)])
  let called = 0
  for (const kind of kinds) {
    const found = await ask(kind, 'asked')
    called += found.hits
    lines.push([`${kind}: campaigns detected, check by a mail server, ${when}`, shareText(found)])
    lines.push(['… by rules without a model', shareText(await ask(kind, 'asked', true))])
    const reported = await ask(kind, 'newcomer')
    lines.push([`${kind}: campaigns detected, report by a newcomer, ${when}`, shareText(reported)])
    const trusted = shareText(await ask(kind, 'trusted'))
    lines.push([`${kind}: campaigns detected, report by a vouched reporter, ${when}`, trusted])
  }
  const precision = shareOf(called, called + spared.hits)
  lines.push([`precision of checks, ${when}`, shareText(precision)])
}

async function playReports(
  world: World,
  parts: readonly Part[],
  isNewcomer: boolean,
  lines: string[][],
): Promise<void> {
  for (let time = 0; time < TIMES; time++) {
    const reporter = await world.addReporter(isNewcomer)
    let [hits, of, forwarded] = [0, 0, 0]
    for (const { fold, campaigns } of parts) {
      world.use(fold.model)
      for (const kind of ['spam', 'phishing'] as const) {
        const some = campaigns.filter((one) => (one.kind === 'spam') === (kind === 'spam'))
        const files = some.flatMap(({ reported }) => reported[time % reported.length]?.file ?? [])
        const kept = await world.report(reporter, kind, files)
        hits += kept.filter(({ verdict }) => isCalled(verdict)).length
        forwarded += kept.filter(({ action }) => action === 'forward').length
        of += kept.length
      }
    }
    lines.push([`reports judged unwanted, report ${time + 1}`, shareText(shareOf(hits, of))])
    lines.push(['… and forwarded', shareText(shareOf(forwarded, of))])
  }
}

/** Simulates the worst mistake of honest reporters: each reports a wanted message as spam. */
async function playMistakes(
  world: World,
  parts: readonly Part[],
  isNewcomer: boolean,
  lines: string[][],
  explain: (line: string) => void,
): Promise<void> {
  const reporter = await world.addReporter(isNewcomer)
  let [hits, of, forwarded] = [0, 0, 0]
  for (const { fold, wanted } of parts) {
    world.use(fold.model)
    const kept = await world.report(
      reporter,
      'spam',
      wanted.map(({ file }) => file),
    )
    hits += kept.filter(({ verdict }) => isCalled(verdict)).length
    forwarded += kept.filter(({ action }) => action === 'forward').length
    of += kept.length
    for (const [at, { verdict, action, symbols }] of kept.entries()) {
      if (!isCalled(verdict)) continue
      explain(`by mistake: ${wanted[at]?.file}: ${verdict}, ${action}: ${symbols}`)
    }
  }
  lines.push([
    'wanted mail reported by mistake: not judged unwanted',
    shareText(shareOf(of - hits, of)),
  ])
  lines.push(['… and not forwarded', shareText(shareOf(of - forwarded, of))])
}
