import { countIndependent, type Witness } from '../verdict/reputation/karma.ts'

type PageType = 'phishing' | 'malware'

/** What one report says about a page, and what shows how much its reporter weighs. */
export type PageWitness = Pick<
  Witness,
  'reporterId' | 'isVouched' | 'isProven' | 'isYoung' | 'signUpDay' | 'circle'
> & {
  /** The page as this recipient got it. */
  url: string
  /** A hash of the address that received the message. */
  recipient: Buffer
  /** Whether the reporter called the message phishing. */
  isAccusing: boolean
  /** Whether the content of the message supports that (`judgePages`). */
  isSupported: boolean
  /** What a person of the site said about the message; `other`: it is neither. */
  decision: PageType | 'other' | null
}

/** What the reports of a page permit. */
export type PageFinding = {
  confirmedBy: 'person' | 'reporters' | undefined
  /** What a person of the site called it. */
  type: PageType | undefined
  /** The URL that independent reporters received exactly so: it is nobody's token. */
  sharedUrl: string | undefined
}

const INDEPENDENT_MIN = 3
/** A crowd needs several proven reporters: one of them may be an accomplice. */
const PROVEN_MIN = 2

/**
 * Decides whether the reports of a page confirm it:
 *
 * - A person of the site called the message phishing or malware, and a reporter who is believed
 *   reported it with this page: one with an account that an operator created, or two proven ones.
 *   Otherwise anybody could put a page of somebody else into a copy of a known phishing message.
 * - Or three independent reporters, two of them proven, called it phishing, and the content of each
 *   of their messages supports them; unless a proven reporter wants this mail (`isDefended`), or a
 *   person of the site called a message with this page something else.
 *
 * An account counts from the day after its sign-up. A model alone never confirms a page.
 */
export function findConfirmation(
  witnesses: readonly PageWitness[],
  { isDefended }: { isDefended: boolean },
): PageFinding {
  const counting = witnesses
    .filter(({ isVouched, isYoung }) => isVouched || !isYoung)
    .toSorted((a, b) => Number(b.isProven) - Number(a.isProven))
  const decided = counting.filter(
    ({ decision }) => decision === 'phishing' || decision === 'malware',
  )
  const isByPerson = isBelieved(decided)
  const mayDecide = !isDefended && witnesses.every(({ decision }) => decision !== 'other')
  const accusing = counting.filter((one) => one.isAccusing && one.isSupported)
  const isByReporters = mayDecide && isCrowd(accusing)
  return {
    confirmedBy: isByPerson ? 'person' : isByReporters ? 'reporters' : undefined,
    type: isByPerson ? typeOf(decided) : undefined,
    sharedUrl: sharedUrlOf(counting),
  }
}

function isBelieved(witnesses: readonly PageWitness[]): boolean {
  const proven = witnesses.filter(({ isProven }) => isProven)
  return proven.some(({ isVouched }) => isVouched) || count(proven) >= PROVEN_MIN
}

function isCrowd(witnesses: readonly PageWitness[]): boolean {
  const proven = witnesses.filter(({ isProven }) => isProven)
  return count(witnesses) >= INDEPENDENT_MIN && count(proven) >= PROVEN_MIN
}

function typeOf(decided: readonly PageWitness[]): PageType {
  return decided.some(({ decision }) => decision === 'malware') ? 'malware' : 'phishing'
}

/** Returns the URL that most independent reporters received, each at another address. */
function sharedUrlOf(witnesses: readonly PageWitness[]): string | undefined {
  const [best] = [...Map.groupBy(witnesses, ({ url }) => url)]
    .map(([url, its]) => ({ url, reporters: count(its) }))
    .filter(({ reporters }) => reporters >= INDEPENDENT_MIN)
    .toSorted((a, b) => b.reporters - a.reporters || (a.url < b.url ? -1 : 1))
  return best?.url
}

/** Counts independent reporters, each once, who received the message at different addresses. */
function count(witnesses: readonly PageWitness[]): number {
  const byReporter = new Map(witnesses.toReversed().map((one) => [one.reporterId, one]))
  const byAddress = new Map(
    [...byReporter.values()].map((one) => [one.recipient.toString('hex'), one]),
  )
  return countIndependent([...byAddress.values()])
}
