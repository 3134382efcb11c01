import type { DnsAnswer, Resolve } from '../../world.ts'
import type { DnsFindings, SpfFinding } from './dns-findings.ts'
import {
  type DnsOptions,
  type DnsQuestions,
  questionsOf,
  spfDomain,
  type SpfQuestion,
} from './spf.ts'

/** The functions that query the DNS. Both answer in bounded time. */
export type DnsTools = {
  resolve: Resolve
  /** Queries the blacklists; an unknown answer is not a listing. */
  listings: (subjects: {
    addresses: readonly string[]
    domains: readonly string[]
  }) => Promise<DnsFindings['listings']>
}

const recordsMax = 10
const recordCharsMax = 4096

/** Sends all DNS queries that the analysis of a message needs and returns the answers. */
export function askAbout(
  raw: Buffer,
  options: DnsOptions,
  tools: DnsTools,
  signal: AbortSignal,
): Promise<DnsFindings> {
  return askDns(questionsOf(raw, options), tools, signal)
}

/**
 * Sends all DNS queries about a message at once. When `signal` is aborted, unanswered queries count
 * as unknown: SPF is `temperror`, and there are no listings. Never rejects, so that a message is
 * analyzed even if the DNS is down.
 */
async function askDns(
  questions: DnsQuestions,
  { resolve, listings }: DnsTools,
  signal: AbortSignal,
): Promise<DnsFindings> {
  const { texts, addresses, domains, pointer } = questions
  const bounded: Resolve = async (name, type) =>
    signal.aborted ? timedOut : untilAborted(resolve(name, type), timedOut, signal)
  const asked = [
    ...texts.map((name) => ['TXT', name] as const),
    ...(pointer === undefined ? [] : [['PTR', pointer] as const]),
  ]
  const [answers, spf, listed] = await Promise.all([
    Promise.all(
      asked.map(
        async ([type, name]) => [`${type} ${name}`, kept(await bounded(name, type))] as const,
      ),
    ),
    askSpf(questions.spf, bounded, signal),
    untilAborted(listings({ addresses, domains }), [], signal),
  ])
  return { answers: Object.fromEntries(answers), spf, listings: listed }
}

const timedOut: DnsAnswer = { is: 'unknown', why: 'The DNS look-up took too long.' }

async function askSpf(
  question: SpfQuestion | undefined,
  resolve: Resolve,
  signal: AbortSignal,
): Promise<SpfFinding | undefined> {
  const domain = question && spfDomain(question)
  if (!question || domain === undefined) return undefined
  // The library behind `checkSpf` is loaded only when needed.
  const { checkSpf } = await import('./spf.ts')
  return untilAborted(
    checkSpf(question, resolve),
    { ip: question.ip, result: 'temperror', domain },
    signal,
  )
}

/**
 * Resolves to the promise's value, or to `otherwise` if the signal is aborted first or the promise
 * rejects.
 */
async function untilAborted<T>(promise: Promise<T>, otherwise: T, signal: AbortSignal): Promise<T> {
  let giveUp: () => void = () => undefined
  const tooLate = new Promise<T>((settle) => {
    giveUp = () => settle(otherwise)
    signal.addEventListener('abort', giveUp, { once: true })
    if (signal.aborted) giveUp()
  })
  try {
    return await Promise.race([promise.catch(() => otherwise), tooLate])
  } finally {
    signal.removeEventListener('abort', giveUp)
  }
}

/** Cuts the records of a hostile zone before they are passed to the analysis. */
function kept(answer: DnsAnswer): DnsAnswer {
  if (answer.is !== 'found') return answer
  const records = answer.records.slice(0, recordsMax)
  return { is: 'found', records: records.map((record) => record.slice(0, recordCharsMax)) }
}
