import { type Phrase, phrase } from '../phrase.ts'
import { isPublicName } from './address.ts'
import { decodeHeaderText } from './encoded-word.ts'
import { fieldValues, type HeaderField } from './header.ts'
import { storableText, trimmedEnd } from './text.ts'

/** The ways to unsubscribe that a message offers. */
export type Unsubscribe = {
  https: string | null
  mailto: string | null
  /** Whether one POST to the https address is sufficient (RFC 8058 §3.1). */
  oneClick: boolean
}

const urisMax = 20
const uriCharsMax = 2000
const fieldsMax = 10
const valueCharsMax = 32 * 1024

/**
 * Parses List-Unsubscribe (RFC 2369 §3.2) and List-Unsubscribe-Post. Null when there is neither an
 * http(s) nor a mailto address. A plain http address is returned as `https`, but never as
 * one-click. If there are several fields, the addresses of all of them count, and one field is
 * sufficient for one-click.
 */
export function parseListUnsubscribe(fields: readonly HeaderField[]): Unsubscribe | null {
  const uris = unsubscribeUris(fields)
  const startsWith = (scheme: string) => uris.find((uri) => uri.toLowerCase().startsWith(scheme))
  const secure = startsWith('https://')
  const https = secure ?? startsWith('http://') ?? null
  const mailto = startsWith('mailto:') ?? null
  if (https === null && mailto === null) return null
  const posts = valuesOf(fields, 'list-unsubscribe-post')
  return { https, mailto, oneClick: secure !== undefined && posts.some(isOneClick) }
}

function isOneClick(post: string): boolean {
  return /^["'<]?list-unsubscribe=one-click(?![\w-])/i.test(post.replaceAll(/\s/g, ''))
}

/** The addresses in all List-Unsubscribe fields, at most 20, with any scheme. */
export function unsubscribeUris(fields: readonly HeaderField[]): string[] {
  return valuesOf(fields, 'list-unsubscribe').flatMap(urisIn).slice(0, urisMax)
}

function valuesOf(fields: readonly HeaderField[], key: string): string[] {
  const values = fieldValues(fields, key).slice(0, fieldsMax)
  return values.map((value) => decodeHeaderText(value.slice(0, valueCharsMax)))
}

const comment = '\\((?:[^()\\\\]|\\\\.|\\((?:[^()\\\\]|\\\\.){0,200}\\)){0,500}\\)'
const piece = new RegExp(`${comment}|<([^<>]*)>|[^\\s<>()"',;][^\\s<>]*`, 'gs')
const scheme = '(?=(?:https?|mailto):)'
const separators = {
  bracketed: new RegExp(`[,;]\\s+${scheme}`, 'i'),
  bare: new RegExp(`[,;]${scheme}`, 'i'),
}

/**
 * The addresses in a value: in angle brackets, without the white space that folding leaves there,
 * or bare, also if a bracket is missing. Ignores comments (RFC 2369 §2) and other words.
 */
function urisIn(value: string): string[] {
  const uris: string[] = []
  for (const [written, inside] of value.matchAll(piece)) {
    const several = inside?.split(separators.bracketed) ?? written.split(separators.bare)
    for (const one of several) {
      const uri = inside === undefined ? trimmedEnd(one, ',;"\'') : one.replaceAll(/\s/g, '')
      if (/^[a-z][a-z0-9+.-]{1,20}:/i.test(uri)) uris.push(storableText(uri, uriCharsMax))
    }
    if (uris.length >= urisMax) break
  }
  return uris
}

/** The outcome of one unsubscribe request (RFC 8058 §3.2), with a phrase for the reporter. */
export type OneClickOutcome = {
  /**
   * `done`: accepted. `doubtful`: redirected; we do not follow redirects. `failed`: refused, or the
   * server was not reached. `refused`: not sent. `unknown`: sent, but no answer arrived.
   */
  state: 'done' | 'doubtful' | 'failed' | 'refused' | 'unknown'
  outcome: Phrase
}

/** Sends one one-click request. Never rejects. */
export type PostOneClick = (url: string) => Promise<OneClickOutcome>

/** The whole body of the request (RFC 8058 §3.1). */
export const oneClickBody = 'List-Unsubscribe=One-Click'

const urlCharsMax = 2_000

/**
 * Parses the link of a one-click request: https to a public name on the default port, without
 * credentials. For any other link, returns why no request is sent.
 */
export function readOneClickUrl(text: string): { url: URL } | { refused: Phrase } {
  const url = text.length <= urlCharsMax ? URL.parse(text) : null
  if (!url || /[\s\\]/.test(text)) return { refused: phrase('link-unreadable') }
  if (url.protocol !== 'https:') return { refused: phrase('link-not-https') }
  if (url.username !== '' || url.password !== '') {
    return { refused: phrase('link-with-credentials') }
  }
  if (url.port !== '') return { refused: phrase('link-unusual-port') }
  if (!isPublicName(url.hostname)) return { refused: phrase('link-without-public-name') }
  url.hash = ''
  return { url }
}
