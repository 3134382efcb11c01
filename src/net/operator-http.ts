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
  const answer = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    ...(body !== undefined && { body }),
    headers: { ...headers, 'user-agent': 'Signalpost' },
    redirect: 'manual',
    signal: AbortSignal.timeout(ALL_MS_MAX),
  }).catch((error: unknown) => {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
    throw new Error(reasonOf(cause), { cause: error })
  })
  await answer.body?.cancel()
  if (!answer.ok) throw new Error(`The answer was HTTP ${answer.status}.`)
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
  const answer = await fetch(url, {
    headers: { 'user-agent': 'Signalpost' },
    signal: AbortSignal.timeout(DOWNLOAD_MS_MAX),
  }).catch((error: unknown) => {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
    throw new Error(reasonOf(cause), { cause: error })
  })
  if (!answer.ok || !answer.body) {
    await answer.body?.cancel()
    throw new Error(`The answer was HTTP ${answer.status}.`)
  }
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
