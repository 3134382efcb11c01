import { setTimeout as wait } from 'node:timers/promises'
import { compareSamples } from '../../kolmogorov-smirnov.ts'
import { spamMessage } from '../../messages.ts'

/** A site with a worker, and the tokens of a banned and of an ordinary reporter. */
type Both = { url: string; banned: string; usual: string }
type Seen = { status: string; timeline: { event: string; at: string }[] }

const SIGNIFICANCE = 0.001
const PATIENCE_MS = 60_000
const LOOK_MS = 250

/**
 * Reports equally many messages as the banned and as the ordinary reporter, in turns, and looks at
 * each report until it is forwarded. Returns the differences: in the states and events that both
 * see, or in the time from the analysis to the forwarding.
 */
export async function compareOutcomes(both: Both, pairs: number): Promise<string[]> {
  const times = { banned: [] as number[], usual: [] as number[] }
  const shown = { banned: new Set<string>(), usual: new Set<string>() }
  for (let pair = 0; pair < pairs; pair++) {
    const order = pair % 2 === 0 ? (['banned', 'usual'] as const) : (['usual', 'banned'] as const)
    for (const who of order) {
      const seen = await untilForwarded(both.url, both[who], `outcome-${who.length}-${pair}`)
      const at = (event: string) =>
        Date.parse(seen.timeline.find((one) => one.event === event)?.at ?? '')
      times[who].push(at('sent') - at('analyzed'))
      shown[who].add([seen.status, ...seen.timeline.map(({ event }) => event)].join(' '))
    }
  }
  const [one, other] = [[...shown.banned].sort().join(), [...shown.usual].sort().join()]
  if (one !== other) return [`the banned reporter sees: ${one}`, `the ordinary one: ${other}`]
  const { chance } = compareSamples(times.banned, times.usual)
  return chance > SIGNIFICANCE ? [] : [`the times differ; equal ones do so with chance ${chance}`]
}

/** Reports a message, and returns what its reporter sees in the end. */
async function untilForwarded(url: string, token: string, mark: string): Promise<Seen> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'message/rfc822' }
  const post = { method: 'POST', body: spamMessage(mark), headers }
  const { id } = (await (await fetch(`${url}/api/v1/reports`, post)).json()) as { id: string }
  for (const until = performance.now() + PATIENCE_MS; ; await wait(LOOK_MS)) {
    const seen = (await (
      await fetch(`${url}/api/v1/reports/${id}`, { headers: { authorization: `Bearer ${token}` } })
    ).json()) as Seen
    if (seen.status === 'forwarded' || performance.now() > until) return seen
  }
}
