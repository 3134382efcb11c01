import type { Answer, Wanted } from './queue.ts'

/** Where to report, and with what token. */
export type Access = { server: string; token: string }

const PATIENCE_MS = 120_000
const TEST_PATIENCE_MS = 20_000
const reportIdPattern = /^[0-9a-f-]{36}$/

/** Returns the address of the service without path and trailing slash; undefined if it is none. */
export function parseServer(text: string): string | undefined {
  const trimmed = text.trim()
  if (trimmed === '') return undefined
  const url = URL.parse(trimmed.includes('://') ? trimmed : `https://${trimmed}`)
  return url && /^https?:$/.test(url.protocol) ? url.origin : undefined
}

/** Returns the page that tells what happened to a report. */
export function pageOf(server: string, id: string): string {
  return `${server}/reports/${id}`
}

/** Returns the page that makes a token for this add-on. */
export function tokenPageOf(server: string): string {
  return `${server}/account/tokens?name=Thunderbird`
}

/** Sends one report. Does not reject. */
export async function postReport(
  { server, token }: Access,
  { raw, kind, comment, key }: Wanted & { key: string },
): Promise<Answer> {
  const response = await fetch(`${server}/api/v1/reports`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'idempotency-key': key,
    },
    body: JSON.stringify({ message_base64: raw.toBase64(), kind, ...(comment && { comment }) }),
    credentials: 'omit',
    redirect: 'error',
    signal: AbortSignal.timeout(PATIENCE_MS),
  }).catch(() => undefined)
  if (!response) return { is: 'away' }
  return answerOf(response.status, response.headers.get('retry-after'), await jsonOf(response))
}

/** Interprets a response of the service. */
export function answerOf(status: number, retryAfter: string | null, body: unknown): Answer {
  if (status === 200 || status === 202) {
    const id = textIn(body, 'id')
    // Another site than Signalpost, such as a sign-in page of a network, may answer too.
    if (!reportIdPattern.test(id)) return { is: 'away' }
    return { is: 'accepted', id, lacksWayIn: textIn(body, 'way_in') === 'unknown' }
  }
  if (status === 401 || status === 403) return { is: 'signed-out' }
  const isFinal = [400, 413, 422].includes(status) && textIn(body, 'type') !== ''
  if (isFinal) return { is: 'refused', why: textIn(body, 'detail') || textIn(body, 'title') }
  const seconds = Number(retryAfter)
  return seconds > 0 ? { is: 'away', afterMs: seconds * 1_000 } : { is: 'away' }
}

/** Asks the service whether the token may report. */
export async function testAccess({ server, token }: Access): Promise<'ok' | Answer['is']> {
  const response = await fetch(`${server}/api/v1/account`, {
    headers: { authorization: `Bearer ${token}` },
    credentials: 'omit',
    redirect: 'error',
    signal: AbortSignal.timeout(TEST_PATIENCE_MS),
  }).catch(() => undefined)
  if (!response) return 'away'
  const body = await jsonOf(response)
  if (response.ok) {
    const scopes = body !== null && typeof body === 'object' && 'scopes' in body && body.scopes
    if (!Array.isArray(scopes)) return 'away'
    return scopes.includes('report') ? 'ok' : 'signed-out'
  }
  return answerOf(response.status, null, body).is
}

const letterResults = ['sent', 'under-way', 'known', 'no-mail'] as const
/** What became of a test message that was asked for. */
export type LetterResult = (typeof letterResults)[number] | 'too-often' | 'signed-out' | 'away'

/** Asks the service for a message that shows the user's mail servers. Does not reject. */
export async function askForLetter({ server, token }: Access): Promise<LetterResult> {
  const response = await fetch(`${server}/api/v1/test-messages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    credentials: 'omit',
    redirect: 'error',
    signal: AbortSignal.timeout(TEST_PATIENCE_MS),
  }).catch(() => undefined)
  return response ? letterResultOf(response.status, await jsonOf(response)) : 'away'
}

/** Interprets the answer about a test message. */
export function letterResultOf(status: number, body: unknown): LetterResult {
  if (status === 401 || status === 403) return 'signed-out'
  if (status === 429) return 'too-often'
  return letterResults.find((name) => name === textIn(body, 'state')) ?? 'away'
}

function jsonOf(response: Response): Promise<unknown> {
  return response.json().catch(() => undefined)
}

function textIn(body: unknown, name: string): string {
  if (body === null || typeof body !== 'object') return ''
  const value = (body as Record<string, unknown>)[name]
  return typeof value === 'string' ? value : ''
}
