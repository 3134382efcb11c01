import { accountLettersEn } from './en/letters.ts'
import { accountLettersFr } from './fr/letters.ts'
import { accountLettersRu } from './ru/letters.ts'
import { wrappedLines } from './wording.ts'

/** A language that letters are written in. */
export type LetterLanguage = 'en' | 'fr' | 'ru'

/** What a letter about an account is about. */
export type AccountNews =
  /** Somebody wants an account: prove the address. */
  | 'confirm'
  /** Somebody wanted an account that is there already. */
  | 'exists'
  | 'reset'
  /** A new password was asked for, and there is no account. */
  | 'no-account'
  /** The account is closed by the operator, whatever was asked for. */
  | 'disabled'
  /** To the new address, which must be proven. */
  | 'move'
  /** To the address that was. */
  | 'moved'
  | 'password-changed'
  | 'second-step-on'
  | 'second-step-off'

/** What it says: paragraphs, and behind `before` the link. */
export type AccountLetterWords = {
  greeting: string
  letters: Record<AccountNews, { subject: string; before: string[]; after: string[] }>
}

const catalogs: Record<LetterLanguage, AccountLetterWords> = {
  en: accountLettersEn,
  fr: accountLettersFr,
  ru: accountLettersRu,
}

/** A letter about an account. Nothing that anybody wrote is in it, but the link of ours. */
export function composeAccountLetter(
  news: AccountNews,
  language: LetterLanguage,
  link: string,
): { subject: string; text: string } {
  const { greeting, letters } = catalogs[language]
  const { subject, before, after } = letters[news]
  const paragraphs = [greeting, ...before, link, ...after]
  return { subject, text: paragraphs.map(wrappedLines).join('\n\n') }
}

/** What a letter of advice says, in one language. Names and links are put in as they are. */
export type AdviceWords = {
  /** Of an instant, as a day. */
  day: (at: Date) => string
  subjectKnown: (name: string) => string
  subjectCautious: (signer: string) => string
  hello: string
  /** The first sentences: which message it is about, and whose it is. */
  reported: (subject: string, day: string) => string
  reportedUntitled: (day: string) => string
  isKnown: (name: string) => string
  isCautious: (signer: string) => string
  whyTitle: string
  whySignature: (domain: string) => string
  whyRange: (range: string, name: string) => string
  cautiousTitle: string
  /** How to tell whether one subscribed, line by line. */
  cautious: (signer: string) => readonly string[]
  howTitle: string
  /** In front of what the marketer declared, when it is in another language than the letter. */
  inLanguage: Readonly<Record<'en' | 'fr' | 'ru', string>>
  said: (name: string) => string
  byLink: (host: string) => string
  byMail: (address: string, subject: string | undefined) => string
  byClick: string
  byPage: string
  website: string
  noWay: (name: string) => string
  nextTitle: string
  next: readonly string[]
  nobodyAccused: string
  networkTold: string
  /** The sender wants its complaints, and its own codes may stand in what it gets. */
  senderTold: string
  weekly: string
  off: string
}
