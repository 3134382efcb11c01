import type { AnalysisDetails } from '../db/analyses.ts'
import { findMarketer } from '../db/marketers.ts'
import type { Db } from '../db/pool.ts'
import type { Report } from '../db/reports.ts'
import type { KeyedLink } from '../mail/keys.ts'
import type { Unsubscribe } from '../mail/list-unsubscribe.ts'
import { type Texts, textsIn } from '../texts/messages.ts'
import { type Advice, adviceOf } from '../verdict/advice.ts'
import type { AdviceLanguage, Marketer } from '../verdict/marketers/marketer.ts'
import { composeBody, type LetterBody, type LetterPart } from './letter-body.ts'

/**
 * Invisible characters, and those that change how their neighbors are displayed, including joiners
 * and direction marks.
 */
const unseen = /[\p{C}\p{Zl}\p{Zp}\p{Variation_Selector}]/gu
const links = /\b(?:[a-z][a-z0-9+.-]{1,20}:\/\/|www\.)\S*/gi

/**
 * Returns untrusted text as one line of a letter: without invisible characters, and without links,
 * which mail programs would make clickable. Cuts it to `charsMax` characters.
 */
export function plainLine(text: string, charsMax: number): string {
  const isWebsite = /^https?:\/\/[\x21-\x7e]+$/i.test(text)
  const line = text
    .slice(0, charsMax * 4)
    .replaceAll(/\s+/g, ' ')
    .replaceAll(unseen, '')
  const whole = (isWebsite ? line : line.replaceAll(links, '…')).trim()
  return whole.length > charsMax ? `${whole.slice(0, charsMax).toWellFormed()}…` : whole
}

/** Returns lines of a text that an administrator confirmed; links stay. */
function plainLines(text: string): string[] {
  return text.split('\n').map((line) => line.replaceAll(unseen, '').trimEnd())
}

/** The ways to unsubscribe that a message offers, if they can be shown to a person. */
export type UnsubscribeWays = {
  link?: { url: string; host: string }
  mail?: { address: string; subject: string | undefined }
}

const URL_CHARS_MAX = 500
const WAY_CHARS_MAX = 150
const addressShape = /^[A-Za-z0-9.!#$&'*+/=?^_`{|}~-]{1,128}@[A-Za-z0-9.-]{1,253}$/

/**
 * Returns the ways in a message's header: an https link in ASCII with a host name, and one mail
 * address. Omits everything that could be misleading.
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
  // RFC 6068 §5: a plus is not a space in this context.
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
 * Returns the advice about a report according to the current registry: a recognized marketer is
 * used only while it is still confirmed.
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

export type AdviceFacts = {
  language: AdviceLanguage
  /** The subject of the reported message; untrusted. */
  subject: string | null
  reportedAt: Date
  /** The sender, and how it was identified; an unknown sender is named by its signing domain. */
  sender:
    | { is: 'known'; name: string; by: 'signature' | 'range'; proof: string }
    | { is: 'cautious'; domain: string }
  /** The advice that a known marketer declared, by language. */
  declared: Readonly<Partial<Record<AdviceLanguage, string>>>
  website: string | null
  ways: UnsubscribeWays
  canClick: boolean
  /** Who receives a feedback report; undefined while that is not certain. */
  notified: { network: boolean; sender: boolean } | undefined
  /** The page of the report, and the page to switch off letters with advice. */
  pageUrl: string
  offUrl: KeyedLink
}

const SUBJECT_CHARS_MAX = 100
const NAME_CHARS_MAX = 120

/** Composes an advice letter: who sent the mail, why we think so, and what to do. */
export function composeAdvice(facts: AdviceFacts): LetterBody & { subject: string } {
  const texts = textsIn(facts.language)
  const { sender } = facts
  const name = plainLine(sender.is === 'known' ? sender.name : sender.domain, NAME_CHARS_MAX)
  const subject = plainLine(facts.subject ?? '', SUBJECT_CHARS_MAX)
  const day = facts.reportedAt
  const isKnown = sender.is === 'known'
  const parts: LetterPart[] = [
    texts('adviceLetters.hello'),
    subject === ''
      ? texts('adviceLetters.reportedUntitled', { day })
      : texts('adviceLetters.reported', { subject, day }),
    texts(isKnown ? 'adviceLetters.isKnown' : 'adviceLetters.isCautious', { name }),
    ...(isKnown ? [] : [{ title: texts('adviceLetters.cautiousTitle') }]),
    ...(isKnown ? [] : [{ items: texts('adviceLetters.cautious', { name }) }]),
    { title: texts('adviceLetters.howTitle') },
    ...waysOf(facts, name, texts),
    { title: texts('adviceLetters.whyTitle') },
    whyOf(facts, name, texts),
    { title: texts('adviceLetters.nextTitle') },
    ...texts('adviceLetters.next'),
    ...notifiedLines(facts, texts),
    { action: texts('adviceLetters.byPage'), url: facts.pageUrl },
    { small: texts('adviceLetters.weekly') },
    { small: texts('adviceLetters.off'), url: facts.offUrl },
  ]
  return {
    subject: texts(`adviceLetters.subject${isKnown ? 'Known' : 'Cautious'}`, { name }),
    ...composeBody(parts, facts.language),
  }
}

function notifiedLines({ notified }: AdviceFacts, texts: Texts): string[] {
  if (!notified) return []
  if (!notified.network && !notified.sender) return [texts('adviceLetters.nobodyAccused')]
  return [
    ...(notified.network ? [texts('adviceLetters.networkTold')] : []),
    ...(notified.sender ? [texts('adviceLetters.senderTold')] : []),
  ]
}

function whyOf({ sender }: AdviceFacts, name: string, texts: Texts): string {
  if (sender.is === 'cautious') return texts('adviceLetters.whySignature', { domain: name })
  const proof = plainLine(sender.proof, NAME_CHARS_MAX)
  return sender.by === 'signature'
    ? texts('adviceLetters.whySignature', { domain: proof })
    : texts('adviceLetters.whyRange', { range: proof, name })
}

function waysOf(facts: AdviceFacts, name: string, texts: Texts): LetterPart[] {
  const { ways, canClick, website, pageUrl } = facts
  const declared = declaredOf(facts, name, texts)
  const { link, mail } = ways
  const items = [
    ...(declared === undefined ? [] : [declared]),
    ...(canClick ? [{ text: texts('adviceLetters.byClick'), url: pageUrl }] : []),
    ...(link ? [{ text: texts('adviceLetters.byLink', { host: link.host }), url: link.url }] : []),
    ...(mail ? [byMail(mail, texts)] : []),
  ]
  return [
    items.length > 0 ? { items } : texts('adviceLetters.noWay', { name }),
    ...(website === null ? [] : [`${texts('adviceLetters.website')} ${plainLine(website, 300)}`]),
  ]
}

function byMail({ address, subject }: NonNullable<UnsubscribeWays['mail']>, texts: Texts): string {
  if (subject === undefined) return texts('adviceLetters.byMail', { address })
  return texts('adviceLetters.byMailWithSubject', { address, subject })
}

/**
 * Returns the declared advice in the reporter's language, otherwise in English, otherwise in any.
 */
function declaredOf(
  { declared, language }: AdviceFacts,
  name: string,
  texts: Texts,
): string | undefined {
  const its = ([language, 'en', 'fr', 'ru'] as const).find((one) => declared[one] !== undefined)
  if (its === undefined) return undefined
  const said =
    its === language
      ? texts('adviceLetters.said', { name })
      : texts('adviceLetters.saidForeign', { name, language: its })
  return [said, ...plainLines(declared[its] ?? '')].join('\n')
}
