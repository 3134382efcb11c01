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
