import type { Unsubscribe } from '../../mail/list-unsubscribe.ts'
import { plainLine } from './plain-line.ts'

/** How a message says one can leave its list, as far as it can be shown to a person. */
export type UnsubscribeWays = {
  link?: { url: string; host: string }
  mail?: { address: string; subject: string | undefined }
}

const URL_CHARS_MAX = 500
const SUBJECT_CHARS_MAX = 150
const addressShape = /^[A-Za-z0-9.!#$&'*+/=?^_`{|}~-]{1,128}@[A-Za-z0-9.-]{1,253}$/

/**
 * The ways of a message's own header: a secure link in ASCII, whose host can be named, and one mail
 * address. What could pose as something else is left out.
 */
export function unsubscribeWays(unsubscribe: Unsubscribe | null): UnsubscribeWays {
  if (!unsubscribe) return {}
  const link = readLink(unsubscribe.https)
  const mail = readMail(unsubscribe.mailto)
  return { ...(link && { link }), ...(mail && { mail }) }
}

function readLink(text: string | null): UnsubscribeWays['link'] {
  if (text === null || text.length > URL_CHARS_MAX || !/^[\x21-\x7e]+$/.test(text)) return undefined
  const url = URL.parse(text)
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '') return undefined
  if (/[<>"\\]/.test(url.href) || !url.hostname.includes('.')) return undefined
  return { url: url.href, host: url.hostname }
}

function readMail(text: string | null): UnsubscribeWays['mail'] {
  if (text === null || text.length > URL_CHARS_MAX) return undefined
  const url = URL.parse(text)
  if (url?.protocol !== 'mailto:') return undefined
  const address = decoded(url.pathname)
  if (address === undefined || !addressShape.test(address)) return undefined
  // RFC 6068 §5: a plus is a plus here.
  const asked = new URLSearchParams(url.search.replaceAll('+', '%2B'))
  const subject = plainLine(asked.get('subject') ?? '', SUBJECT_CHARS_MAX)
  return { address, subject: subject === '' ? undefined : subject }
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
