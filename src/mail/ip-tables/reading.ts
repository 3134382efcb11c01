import { storableText } from '../storable-text.ts'

/** What one line or record of a table says of a range of addresses. */
export type RangeReading = {
  is: 'range'
  /** The fewest CIDR blocks that make the range up. */
  blocks: readonly string[]
  asn: number | null
  name: string | null
  /** ISO 3166-1 alpha-2, or `EU` and `AP` as registries use them. */
  country: string | null
  /** Abuse addresses, the best first. */
  contacts: readonly string[]
}

/**
 * What a line comes to. `skipped` lines are right and say nothing of a network: comments, sums,
 * ranges that nobody routes. `nothing` is not even that: an empty line, a header.
 */
export type LineReading =
  RangeReading | { is: 'skipped' } | { is: 'nothing' } | { is: 'faulty'; why: string }

/** Reads the lines of one table from the first to the last. */
export type LineReader = (line: string) => LineReading

/** A line that is right and says nothing of a network. */
export const skipped: LineReading = { is: 'skipped' }

/** A line that is no part of the table's content. */
export const nothing: LineReading = { is: 'nothing' }

/** What cannot be read, and why. */
export function faulty(why: string): { is: 'faulty'; why: string } {
  return { is: 'faulty', why }
}

const NAME_CHARS_MAX = 200
const QUOTED_CHARS_MAX = 60
const AS_NUMBER_MAX = 0xffff_ffff
const CONTACTS_MAX = 10
const MAIL_ADDRESS = /^[^\s@<>,;:"()[\]\\]{1,64}@[A-Za-z0-9.-]{1,253}$/

/** An AS number with or without `AS` before it; null when empty, undefined when it is none. */
export function readAsn(text: string): number | null | undefined {
  if (text === '') return null
  const digits = /^(?:AS)?(\d{1,10})$/i.exec(text)?.[1]
  const asn = Number(digits)
  return digits !== undefined && asn <= AS_NUMBER_MAX ? asn : undefined
}

/** A country code in capitals; null when empty, undefined when it is none. */
export function readCountry(text: string): string | null | undefined {
  if (text === '') return null
  return /^[A-Za-z]{2}$/.test(text) ? text.toUpperCase() : undefined
}

/** A name as it can be kept; null when empty. */
export function readName(text: string): string | null {
  return storableText(text.trim(), NAME_CHARS_MAX) || null
}

/** One mail address, and nothing else. */
export function isContact(text: string): boolean {
  return MAIL_ADDRESS.test(text)
}

/**
 * Mail addresses between commas, semicolons or blanks, each once, at most ten; undefined when one
 * is none.
 */
export function readContacts(text: string): string[] | undefined {
  const contacts = [...new Set(text.split(/[\s,;]+/).filter((part) => part !== ''))]
  return contacts.length <= CONTACTS_MAX && contacts.every(isContact) ? contacts : undefined
}

/** A stranger's text between quotes, short enough for a sentence. */
export function quoted(text: string): string {
  return JSON.stringify(storableText(text, QUOTED_CHARS_MAX))
}
