import { createHash } from 'node:crypto'
import { z } from 'zod'
import { defineAction, oneOf, textField } from '../actions.ts'
import type { App } from '../app.ts'
import { readStandings } from '../counting/reputation-reader.ts'
import { removeInboundMails } from '../db/inbox.ts'
import {
  addToSourceDays,
  countMailSources,
  ensureSourceReporter,
  insertMailSource,
  listMailSources,
  type MailSource,
  type MailSourceKind,
  removeMailSource,
  type SourceCounts,
  sumSourceDays,
} from '../db/mail-sources.ts'
import type { Db } from '../db/pool.ts'
import { insertKarma } from '../db/reputations.ts'
import { dateOf, DAY_MS } from '../durations.ts'
import { refusal } from '../phrase.ts'
import { uuidv7 } from '../world.ts'

const ADDRESS_CHARS_MAX = 320
const NOTE_CHARS_MAX = 500
const SOURCES_MAX = 5_000

export const mailSourceKinds: readonly [MailSourceKind, ...MailSourceKind[]] = [
  'trap',
  'feedback-loop',
]

const addressError = refusal('refused.source')
const addressShape =
  /^(?:[a-z0-9.!#$%&'+/=?^_`{|}~-]{1,64})?@(?:[a-z0-9-]{1,63}\.)+[a-z0-9-]{2,63}$/

const addressField = textField(ADDRESS_CHARS_MAX, addressError)
  .transform((text) => text.toLowerCase())
  .pipe(z.string().regex(addressShape, addressError))
  .meta({ argument: 'ADDRESS' })

/**
 * Reports the mail to an address or a domain from now on. Its reporter is a source of its own, with
 * its own karma; an address that is added again continues as the same reporter.
 */
export const addMailSource = defineAction({
  name: 'sources add',
  summary: 'report the mail to an address or to a domain (@example.net)',
  audit: 'add mail source',
  role: 'operator',
  input: z.object({
    address: addressField,
    kind: oneOf(mailSourceKinds),
    note: z.string().max(NOTE_CHARS_MAX).default(''),
  }),
  async run(tx, { address, kind, note }, { at, config }: SourceContext) {
    if (isOwn(address, config)) {
      const message = refusal('refused.source-own', { domain: config.returnPathDomain })
      return { problems: [{ field: 'address', message }] }
    }
    if ((await countMailSources(tx)) >= SOURCES_MAX) {
      const message = refusal('refused.sources', { max: SOURCES_MAX })
      return { problems: [{ message }] }
    }
    const name = createHash('sha256').update(address).digest('hex').slice(0, 32)
    const email = `${name}@${kind}.signalpost.invalid`
    const id = await ensureSourceReporter(tx, { id: uuidv7(at), email, createdAt: at })
    if (!(await insertMailSource(tx, { id, address, kind, note, createdAt: at })))
      return { unchanged: 'known' }
    await insertKarma(tx, { reporterId: id, isVouched: true, now: at })
    return { done: 'added', audit: `${address} (${kind})` }
  },
})

type SourceContext = { at: Date } & Pick<App, 'config'>

/** A single address at our domain can be used; the whole domain cannot. */
function isOwn(address: string, { returnPathDomain, mailFrom }: App['config']): boolean {
  const own = returnPathDomain.toLowerCase()
  return [mailFrom.toLowerCase(), `@${own}`, `postmaster@${own}`, `abuse@${own}`].includes(address)
}

/** Stops reporting the mail to an address. The reports that were made of it stay. */
export const removeSource = defineAction({
  name: 'sources remove',
  summary: 'stop reporting the mail to an address',
  audit: 'remove mail source',
  role: 'operator',
  input: z.object({ address: addressField }),
  async run(tx, { address }) {
    const removed = await removeMailSource(tx, address)
    if (!removed) return { unchanged: 'unknown' }
    return { done: 'removed', audit: `${removed.address} (${removed.kind})` }
  },
})

/** A mail to a source, and what became of it. */
export type SourcedMail = {
  id: string
  sourceId: string
  fate: Extract<keyof SourceCounts, 'reported' | 'repeated' | 'refused'>
}

/** Removes mails, and counts and returns those that no other run has removed. */
export async function countSourced<Mail extends SourcedMail>(
  tx: Db,
  mails: readonly Mail[],
  day: string,
): Promise<Mail[]> {
  const ids = mails.map(({ id }) => id)
  const removed = new Set(await removeInboundMails(tx, ids))
  const counted = mails.filter(({ id }) => removed.has(id))
  const groups = Map.groupBy(counted, ({ sourceId }) => sourceId)
  const days = [...groups].map(([sourceId, its]) => {
    const count = (fate: SourcedMail['fate']) => its.filter((one) => one.fate === fate).length
    return {
      ...{ sourceId, day, received: its.length, dropped: 0 },
      ...{ reported: count('reported'), repeated: count('repeated'), refused: count('refused') },
    }
  })
  await addToSourceDays(tx, days)
  return counted
}

/** Number of days that the page and the command sum. */
export const SOURCE_DAYS = 30
const nothing: SourceCounts = { received: 0, reported: 0, repeated: 0, refused: 0, dropped: 0 }

/** A source with the sums of the last 30 days, and the last day with mail, if there was any. */
export type CountedSource = MailSource & SourceCounts & { karma: number; lastDay: string | null }

/** Returns all sources by address, with what they received. */
export async function readMailSources(db: Db, now: Date): Promise<CountedSource[]> {
  const sources = await listMailSources(db)
  const from = dateOf(new Date(now.getTime() - SOURCE_DAYS * DAY_MS))
  const [sums, standings] = await Promise.all([
    sumSourceDays(db, from),
    readStandings(
      db,
      sources.map(({ id }) => id),
      now,
    ),
  ])
  return sources.map((source) => ({
    ...source,
    ...nothing,
    lastDay: null,
    ...sums.get(source.id),
    karma: standings.get(source.id)?.karma ?? 0,
  }))
}
