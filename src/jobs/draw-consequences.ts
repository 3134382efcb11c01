import type { App } from '../app.ts'
import { type Consumer, ensureConsumers } from '../db/consumers.ts'
import type { Db } from '../db/pool.ts'
import { listReporterEmails } from '../db/reporters.ts'
import { knownContacts } from '../feedback/known-contacts.ts'
import type { OwnAddresses } from '../verdict/choose-contact.ts'
import { type Consequence, consequenceOf, type Judged } from '../verdict/consequences.ts'

/** All that a consequence is drawn from but what we know of the contacts and of the reporter. */
export type Case = Omit<Judged, 'known' | 'own'> & { reporterId: string }

/** A consequence, and the consumer it names. */
export type Drawn = { consequence: Consequence; consumer: Consumer | undefined }

/**
 * Draws the consequences of cases, in order, with what is known of their networks' contacts. Who
 * is to be told for the first time becomes a consumer.
 */
export async function drawConsequences(
  tx: Db,
  cases: readonly Case[],
  app: Pick<App, 'config'>,
  now: Date,
): Promise<Drawn[]> {
  const contacts = new Set(cases.flatMap(({ network }) => network?.contacts ?? []))
  const { consumers, byAddress: known } = await knownContacts(tx, [...contacts], now)
  const ownOf = await findOwn(tx, contacts.size > 0 ? cases : [], app)
  const consequences = cases.map((one) =>
    consequenceOf({ ...one, known, own: ownOf(one.reporterId) }),
  )
  const told = consequences.flatMap((one) => (one.action === 'forward' ? [one.to] : []))
  const missing = [...new Set(told)].filter((address) => !consumers.has(address))
  const added = await ensureConsumers(
    tx,
    missing.map((address) => ({ address, source: 'network' as const })),
    now,
  )
  return consequences.map((consequence) => {
    if (consequence.action !== 'forward') return { consequence, consumer: undefined }
    const { to } = consequence
    return { consequence, consumer: consumers.get(to) ?? added.get(to) }
  })
}

/** The addresses that are nobody's abuse desk, by reporter. */
async function findOwn(
  tx: Db,
  cases: readonly Case[],
  { config: { mailFrom, returnPathDomain: domain } }: Pick<App, 'config'>,
): Promise<(reporterId: string) => OwnAddresses> {
  const ids = [...new Set(cases.map(({ reporterId }) => reporterId))]
  const emails = ids.length > 0 ? await listReporterEmails(tx, ids) : new Map<string, string>()
  return (reporterId) => {
    const email = emails.get(reporterId)
    return { addresses: email === undefined ? [mailFrom] : [mailFrom, email], domain }
  }
}
