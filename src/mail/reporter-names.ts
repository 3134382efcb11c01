import { parseMailboxes } from './address.ts'
import { writtenForms } from './charset-bytes.ts'
import { decodeHeaderText } from './encoded-word.ts'
import type { HeaderField } from './header.ts'

/** What a text calls a person who received a message, besides the address. */
export type ReporterName = {
  /** In lower case, as a Latin-1 view of the bytes of one charset. */
  text: string
  /** Whether it must follow a greeting: alone it might be any word. */
  isGreeted: boolean
  /** The address of whom it names: its code stands for the name too. */
  address: string
}

// Mailboxes of many hands, and words that mail itself is written in.
const commonWords = new Set(
  [
    'abuse account accounts admin administrator alerts alternative billing bounce',
    'bounces boundary business careers charset client company compliance contact',
    'content content-type customer customers delivered delivery digest email emails',
    'enquiries example facturation feedback finance hello helpdesk hostmaster hotline',
    'hr-team inbox info information invoice invoices jobs kontakt legal list mailbox',
    'mailer-daemon mailing mails manager marketing media member members message',
    'message-id messages mime-version multipart network newsletter newsletters no-',
    'reply noreply notification notifications office online operations orders partner',
    'partners phishing postmaster press privacy promo promotion question questions',
    'received recipient redacted registration reply reply-to report reports return-',
    'path root sales security sender server service services shop signature spamtrap',
    'staff statement store subject subscribe subscriber support system team testing',
    'undisclosed unsubscribe update updates user user-agent username users version',
    'webmaster website welcome',
  ].flatMap((line) => line.split(' ')),
)

const nameCharsMax = 60
const localCharsMin = 5
const distinctCharsMin = 8
const greetedCharsMin = 3

/**
 * The names of those whose addresses are `own`: the display names that the header gives them, and
 * the parts of their addresses before the `@`. A full name of two to four words counts wherever it
 * stands with blanks between its words, in either order. The part before the `@` counts as a word
 * of its own when it can hardly be another one: five letters with a digit or a sign among them, or
 * eight letters, and none of the usual names of mailboxes. Shorter ones and first names count after
 * a greeting only. A sender who writes the name has no way to hide a host name by it.
 */
export function reporterNames(
  fields: readonly HeaderField[],
  own: readonly string[],
): ReporterName[] {
  const names = new Map<string, ReporterName>()
  const add = (text: string, address: string, isGreeted: boolean) => {
    for (const form of formsOf(text)) {
      const known = names.get(form)
      if (known && !known.isGreeted) continue
      names.set(form, { text: form, address, isGreeted })
    }
  }
  const addresses = new Set(own.map((address) => address.toLowerCase()))
  for (const address of addresses) {
    for (const local of localsOf(address)) {
      if (commonWords.has(local)) continue
      const isDistinct = local.length >= distinctCharsMin || /[^a-z]/.test(local)
      if (local.length >= localCharsMin && isDistinct) add(local, address, false)
      else if (local.length >= greetedCharsMin) add(local, address, true)
    }
  }
  for (const { name, address } of recipientsOf(fields, addresses)) {
    const words = wordsOf(name)
    if (words.length >= 2) {
      add(words.join(' '), address, false)
      add([...words.slice(1), words[0]].join(' '), address, false)
      add([words.at(-1), ...words.slice(0, -1)].join(' '), address, false)
    }
    for (const word of words) {
      if (word.length >= greetedCharsMin && !commonWords.has(word)) add(word, address, true)
    }
  }
  return [...names.values()]
}

/** Those of To and Cc that are `own`. */
function recipientsOf(fields: readonly HeaderField[], own: ReadonlySet<string>) {
  const listed = fields
    .filter(({ key }) => key === 'to' || key === 'cc')
    .flatMap(({ value }) => parseMailboxes(decodeHeaderText(value.slice(0, 16 * 1024))))
    .map(({ name, address }) => ({ name, address: address.toLowerCase() }))
  return listed.filter(({ address }) => own.has(address))
}

/** The words of a full name in lower case; none when it is no name of a person. */
function wordsOf(name: string): string[] {
  const plain = name.normalize('NFC').trim().toLowerCase()
  if (plain.length > nameCharsMax || /[@/:<>=\d]/.test(plain)) return []
  const words = plain.split(/[\s,"()]+/).filter((word) => /\p{L}{2}/u.test(word))
  return words.length <= 4 && !words.every((word) => commonWords.has(word)) ? words : []
}

/**
 * What addresses have before the `@`, in lower case, but for the usual names of mailboxes: alone it
 * says little, but as the value of a link it says whose link it is.
 */
export function localParts(addresses: readonly string[]): Set<string> {
  const locals = addresses.flatMap((address) => localsOf(address.toLowerCase()))
  return new Set(locals.filter((local) => local.length >= 2 && !commonWords.has(local)))
}

function localsOf(address: string): string[] {
  const local = address.slice(0, address.lastIndexOf('@'))
  const untagged = local.replace(/\+.*$/, '')
  return [...new Set([local, untagged])]
}

/**
 * A name as its bytes look in the charsets it may be written in, with the lower case that a search
 * makes of them: it knows no letters beyond Latin-1, so the cases a name is written in are forms.
 */
function formsOf(text: string): Set<string> {
  const titled = text.replace(/(?<![\p{L}\p{M}'’])\p{L}/gu, (letter) => letter.toUpperCase())
  const folded = text.normalize('NFD').replace(/\p{M}+/gu, '')
  const written = [text, titled, text.toUpperCase()]
  const forms = new Set(/^[\0-\xff]+$/.test(folded) ? [folded] : [])
  for (const one of written) for (const form of writtenForms(one)) forms.add(form.toLowerCase())
  return forms
}

const greetings =
  'dear|hi|hello|hey|hallo|hola|bonjour|bonsoir|salut|cher|ch\\S{1,8}re|ciao|caro|cara|' +
  'liebe|lieber|estimado|estimada|greetings|welcome|attn|attention|mr|mrs|ms|mme|herr|frau'

/** How names are found in a text in lower case; undefined when there are none. */
export type NameFinder = (text: string) => Iterable<{ start: number; end: number; address: string }>

/** A finder of those names as whole words; linear in the text. */
export function createNameFinder(names: readonly ReporterName[]): NameFinder | undefined {
  if (names.length === 0) return undefined
  const sorted = names.toSorted((one, other) => other.text.length - one.text.length)
  const addressOf = new Map(sorted.map(({ text, address }) => [bare(text), address]))
  const sources = (isGreeted: boolean) =>
    sorted
      .filter((name) => name.isGreeted === isGreeted)
      .map(({ text }) => text.split(' ').map(escaped).join(blanks))
      .join('|')
  const [free, greeted] = [sources(false), sources(true)]
  const patterns = [
    ...(free === '' ? [] : [`(?<![a-z0-9\\x80-\\xff])(${free})(?![a-z0-9\\x80-\\xff])`]),
    ...(greeted === ''
      ? []
      : [
          `(?<=(?<![a-z])(?:${greetings})[ ,.]{1,2})(${greeted})(?![a-z0-9\\x80-\\xff])`,
          // `Jane, your parcel`: what a line or a Subject begins with is called out to.
          `(?<=^|\\n|subject: ?)(${greeted})(?=[,!])`,
        ]),
  ].map((source) => new RegExp(source, 'g'))
  // A search for a word costs a tenth of one by an expression.
  const lastWords = [...new Set(sorted.map(({ text }) => text.split(' ').at(-1) ?? text))]
  return function* find(text) {
    if (!lastWords.some((word) => text.includes(word))) return
    for (const pattern of patterns) {
      for (const { 1: found = '', index } of text.matchAll(pattern)) {
        const address = addressOf.get(bare(found))
        if (address !== undefined) yield { start: index, end: index + found.length, address }
      }
    }
  }
}

const blanks = '(?:,?[ \\t\\r\\n]{1,4}|&nbsp;|\\xc2?\\xa0)'
const blanksRun = new RegExp(blanks, 'g')

/** Without its blanks, of which some look like half a letter: so of both or of none. */
function bare(text: string): string {
  return text.replace(blanksRun, '')
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&')
}
