import table from './phrases.json' with { type: 'json' }
import type { BounceReason } from './reasons.ts'

/** Phrases by the reason that they mean; the first reason with a matching phrase counts. */
type Phrases = readonly (readonly [BounceReason, readonly RegExp[]])[]

const names: Readonly<Record<string, string>> = table.names

function formsOf(lines: readonly string[], flags = ''): RegExp[] {
  return lines
    .filter((line) => !line.startsWith('#'))
    .map((line) => line.replace(/<(\w+)>/g, (text, name: string) => names[name] ?? text))
    .map((source) => new RegExp(source, flags))
}

function phrasesIn(reasons: Readonly<Record<string, readonly string[] | undefined>>): Phrases {
  return Object.entries(reasons).map(([reason, lines = []]) => [
    reason as BounceReason,
    formsOf(lines),
  ])
}

const codes = phrasesIn(table.providerCodes)
const conclusions = phrasesIn(table.conclusions)
const providers = table.providers.map(({ hosts, isQuoting, reasons }) => ({
  hosts: new RegExp(`(?:^|\\.)(?:${hosts})$`),
  isQuoting,
  phrases: phrasesIn(reasons),
}))

const anyTextPhrases = phrasesIn(table.phrases)
/**
 * All phrases by reason: those for any text, and those that count only with certain statuses or at
 * certain stages of the session.
 */
export const phrases = new Map([...anyTextPhrases, ...phrasesIn(table.refusalPhrases)])
export const anyTextReasons = anyTextPhrases.map(([reason]) => reason)
/** Phrases to search for when nothing else gives the reason, in a text without accents. */
export const loosePhrases = phrasesIn(table.loosePhrases)

const statuses = Object.entries(table.statuses).flatMap(([reason, listed]) =>
  listed.split(' ').map((status) => [status, reason as BounceReason] as const),
)
/** The reason that an enhanced status code of class 4 or 5 names (RFC 3463). */
export const reasonsByStatus: ReadonlyMap<string, BounceReason> = new Map(statuses)
/** For each reason, the detail of the status code that is made when no status was stated. */
export const inferredDetails: Partial<Record<BounceReason, number>> = table.inferredDetails

const categories = new Map(Object.entries(table.categories) as [string, BounceReason][])

const { subjects, failureSubjects, refusedPosts, texts, delays, delayedSubjects, temporary } =
  table.notices
/** Phrases that show that a mail is a bounce, and of what kind. */
export const notices = {
  subjects: formsOf(subjects, 'i'),
  failureSubjects: formsOf(failureSubjects, 'i'),
  refusedPosts: formsOf(refusedPosts, 'i'),
  texts: formsOf(texts, 'i'),
  delays: formsOf(delays, 'i'),
  delayedSubjects: formsOf(delayedSubjects, 'i'),
  temporary: formsOf(temporary, 'i'),
}

export function isSaid(forms: readonly RegExp[], text: string): boolean {
  return forms.some((form) => form.test(text))
}

/** The first reason that has a phrase in a text; undefined when there is none. */
export function reasonSaid(all: Phrases, text: string): BounceReason | undefined {
  return all.find(([, forms]) => isSaid(forms, text))?.[0]
}

/**
 * The reason that is certain from the text alone. Searches for a provider's own code, then for a
 * phrase of the provider, then for a conclusion of a mail system. Undefined when the text contains
 * none of them. `hosts`: the remote host, the recipient's domain and the reporting host, as far as
 * known.
 */
export function certainReason(text: string, hosts: readonly string[]): BounceReason | undefined {
  return reasonSaid(codes, text) ?? reasonAtProvider(text, hosts) ?? reasonSaid(conclusions, text)
}

function reasonAtProvider(text: string, hosts: readonly string[]): BounceReason | undefined {
  const [remote = '', domain = '', reporting = ''] = hosts
  for (const host of [remote, domain, reporting]) {
    const isQuoted = host === reporting && remote !== '' && remote !== host
    const known = providers.filter((one) => one.hosts.test(host) && !(isQuoted && one.isQuoting))
    const reason = reasonSaid(
      known.flatMap((one) => one.phrases),
      text,
    )
    if (reason !== undefined) return reason
  }
  return undefined
}

/** The reason that a PowerMTA bounce category means; undefined when it means none. */
export function reasonOfCategory(category: string): BounceReason | undefined {
  return categories.get(category.trim().toLowerCase())
}
