import { hash } from 'node:crypto'
import { domainToASCII } from 'node:url'
import { foldText, squeezeText } from './folded-text.ts'

/**
 * A text that a feedback report must not contain.
 *
 * - `squeezed`: letters and digits in lower case, whatever stands between them.
 * - `word`: a name that begins with a capital letter or has only capital letters.
 * - `number`: digits that do not belong to a longer number.
 * - `exact`: as it is, in the same case.
 * - `near`: two halves, with at most 60 other characters between them.
 */
export type Needle =
  | { kind: 'squeezed' | 'word' | 'number' | 'exact'; text: string }
  | { kind: 'near'; text: string; rest: string }

/** The data of one combination. A report that contains one of the needles reveals the reporter. */
export type Secret = { name: string; needles: readonly Needle[] }

/** Shorter texts without blanks, signs and case can occur by chance. */
const SQUEEZED_CHARS_MIN = 7

export function squeezed(text: string): Needle[] {
  const letters = squeezeText(text)
  const isTelling = letters.length >= (/^[\x00-\x7f]*$/.test(letters) ? SQUEEZED_CHARS_MIN : 3)
  return isTelling ? [{ kind: 'squeezed', text: letters }] : []
}

/** The needles of a mail address, in every usual notation and as its hash. */
export function addressNeedles(address: string): Needle[] {
  const at = address.lastIndexOf('@')
  const local = address.slice(0, at)
  const domain = address.slice(at + 1)
  const domains = [...new Set([domain, domainToASCII(domain) || domain])]
  const base = local.replace(/\+.*/, '')
  const spelled = (text: string) => text.replaceAll('.', ' dot ')
  return unique([
    ...domains.flatMap((host) =>
      [...new Set([local, base])].flatMap((part) => [
        ...squeezed(part + host),
        ...squeezed(`${part} at ${host}`),
        ...squeezed(`${spelled(part)} at ${spelled(host)}`),
        ...squeezed(`${spelled(part)}${spelled(host)}`),
        ...squeezed(host + part),
        ...squeezed(reversed(`${part}@${host}`)),
        ...squeezed(rot13(`${part}@${host}`)),
        ...encodings(`${part}@${host}`),
        ...digests(`${part}@${host}`),
      ]),
    ),
    ...localNeedles(base),
  ])
}

/** The needles of a local part or a user name that is not a usual word. */
export function localNeedles(local: string): Needle[] {
  if (squeezeText(local).length < SQUEEZED_CHARS_MIN) return []
  return [
    ...squeezed(local),
    ...squeezed(local.replaceAll('.', ' dot ')),
    ...squeezed(reversed(local)),
    ...squeezed(rot13(local)),
    ...encodings(local),
  ]
}

/** The needles of a full name. */
export function nameNeedles(first: string, last: string): Needle[] {
  const texts = [`${first}${last}`, `${last}${first}`]
  const written = [`${first} ${last}`, `${last}, ${first}`, `${first}.${last}`]
  return unique([
    ...texts.flatMap((text) => [
      ...squeezed(text),
      ...squeezed(reversed(text)),
      ...squeezed(rot13(text)),
    ]),
    ...written.flatMap((text) => encodings(text)),
    ...singleNeedles(first),
    ...singleNeedles(last),
  ])
}

/** The needles of a first name or a surname alone: a common one counts only when capitalized. */
export function singleNeedles(name: string): Needle[] {
  const words = new Set([foldText(name), foldText(name.toUpperCase())])
  return [...[...words].map((text) => ({ kind: 'word' as const, text })), ...squeezed(name)]
}

/** The needles of a code that a sender gave to one recipient: the code, and its larger parts. */
export function tokenNeedles(token: string): Needle[] {
  if (/^\d+$/.test(token)) return [{ kind: 'number', text: token }]
  const letters = squeezeText(token)
  return [
    { kind: 'exact', text: token },
    ...squeezed(token),
    ...(letters.length >= 16 ? parts(letters) : []),
    ...(letters.length >= 10 ? encodings(token) : []),
  ]
}

/** The needles of a telephone number: its last nine digits, without the code of the country. */
export function telephoneNeedles(number: string): Needle[] {
  return [{ kind: 'squeezed', text: number.replace(/\D/g, '').slice(-9) }]
}

export function reversed(text: string): string {
  return [...text].reverse().join('')
}

export function rot13(text: string): string {
  return text.replace(/[a-z]/gi, (letter) => {
    const base = letter <= 'Z' ? 65 : 97
    return String.fromCharCode(((letter.charCodeAt(0) - base + 13) % 26) + base)
  })
}

function parts(letters: string): Needle[] {
  const size = Math.max(10, Math.floor(letters.length / 3))
  return [letters.slice(0, size), letters.slice(-size)].map((text) => ({ kind: 'squeezed', text }))
}

/** A text can be divided by words that a program adds to it, such as a mark of hidden text. */
export function dividedNeedles(text: string): Needle[] {
  const folded = foldText(text).toLowerCase()
  const middle = Math.ceil(folded.length / 2)
  if (middle < (/^[\x00-\x7f]*$/.test(folded) ? 4 : 3)) return []
  return [{ kind: 'near', text: folded.slice(0, middle), rest: folded.slice(middle) }]
}

/** Base64 at the three alignments, and hexadecimal digits, of a text as it is and in lower case. */
function encodings(text: string): Needle[] {
  return [...new Set([text, text.toLowerCase()])].flatMap((one) => {
    const bytes = Buffer.from(one)
    const base64 = [0, 1, 2].map((offset) => {
      const digits = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64')
      return squeezeText(digits.slice(offset === 0 ? 0 : 4, -4))
    })
    return [...base64, bytes.toString('hex')]
      .filter((letters) => letters.length >= 9)
      .map((letters) => ({ kind: 'squeezed' as const, text: letters }))
  })
}

function digests(text: string): Needle[] {
  const forms = [...new Set([text, text.toLowerCase(), text.toUpperCase()])]
  return forms
    .flatMap((form) =>
      ['md5', 'sha1', 'sha256', 'sha512'].flatMap((algorithm) => {
        const digest = hash(algorithm, form, 'buffer')
        return [
          digest.toString('hex').slice(0, 16),
          squeezeText(digest.toString('base64')).slice(0, 14),
        ]
      }),
    )
    .map((letters) => ({ kind: 'squeezed', text: letters }))
}

function unique(needles: readonly Needle[]): Needle[] {
  const keyOf = (one: Needle) => `${one.kind} ${one.text} ${one.kind === 'near' ? one.rest : ''}`
  return [...new Map(needles.map((one) => [keyOf(one), one])).values()]
}
