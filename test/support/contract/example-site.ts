import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { apiOperations } from '../../../src/web/api/contract/document.ts'
import type { Operation } from '../../../src/web/api/contract/operation.ts'
import { findFeedback } from '../../../src/db/feedback-reports.ts'
import { consumerLink } from '../../../src/feedback/enroll.ts'
import { runPublishLists } from '../../../src/lists/publish-lists.ts'
import { createParserPool } from '../../../src/parsing/parser-pool.ts'
import { importNetworks } from '../../../src/processes/import-networks.ts'
import { sampleNetworks, spamMessage } from '../messages.ts'
import { createSentFeedback, keepCopy } from '../sent-feedback.ts'
import { sampleMessage, startWebSite, type Person, type WebSite } from '../../db/web/web-site.ts'

/** A service in which every operation has data to return. */
export type ExampleSite = {
  site: WebSite
  /** The folder that contains `message.eml`. */
  folder: string
  /** The token of an abuse desk, and the number of a feedback report that it received. */
  desk: DeskExample
  /** Adds another person, who may use every operation. */
  addPerson: () => Promise<Person>
  close: () => Promise<void>
}

/** What the examples of abuse desks need. */
export type DeskExample = { deskToken: string; number: string }

/** The answer to an operation, as far as the examples show it. */
export type ExampleAnswer = { status: number; text: string }

export async function startExampleSite(): Promise<ExampleSite> {
  const folder = await mkdtemp(path.join(tmpdir(), 'signalpost-examples-'))
  const site = await startWebSite({ LISTS_DIR: folder, LISTS_PUBLIC: 'yes' })
  await runPublishLists(site.app)
  const desk = await makeDesk(site)
  await writeFile(path.join(folder, 'message.eml'), sampleMessage('example'))
  let people = 0
  return {
    site,
    folder,
    desk,
    async addPerson() {
      const person = await site.addPerson(`p${++people}@reporters.example`, {
        role: 'administrator',
      })
      await allowAll(site, person)
      return person
    },
    async close() {
      await site.close()
      await rm(folder, { recursive: true })
    },
  }
}

/** Sends a feedback report to an abuse desk. */
async function makeDesk(site: WebSite): Promise<DeskExample> {
  const { app } = site
  const reporter = await site.addPerson('desk@reporters.example')
  await importNetworks(sampleNetworks, app)
  const parser = createParserPool(1)
  const id = await site.report(reporter, spamMessage('desk-example'))
  const sent = await createSentFeedback(app, parser, id)
  await keepCopy(app, parser, sent)
  await parser.close()
  const { consumerId = '' } = (await findFeedback(app.pool, sent)) ?? {}
  const link = consumerLink(consumerId, app.config).url
  return { deskToken: link.split('/').at(-1) ?? '', number: `${sent.reportId}.${sent.number}` }
}

/**
 * Gives the tokens of a person all scopes. Does nothing if tokens have no column for scopes.
 */
async function allowAll({ app }: WebSite, { id }: Person): Promise<void> {
  const scopes = await app.pool.query(
    `select from information_schema.columns where table_name = 'tokens' and column_name = 'scopes'`,
  )
  if (scopes.rowCount === 0) return
  const all = ['report', 'read', 'retract', 'account']
  await app.pool.query('update tokens set scopes = $2 where reporter_id = $1', [id, all])
}

/** Whether a token of this person may change the account. */
export async function mayChange(site: WebSite, { token }: Person): Promise<boolean> {
  const headers = { authorization: `Bearer ${token}` }
  return (await fetch(`${site.url}/api/v1/webhooks`, { headers })).ok
}

/** The operations that make what later operations use by its id. */
const makers = ['report', 'add-webhook', 'start-mass-action']

/**
 * Requests every operation in the order of the contract, so that later operations can use what
 * earlier ones created.
 */
export async function askForAll(
  url: string,
  { number }: Pick<DeskExample, 'number'>,
  ask: (
    operation: Operation,
    values: { url: string; parts: Record<string, string> },
  ) => Promise<ExampleAnswer>,
): Promise<void> {
  const parts: Record<string, string> = {
    ...{ id: 'none', name: 'shop.example', file: 'domains.json' },
    ...{ folder: 'pages-delayed-misp', part: 'manifest.json' },
    ...{ queue: 'analyze-report', number },
  }
  for (const operation of apiOperations) {
    const { status, text } = await ask(operation, { url, parts: { ...parts } })
    if (makers.includes(operation.id) && status < 300)
      parts['id'] = (JSON.parse(text) as { id: string }).id
  }
}
