import { createWriteStream } from 'node:fs'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { reasonOf } from '../errors.ts'

const ALL_MS_MAX = 10_000

/**
 * Calls a URL of the settings. Unlike the URLs of users, it may lead anywhere. With a body it is a
 * POST, otherwise a GET. Redirects are not followed.
 *
 * @throws Error with the reason when there is no answer in ten seconds, or no 2xx
 */
export async function callOperator(
  url: string,
  { body, headers = {} }: { body?: string; headers?: Readonly<Record<string, string>> } = {},
): Promise<void> {
  const answer = await ask(url, ALL_MS_MAX, {
    method: body === undefined ? 'GET' : 'POST',
    ...(body !== undefined && { body }),
    headers,
    redirect: 'manual',
  })
  await answer.body?.cancel()
}

/** Asks a URL, which may have a name and password. The reasons of errors do not repeat it. */
async function ask(text: string, msMax: number, init: RequestInit = {}): Promise<Response> {
  const url = URL.parse(text)
  if (!url) throw new Error('The address in the settings is not valid.')
  const { username, password } = url
  const account = Buffer.from(decodeURIComponent(`${username}:${password}`)).toString('base64')
  const authorization = username && { authorization: `Basic ${account}` }
  url.username = url.password = ''
  const headers = { ...authorization, ...init.headers, 'user-agent': 'Signalpost' }
  const asked = { ...init, headers, signal: AbortSignal.timeout(msMax) }
  const answer = await fetch(url, asked).catch((error: unknown) => {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
    throw new Error(reasonOf(cause), { cause: error })
  })
  if (answer.ok) return answer
  await answer.body?.cancel()
  throw new Error(`The answer was HTTP ${answer.status}.`)
}

const DOWNLOAD_MS_MAX = 1_800_000

/**
 * Downloads a URL of the settings to a file. `changedAt` is when the source last changed it, if it
 * says so.
 *
 * @throws Error with the reason when there is no 2xx, or more than `bytesMax` arrive
 */
export async function downloadOperator(
  url: string,
  file: string,
  bytesMax: number,
): Promise<{ changedAt: Date | undefined }> {
  const answer = await ask(url, DOWNLOAD_MS_MAX)
  if (!answer.body) throw new Error(`The answer was HTTP ${answer.status}.`)
  let bytes = 0
  const limit = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length
      if (bytes <= bytesMax) done(null, chunk)
      else done(new Error(`The answer has more than ${bytesMax} bytes.`))
    },
  })
  await pipeline(Readable.fromWeb(answer.body), limit, createWriteStream(file))
  const at = new Date(answer.headers.get('last-modified') ?? '')
  return { changedAt: Number.isNaN(at.getTime()) ? undefined : at }
}
