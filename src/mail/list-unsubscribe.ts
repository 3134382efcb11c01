import { type Phrase, phrase } from '../phrase.ts'
import { isPublicName } from './address.ts'
import { fieldValue, type HeaderField } from './header.ts'
import { storableText } from './text.ts'

/** The ways to unsubscribe that a message offers. */
export type Unsubscribe = {
  https: string | null
  mailto: string | null
  /** Whether one POST to the https address is sufficient (RFC 8058 §3.1). */
  oneClick: boolean
}

const urisMax = 20
const uriCharsMax = 2000
const valueCharsMax = 32 * 1024

/**
 * Parses List-Unsubscribe (RFC 2369 §3.2) and List-Unsubscribe-Post. Removes white space inside the
 * angle brackets, which folding leaves there. Null when there is neither an http(s) nor a mailto
 * address. A plain http address is returned as `https`, but never as one-click.
 */
export function parseListUnsubscribe(fields: readonly HeaderField[]): Unsubscribe | null {
  const value = fieldValue(fields, 'list-unsubscribe')
  if (value === undefined) return null
  const uris = bracketed(value.slice(0, valueCharsMax))
  const startsWith = (scheme: string) => uris.find((uri) => uri.toLowerCase().startsWith(scheme))
  const https = startsWith('https://') ?? startsWith('http://') ?? null
  const mailto = startsWith('mailto:') ?? null
  if (https === null && mailto === null) return null
  const post = fieldValue(fields, 'list-unsubscribe-post')?.replaceAll(/\s/g, '').toLowerCase()
  const isSecure = https?.toLowerCase().startsWith('https://') === true
  return { https, mailto, oneClick: isSecure && post === 'list-unsubscribe=one-click' }
}

function bracketed(value: string): string[] {
  const uris: string[] = []
  let open = value.indexOf('<')
  while (open >= 0 && uris.length < urisMax) {
    const close = value.indexOf('>', open)
    if (close < 0) break
    uris.push(storableText(value.slice(open + 1, close).replaceAll(/\s/g, ''), uriCharsMax))
    open = value.indexOf('<', close)
  }
  if (uris.length > 0) return uris
  return value.split(/[\s,]+/, urisMax).map((uri) => storableText(uri, uriCharsMax))
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
