import { createHash } from 'node:crypto'
import type { App } from '../app.ts'
import { isDisownedWithin } from '../db/contact-corrections.ts'
import { listScopes, replaceScopes } from '../db/consumer-scopes.ts'
import { ensureConsumers, keepHealth, keepTelling, markEnrolled } from '../db/consumers.ts'
import {
  countEnrollments,
  type EnrollmentRequest,
  type EnrollmentWish,
  findEnrollment,
  hasEnrollments,
  holdEnrollments,
  insertEnrollment,
  moveEnrollment,
} from '../db/enrollment-requests.ts'
import { hastenFeedback } from '../db/feedback-waiting.ts'
import { listLayersOfBlock } from '../db/networks.ts'
import { type Db, inTransaction } from '../db/pool.ts'
import { listSuppressed, removeSuppression } from '../db/suppressions.ts'
import { oweLetter } from '../letters/owe-letter.ts'
import { isOwn } from '../verdict/choose-contact.ts'
import type { Scope } from '../verdict/consumers/consumer-scope.ts'
import { healthyRecord } from '../verdict/contact-health.ts'
import { answersForBlock } from '../verdict/consumers/provable-scope.ts'
import { systemRandom, uuidTime, uuidv7 } from '../world.ts'
import { consumerLink } from './consumer-link.ts'
import { askingLetter, welcomeLetter } from './enrollment-letters.ts'

type Needs = Pick<App, 'pool' | 'boss' | 'config' | 'clock'> & { publicUrl: string }

const DAY_MS = 86_400_000
/** Of a week: one letter to an address. */
const OF_ADDRESS_MAX = 1
const WEEK_MS = 7 * DAY_MS
/** Of a day: so many wishes from one machine. */
const OF_ASKER_MAX = 5
/** Of an hour, from everybody: strangers choose to whom these letters go. */
const OF_ALL_MAX = 100
const HOUR_MS = 3_600_000
const VALID_MS = WEEK_MS
const LAYERS_MAX = 2_000
const TOKEN_BYTES = 24

/**
 * Takes a wish to be enrolled: a letter with a link goes to the address, once a week at most. What
 * is answered does not tell whether it did: `taken`, or `too often` for who asks too often, and for
 * all when so many ask that it looks like a flood. A wish without a letter is not kept: who repeats
 * it does not keep the address from its next letter.
 */
export async function requestEnrollment(
  { address, wish, askerHash }: { address: string; wish: EnrollmentWish; askerHash: Buffer },
  app: Needs,
): Promise<'taken' | 'too often'> {
  const now = app.clock()
  const since = new Date(now.getTime() - DAY_MS)
  return inTransaction(app.pool, async (tx) => {
    await holdEnrollments(tx, address)
    const addressSince = new Date(now.getTime() - WEEK_MS)
    const of = { address, addressSince, askerHash, since, limit: OF_ASKER_MAX }
    const counted = await countEnrollments(tx, of)
    if (counted.ofAsker >= OF_ASKER_MAX) return 'too often'
    const lately = { since: new Date(now.getTime() - HOUR_MS), limit: OF_ALL_MAX }
    if (await hasEnrollments(tx, lately)) return 'too often'
    if (counted.ofAddress >= OF_ADDRESS_MAX) return 'taken'
    const { mailFrom, returnPathDomain: domain } = app.config
    const isOurs = isOwn(address, { addresses: [mailFrom], domain })
    const token = systemRandom(TOKEN_BYTES).toString('base64url')
    const request = { id: uuidv7(now), address, wish, tokenHash: hashOf(token), askerHash }
    await insertEnrollment(tx, request)
    if (isOurs) return 'taken'
    const link = `${app.publicUrl}/consumers/enroll/${token}`
    const said = askingLetter(wish, address, app.publicUrl, link)
    const letter = { kind: 'enrollment', to: address, ...said, language: wish.language } as const
    await oweLetter(tx, { ...letter, autoSubmitted: 'generated', isAnswerable: true }, app, now)
    return 'taken'
  })
}

/** The wish that a link stands for; undefined when there is none, or when it is too old. */
export async function findWish(
  token: string,
  { pool, clock }: Pick<Needs, 'pool' | 'clock'>,
): Promise<EnrollmentRequest | undefined> {
  const request = await findEnrollment(pool, hashOf(token))
  if (!request) return undefined
  return clock().getTime() - uuidTime(request.id).getTime() < VALID_MS ? request : undefined
}

/** What became of a confirmation. */
export type Confirmed = { consumerId: string; waiting: readonly Scope[] }

/**
 * Enrolls who confirmed a wish from the letter: the address is told from now on as was wished, of
 * what tables and registries say is its, and of those blocks of the wish for which it answers
 * provably. On the rest a person decides. Undefined when the wish was confirmed before, is too old,
 * or when an administrator forbade to write there.
 */
export async function confirmEnrollment(token: string, app: Needs): Promise<Confirmed | undefined> {
  const request = await findWish(token, app)
  if (request?.state !== 'sent') return undefined
  const now = app.clock()
  return inTransaction(app.pool, async (tx) => {
    const { id, address, wish } = request
    if (!(await mayEnroll(tx, address, now))) return undefined
    const source = 'enrollment' as const
    const consumer = (await ensureConsumers(tx, [{ address, source }], now)).get(address)
    if (!consumer) throw new Error('A consumer that was made is not there.')
    const proven = await provenOf(tx, address, wish.scopes, now)
    const waiting = wish.scopes.filter((scope) => !proven.includes(scope))
    const state = waiting.length > 0 ? 'proven' : 'accepted'
    const at = waiting.length > 0 ? null : now
    const left = { ...wish, scopes: waiting }
    const to = { state, wish: left, consumerId: consumer.id, at, reporterId: null } as const
    if (!(await moveEnrollment(tx, id, 'sent', to))) return undefined
    await markEnrolled(tx, consumer.id, now)
    await hastenFeedback(tx, consumer.id, now)
    // Who confirms has got our mail.
    await keepHealth(tx, consumer.id, healthyRecord)
    await keepTelling(tx, consumer.id, wish)
    await addScopes(tx, consumer.id, proven, now)
    const link = consumerLink(consumer.id, { ...app.config, publicUrl: app.publicUrl })
    const said = welcomeLetter(left, app.publicUrl, link)
    const letter = { kind: 'enrollment', to: address, ...said, language: wish.language } as const
    const more = { autoSubmitted: 'generated', consumerId: consumer.id } as const
    await oweLetter(tx, { ...letter, ...more, isAnswerable: true }, app, now)
    return { consumerId: consumer.id, waiting }
  })
}

/** Adds scopes to those that a consumer has. */
export async function addScopes(
  tx: Db,
  consumerId: string,
  scopes: readonly Scope[],
  now: Date,
): Promise<void> {
  const known = (await listScopes(tx, [consumerId])).get(consumerId) ?? []
  await replaceScopes(tx, consumerId, [...known, ...scopes], now)
}

/** Who said stop, and now wants to be told again, is believed; an administrator's word stands. */
async function mayEnroll(tx: Db, address: string, now: Date): Promise<boolean> {
  const suppression = (await listSuppressed(tx, [address], now)).get(address)
  if (suppression === undefined) return true
  if (suppression.reason === 'operator') return false
  await removeSuppression(tx, address)
  return true
}

async function provenOf(
  tx: Db,
  address: string,
  scopes: readonly Scope[],
  now: Date,
): Promise<Scope[]> {
  const proven: Scope[] = []
  for (const scope of scopes) {
    if (scope.kind !== 'range') continue
    const cidr = scope.value
    if (await isDisownedWithin(tx, { cidr, address }, now)) continue
    const layers = await listLayersOfBlock(tx, cidr, LAYERS_MAX, now)
    if (layers && answersForBlock(address, cidr, layers)) proven.push(scope)
  }
  return proven
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
