import { parseArgs } from 'node:util'
import type { App } from '../../app.ts'
import { findLiveListings } from '../../db/listings.ts'
import { UsageError } from '../../errors.ts'
import { publishLists } from '../../jobs/lists/publish-lists.ts'
import { listedJson } from '../../verdict/lists/json-list.ts'
import { type ListQuestion, readListQuestion } from '../../verdict/lists/read-question.ts'

/** What `lists` was asked to do. */
export type ListsRequest = { action: 'publish' } | { action: 'show'; question: ListQuestion }

/**
 * Reads `publish` or `show NAME`.
 *
 * @throws UsageError
 */
export function parseLists(args: readonly string[]): ListsRequest {
  const { positionals } = parseArgs({ args: [...args], allowPositionals: true })
  const [action, name, ...rest] = positionals
  if (action === 'publish' && name === undefined) return { action }
  if (action === 'show' && name !== undefined && rest.length === 0) {
    const question = readListQuestion(name)
    if (question) return { action, question }
    throw new UsageError([`"${name}" is no address, domain, host or link.`])
  }
  throw new UsageError(['Say "lists publish" or "lists show NAME".'])
}

/** Does it, and gives what there is to tell: a manifest, or an answer, as JSON. */
export async function runLists(
  request: ListsRequest,
  app: Pick<App, 'pool' | 'clock' | 'config' | 'log'>,
): Promise<string> {
  if (request.action === 'publish') {
    const manifest = await publishLists(app)
    return manifest
      ? JSON.stringify(manifest, null, 2)
      : 'Another process is writing the lists just now.'
  }
  const { name, asks } = request.question
  const listings = await findLiveListings(app.pool, asks, app.clock())
  const listed = listings.map(listedJson)
  return JSON.stringify({ name, is_listed: listed.length > 0, listed }, null, 2)
}
