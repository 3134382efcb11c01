/** What one request brought. */
export type JsonAnswer =
  | { is: 'json'; json: unknown }
  | { is: 'absent' }
  | { is: 'moved'; to: URL | undefined }
  /** The server will not answer now; how long to leave it alone when it says so. */
  | { is: 'busy'; retryAfterMs: number | undefined; why: string }
  /** Nothing came, or not in time: the server or the way to it is at fault. */
  | { is: 'failed'; why: string }
  /** It answered with something nobody can use. */
  | { is: 'unreadable'; why: string }

/** How much of one request is borne. */
export type RequestLimits = { timeoutMs: number; bodyBytesMax: number }

/** What a request needs of the world. */
export type RequestTools = { fetch: typeof fetch; now: Date; limits: RequestLimits }

const RETRY_AFTER_MS_MAX = 86_400_000
const jsonTypes = /^application\/(?:rdap\+json|json)\s*(?:;|$)/i

/**
 * Asks once for JSON (RFC 7480), following nothing. All that can go wrong out there is an answer;
 * never throws for it. The time limit covers the body too.
 */
export async function getJson(url: URL, tools: RequestTools): Promise<JsonAnswer> {
  const { timeoutMs, bodyBytesMax } = tools.limits
  try {
    const answer = await tools.fetch(url, {
      redirect: 'manual',
      headers: { accept: 'application/rdap+json, application/json;q=0.5' },
      signal: AbortSignal.timeout(timeoutMs),
    })
    const told = answeredByStatus(answer, url, tools.now)
    if (told) {
      await answer.body?.cancel()
      return told
    }
    if (!jsonTypes.test(answer.headers.get('content-type') ?? '')) {
      await answer.body?.cancel()
      return { is: 'unreadable', why: 'the answer is not JSON' }
    }
    const text = await readBounded(answer, bodyBytesMax)
    if (text === undefined) return { is: 'unreadable', why: 'the answer is too long' }
    return parsed(text)
  } catch (error) {
    const isLate = error instanceof Error && error.name === 'TimeoutError'
    const why = isLate ? 'no answer came in time' : 'the connection failed'
    return { is: 'failed', why }
  }
}

/** Everything but an answer to read; undefined for that. */
function answeredByStatus(answer: Response, url: URL, now: Date): JsonAnswer | undefined {
  const { status } = answer
  if (status === 200) return undefined
  if (status === 404 || status === 410) return { is: 'absent' }
  if ([301, 302, 303, 307, 308].includes(status)) {
    const to = URL.parse(answer.headers.get('location') ?? '', url)
    return { is: 'moved', to: to ?? undefined }
  }
  if (status === 429 || status === 503 || status === 401 || status === 403) {
    const retryAfterMs = retryAfter(answer.headers.get('retry-after'), now)
    return { is: 'busy', retryAfterMs, why: `it answered ${status}` }
  }
  if (status >= 500) return { is: 'failed', why: `it answered ${status}` }
  return { is: 'unreadable', why: `it answered ${status}` }
}

/**
 * Milliseconds from seconds or a date (RFC 9110 §10.2.3), between a second and a day; undefined
 * when neither can be read.
 */
export function retryAfter(value: string | null, now: Date): number | undefined {
  if (value === null) return undefined
  const waitMs = /^\s*\d{1,9}\s*$/.test(value)
    ? Number(value) * 1_000
    : Date.parse(value) - now.getTime()
  if (Number.isNaN(waitMs)) return undefined
  return Math.min(Math.max(waitMs, 1_000), RETRY_AFTER_MS_MAX)
}

async function readBounded(answer: Response, bytesMax: number): Promise<string | undefined> {
  if (!answer.body) return ''
  const chunks: Uint8Array[] = []
  let bytes = 0
  // Leaving the loop cancels the stream, and with it the connection.
  for await (const chunk of answer.body) {
    bytes += chunk.length
    if (bytes > bytesMax) return undefined
    chunks.push(chunk)
  }
  return new TextDecoder().decode(Buffer.concat(chunks))
}

function parsed(text: string): JsonAnswer {
  try {
    return { is: 'json', json: JSON.parse(text) as unknown }
  } catch {
    return { is: 'unreadable', why: 'the answer is not JSON' }
  }
}
