import { spamMessage } from '../../messages.ts'
import { compareSamples } from '../../kolmogorov-smirnov.ts'

const WARM_PAIRS = 20
const SIGNIFICANCE = 0.01
/**
 * One in a hundred correct runs fails by chance, so after a failure a second run, twice as long,
 * decides.
 */
const RUNS = 2

/** A site, and the tokens of a banned and of an ordinary reporter. */
type Both = { url: string; banned: string; usual: string }

/**
 * Posts equally many different messages as the banned and as the ordinary reporter. Returns the
 * differences between the answers: in status, header or body, or in time (Kolmogorov-Smirnov test
 * at a significance of 0.01).
 */
export async function compareAnswers(both: Both, pairs: number): Promise<string[]> {
  let sent = 0
  const mark = () => String(++sent).padStart(6, '0')
  await timesOfBoth(both, WARM_PAIRS, mark)
  let chance = 0
  for (let run = 1; run <= RUNS && chance <= SIGNIFICANCE; run++) {
    const { banned, usual, shown } = await timesOfBoth(both, pairs * run, mark)
    if (shown.size > 1) return ['the answers differ:', ...shown]
    chance = compareSamples(banned, usual).chance
  }
  return chance > SIGNIFICANCE ? [] : [`the times differ; equal ones do so with chance ${chance}`]
}

/**
 * Returns the durations of the answers to both reporters. They are measured in turn, and the order
 * alternates from pair to pair, so that noise affects both alike.
 */
async function timesOfBoth(both: Both, pairs: number, mark: () => string) {
  const times = { banned: [] as number[], usual: [] as number[], shown: new Set<string>() }
  for (let pair = 0; pair < pairs; pair++) {
    const order = pair % 2 === 0 ? (['banned', 'usual'] as const) : (['usual', 'banned'] as const)
    for (const reporter of order) {
      const { shown, tookMs } = await answerTo(both.url, both[reporter], mark())
      times[reporter].push(tookMs)
      times.shown.add(shown)
    }
  }
  return times
}

/** Returns an answer without the parts that always differ, and its duration in milliseconds. */
async function answerTo(url: string, token: string, mark: string) {
  const body = spamMessage(mark)
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'message/rfc822' }
  const begin = performance.now()
  const answer = await fetch(`${url}/api/v1/reports`, { method: 'POST', body, headers })
  const text = await answer.text()
  const tookMs = performance.now() - begin
  const id = /[0-9a-f]{8}-[0-9a-f-]{27}/g
  const fields = [...answer.headers]
    .filter(([name]) => name !== 'date')
    .map(([name, value]) => `${name}: ${value}`)
  const given = [answer.status, ...fields, text].join('\n')
  const shown = given.replaceAll(id, 'ID').replace(/r=\d+;t=\d+/, 'how many are left')
  return { shown, tookMs }
}
