import type { OwnNames } from '../verdict/lists/spare.ts'
import { findPages, type FoundPage, type PageMessage } from './find-pages.ts'
import { imitatedBrand, isConfirmed, type Sign, signsOf } from './signs.ts'

/** The pages of a message, and what its content says about them. */
export type JudgedPages = {
  pages: FoundPage[]
  signs: Sign[]
  /** Whether the content confirms independent reporters; a person of the site needs no content. */
  isConfirmed: boolean
  /** The name of the brand that the message pretends to come from. */
  imitates: string | undefined
}

/**
 * Returns the pages to which a message leads its reader, and whether its content confirms that they
 * are phishing pages. `own`: names of this installation, which are never accused.
 */
export function judgePages(message: PageMessage, own: OwnNames): JudgedPages {
  const pages = findPages(message, own)
  const [first] = pages
  const signs = first ? signsOf(message, first) : []
  return { pages, signs, isConfirmed: isConfirmed(signs), imitates: imitatedBrand(message, signs) }
}
