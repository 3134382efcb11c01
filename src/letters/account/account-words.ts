import type { LetterLanguage } from '../../db/reporter-settings.ts'
import { wrappedLines } from '../wrapped-lines.ts'
import { accountLettersEn } from './en.ts'
import { accountLettersFr } from './fr.ts'
import { accountLettersRu } from './ru.ts'

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
