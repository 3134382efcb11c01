import { accountLettersEn } from './en/letters.ts'
import { accountLettersFr } from './fr/letters.ts'
import { accountLettersRu } from './ru/letters.ts'
import { wrappedLines } from './wording.ts'

/** A language of letters. */
export type LetterLanguage = 'en' | 'fr' | 'ru'

/** Kinds of letters about an account. */
export type AccountNews =
  /** Sign-up: confirms the address. */
  | 'confirm'
  /** Sign-up with an address that already has an account. */
  | 'exists'
  | 'reset'
  /** Password reset for an address without an account. */
  | 'no-account'
  /** The operator has disabled the account; sent whatever was requested. */
  | 'disabled'
  /** To a new address, which must be confirmed. */
  | 'move'
  /** To the previous address. */
  | 'moved'
  | 'password-changed'
  | 'second-step-on'
  | 'second-step-off'

/** Texts of a letter: paragraphs; the link follows `before`. */
export type AccountLetterWords = {
  greeting: string
  letters: Record<AccountNews, { subject: string; before: string[]; after: string[] }>
}

const catalogs: Record<LetterLanguage, AccountLetterWords> = {
  en: accountLettersEn,
  fr: accountLettersFr,
  ru: accountLettersRu,
}

/** Composes a letter about an account. It contains no user input, only our own link. */
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

/**
 * Texts of a letter with unsubscribe advice, in one language. Names and links are inserted
 * unchanged.
 */
export type AdviceWords = {
  /** Formats the day of a time. */
  day: (at: Date) => string
  subjectKnown: (name: string) => string
  subjectCautious: (signer: string) => string
  hello: string
  /** The first sentences: the message, and its sender. */
  reported: (subject: string, day: string) => string
  reportedUntitled: (day: string) => string
  isKnown: (name: string) => string
  isCautious: (signer: string) => string
  whyTitle: string
  whySignature: (domain: string) => string
  whyRange: (range: string, name: string) => string
  cautiousTitle: string
  /** How to check whether one has subscribed, line by line. */
  cautious: (signer: string) => readonly string[]
  howTitle: string
  /** Introduces the marketer's own advice if it is in another language than the letter. */
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
  /** The sender accepts feedback reports, and may find its own tokens in them. */
  senderTold: string
  weekly: string
  off: string
}
