import { isPublicName } from './domain.ts'

/** What became of one request to unsubscribe (RFC 8058 §3.2), with a sentence for the reporter. */
export type OneClickOutcome = {
  /**
   * `done`: they said yes. `doubtful`: they sent us on, where we do not follow. `failed`: they said
   * no, or were not reached. `refused`: we did not ask. `unknown`: it left, and no answer came.
   */
  state: 'done' | 'doubtful' | 'failed' | 'refused' | 'unknown'
  outcome: string
}

/** Sends one such request. Never rejects. */
export type PostOneClick = (url: string) => Promise<OneClickOutcome>

/** All that is sent (RFC 8058 §3.1). */
export const oneClickBody = 'List-Unsubscribe=One-Click'

const urlCharsMax = 2_000

/**
 * Reads the link of a one-click request: https to a public name on the usual port, without
 * credentials. Else why we do not ask there.
 */
export function readOneClickUrl(text: string): { url: URL } | { refused: string } {
  const url = text.length <= urlCharsMax ? URL.parse(text) : null
  if (!url || /[\s\\]/.test(text)) return { refused: 'The link cannot be read.' }
  if (url.protocol !== 'https:') return { refused: 'The link is not secure (https).' }
  if (url.username !== '' || url.password !== '') {
    return { refused: 'The link carries a name or a password.' }
  }
  if (url.port !== '') return { refused: 'The link leads to an unusual port.' }
  if (!isPublicName(url.hostname)) return { refused: 'The link leads to no public name.' }
  url.hash = ''
  return { url }
}
