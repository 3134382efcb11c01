import type { AdviceLanguage } from '../../verdict/marketers/marketer.ts'
import type { AdviceWords } from './advice-words.ts'
import { en } from './en.ts'
import { fr } from './fr.ts'
import { plainLine, plainLines } from './plain-line.ts'
import { ru } from './ru.ts'
import type { UnsubscribeWays } from './unsubscribe-ways.ts'

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
const catalogs: Readonly<Record<AdviceLanguage, AdviceWords>> = { en, fr, ru }

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
