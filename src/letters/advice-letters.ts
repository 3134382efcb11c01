import type { AnalysisDetails } from '../db/analyses.ts'
import { findMarketer } from '../db/marketers.ts'
import type { Db } from '../db/pool.ts'
import type { Report } from '../db/reports.ts'
import type { Unsubscribe } from '../mail/list-unsubscribe.ts'
import { adviceLettersEn } from '../texts/en/letters.ts'
import { adviceLettersFr } from '../texts/fr/letters.ts'
import type { AdviceWords } from '../texts/letters.ts'
import { adviceLettersRu } from '../texts/ru/letters.ts'
import { type Advice, adviceOf } from '../verdict/advice.ts'
import type { AdviceLanguage, Marketer } from '../verdict/marketers/marketer.ts'

/** What is not seen, or changes what is seen beside it; joiners and marks of direction too. */
const unseen = /[\p{C}\p{Zl}\p{Zp}\p{Variation_Selector}]/gu
const links = /\b(?:[a-z][a-z0-9+.-]{1,20}:\/\/|www\.)\S*/gi

/**
 * A stranger's text on one line of a letter: without what cannot be seen, and without links, which
 * mail programs would make to be clicked. Cut to `charsMax`.
 */
function plainLine(text: string, charsMax: number): string {
  const isWebsite = /^https?:\/\/[\x21-\x7e]+$/i.test(text)
  const line = text
    .slice(0, charsMax * 4)
    .replaceAll(/\s+/g, ' ')
    .replaceAll(unseen, '')
  const whole = (isWebsite ? line : line.replaceAll(links, '…')).trim()
  return whole.length > charsMax ? `${whole.slice(0, charsMax).toWellFormed()}…` : whole
}

/** Lines that an administrator confirmed: links stay. */
function plainLines(text: string): string[] {
  return text.split('\n').map((line) => line.replaceAll(unseen, '').trimEnd())
}

/** How a message says one can leave its list, as far as it can be shown to a person. */
export type UnsubscribeWays = {
  link?: { url: string; host: string }
  mail?: { address: string; subject: string | undefined }
}

const URL_CHARS_MAX = 500
const WAY_CHARS_MAX = 150
const addressShape = /^[A-Za-z0-9.!#$&'*+/=?^_`{|}~-]{1,128}@[A-Za-z0-9.-]{1,253}$/

/**
 * The ways of a message's own header: a secure link in ASCII, whose host can be named, and one mail
 * address. What could pose as something else is left out.
 */
export function unsubscribeWays(unsubscribe: Unsubscribe | null): UnsubscribeWays {
  if (!unsubscribe) return {}
  const link = readLink(unsubscribe.https)
  const mail = readMail(unsubscribe.mailto)
  return { ...(link && { link }), ...(mail && { mail }) }
}

function readLink(text: string | null): UnsubscribeWays['link'] {
  if (text === null || text.length > URL_CHARS_MAX || !/^[\x21-\x7e]+$/.test(text)) return undefined
  const url = URL.parse(text)
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '') return undefined
  if (/[<>"\\]/.test(url.href) || !url.hostname.includes('.')) return undefined
  return { url: url.href, host: url.hostname }
}

function readMail(text: string | null): UnsubscribeWays['mail'] {
  if (text === null || text.length > URL_CHARS_MAX) return undefined
  const url = URL.parse(text)
  if (url?.protocol !== 'mailto:') return undefined
  const address = decoded(url.pathname)
  if (address === undefined || !addressShape.test(address)) return undefined
  // RFC 6068 §5: a plus is a plus here.
  const asked = new URLSearchParams(url.search.replaceAll('+', '%2B'))
  const subject = plainLine(asked.get('subject') ?? '', WAY_CHARS_MAX)
  return { address, subject: subject === '' ? undefined : subject }
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/**
 * What to advise on a report by the registry of the moment: a marketer that was recognized counts
 * while it is still confirmed.
 */
export async function findAdvice(
  db: Db,
  report: Report,
  details: AnalysisDetails,
): Promise<{ advice: Advice | undefined; marketer: Marketer | undefined }> {
  const key = details.marketer?.key
  const found = key === undefined ? undefined : await findMarketer(db, key)
  const marketer = found?.state === 'confirmed' ? found : undefined
  const advice = adviceOf({
    ...details,
    reportedAs: report.kind,
    isLearned: report.channel === 'learn',
    messageKind: details.kind,
    marketer: marketer ? details.marketer : null,
  })
  return { advice, marketer }
}

/** What a letter of advice rests on. */
export type AdviceFacts = {
  language: AdviceLanguage
  /** Of the reported message; a stranger's. */
  subject: string | null
  reportedAt: Date
  /** Whose mailing it is, and by what we know; an unknown one is its signing domain. */
  sender:
    | { is: 'known'; name: string; by: 'signature' | 'range'; proof: string }
    | { is: 'cautious'; domain: string }
  /** What a known marketer declared, by language. */
  declared: Readonly<Partial<Record<AdviceLanguage, string>>>
  website: string | null
  ways: UnsubscribeWays
  canClick: boolean
  /** Who is told of it; undefined while that is not certain. */
  told: { network: boolean; sender: boolean } | undefined
  /** The page of the report, and the one on which such letters are switched off. */
  pageUrl: string
  offUrl: string
}

const SUBJECT_CHARS_MAX = 100
const NAME_CHARS_MAX = 120
const catalogs: Readonly<Record<AdviceLanguage, AdviceWords>> = {
  en: adviceLettersEn,
  fr: adviceLettersFr,
  ru: adviceLettersRu,
}

/** The subject and text of a letter of advice: whom the mail is from, why, and what to do. */
export function composeAdvice(facts: AdviceFacts): { subject: string; text: string } {
  const words = catalogs[facts.language]
  const { sender } = facts
  const name = plainLine(sender.is === 'known' ? sender.name : sender.domain, NAME_CHARS_MAX)
  const subject = plainLine(facts.subject ?? '', SUBJECT_CHARS_MAX)
  const day = words.day(facts.reportedAt)
  const isKnown = sender.is === 'known'
  const paragraphs = [
    words.hello,
    subject === '' ? words.reportedUntitled(day) : words.reported(subject, day),
    isKnown ? words.isKnown(name) : words.isCautious(name),
    titled(words.whyTitle, [whyOf(facts, name, words)]),
    ...(isKnown ? [] : [titled(words.cautiousTitle, words.cautious(name).map(asItem))]),
    titled(words.howTitle, waysOf(facts, name, words)),
    titled(words.nextTitle, [...words.next, ...toldOf(facts, words)]),
    `${words.byPage}\n${facts.pageUrl}`,
    `${words.weekly}\n${words.off}\n${facts.offUrl}`,
  ]
  return {
    subject: isKnown ? words.subjectKnown(name) : words.subjectCautious(name),
    text: `${paragraphs.join('\n\n')}\n`,
  }
}

function toldOf({ told }: AdviceFacts, words: AdviceWords): string[] {
  if (!told) return []
  if (!told.network && !told.sender) return [words.nobodyAccused]
  return [...(told.network ? [words.networkTold] : []), ...(told.sender ? [words.senderTold] : [])]
}

function whyOf({ sender }: AdviceFacts, name: string, words: AdviceWords): string {
  if (sender.is === 'cautious') return words.whySignature(name)
  const proof = plainLine(sender.proof, NAME_CHARS_MAX)
  return sender.by === 'signature' ? words.whySignature(proof) : words.whyRange(proof, name)
}

function waysOf(facts: AdviceFacts, name: string, words: AdviceWords): string[] {
  const { ways, canClick, website, pageUrl } = facts
  const declared = declaredOf(facts, name, words)
  const { link, mail } = ways
  const found = [
    ...(declared === undefined ? [] : [declared]),
    ...(canClick ? [asItem(`${words.byClick}\n${pageUrl}`)] : []),
    ...(link ? [asItem(`${words.byLink(link.host)}\n${link.url}`)] : []),
    ...(mail ? [asItem(words.byMail(mail.address, mail.subject))] : []),
  ]
  const shown = found.length > 0 ? found : [words.noWay(name)]
  return website === null ? shown : [...shown, `${words.website} ${plainLine(website, 300)}`]
}

/** In the reporter's language, else in English, else in any. */
function declaredOf(
  { declared, language }: AdviceFacts,
  name: string,
  words: AdviceWords,
): string | undefined {
  const its = ([language, 'en', 'fr', 'ru'] as const).find((one) => declared[one] !== undefined)
  if (its === undefined) return undefined
  const said = its === language ? words.said(name) : foreign(words, name, its)
  const lines = plainLines(declared[its] ?? '').map((line) => (line === '' ? '' : `  ${line}`))
  return asItem([said, ...lines].join('\n'))
}

/** The colon stays last: "Example Shop says (in English):". */
function foreign(words: AdviceWords, name: string, its: AdviceLanguage): string {
  const said = words.said(name)
  const colon = /\s*:$/.exec(said)?.[0] ?? ''
  return `${said.slice(0, said.length - colon.length)} (${words.inLanguage[its]})${colon}`
}

function titled(title: string, lines: readonly string[]): string {
  return [title.toUpperCase(), ...lines].join('\n')
}

function asItem(text: string): string {
  return `- ${text.replaceAll('\n', '\n  ')}`
}
