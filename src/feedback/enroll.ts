import { hash } from 'node:crypto'
import type { App } from '../app.ts'
import { listScopes, replaceScopes } from '../db/consumer-scopes.ts'
import {
  ensureConsumers,
  keepHealth,
  updateFeedbackSettings,
  markEnrolled,
} from '../db/consumers.ts'
import {
  countEnrollments,
  type EnrollmentRequest,
  type EnrollmentTerms,
  findEnrollment,
  hasEnrollments,
  holdEnrollments,
  insertEnrollment,
  moveEnrollment,
} from '../db/enrollment-requests.ts'
import { isDisownedWithin } from '../db/feedback-answers.ts'
import { advanceDueFeedback } from '../db/feedback-waiting.ts'
import { listLayersOfBlock } from '../db/networks.ts'
import { type Db, inTransaction } from '../db/pool.ts'
import { listSuppressed, removeSuppression } from '../db/suppressions.ts'
import { DAY_MS, HOUR_MS, WEEK_MS } from '../durations.ts'
import type { KeyRing } from '../key-ring.ts'
import { composeBody, type LetterBody } from '../letters/letter-body.ts'
import { queueLetter } from '../letters/send-letter.ts'
import { domainOf, registrableDomain } from '../mail/address.ts'
import { type KeyedLink, signedLink } from '../mail/keys.ts'
import { composeToken, parseToken } from '../mail/verp.ts'
import { textsIn } from '../texts/messages.ts'
import { isOwn } from '../verdict/choose-contact.ts'
import { answersForBlock, type ConsumerScope, scopeText } from '../verdict/consumers.ts'
import { healthyRecord } from '../verdict/contact-health.ts'
import { systemRandom, uuidTime, uuidv7 } from '../world.ts'

type Settings = { publicUrl: string; secret: KeyRing }

/**
 * Returns the link to the page where a consumer manages its settings. Anyone who has the link can
 * change them.
 */
export function consumerLink(consumerId: string, { publicUrl, secret }: Settings): KeyedLink {
  const token = composeToken({ id: consumerId, number: 1 }, 'consumer page', secret)
  return signedLink(`${publicUrl}/consumers/${token}`)
}

/**
 * Returns the consumer id in the token of a link to a consumer page; undefined if the token is not
 * valid.
 */
export function parseConsumerToken(token: string, secret: KeyRing): string | undefined {
  const content = parseToken(token, 'consumer page', secret)
  return content === undefined || content === 'forged' ? undefined : content.id
}

type LetterWords = LetterBody & { subject: string }

/**
 * Composes the letter that asks whether an address wants our feedback reports. Anyone can cause
 * this letter to be sent, so it states only the number of the requested domains outside the
 * recipient's own; the linked page lists them.
 */
export function askingLetter(
  wish: EnrollmentTerms,
  address: string,
  service: string,
  link: KeyedLink,
): LetterWords {
  const texts = textsIn(wish.language)
  const registrable = registrableOf(domainOf(address) ?? '')
  const isForeign = ({ kind, value }: ConsumerScope) =>
    kind === 'domain' && registrableOf(value) !== registrable
  const foreign = wish.scopes.filter(isForeign).length
  const named = scopesText(wish.scopes.filter((scope) => !isForeign(scope)))
  const others = foreign > 0 ? texts('enrollmentLetters.others', { domains: foreign }) : ''
  const scopes = [named, others].filter((text) => text !== '').join(', ')
  const parameters = { service, scopes: scopes || texts('enrollmentLetters.nothing') }
  const parts = [
    ...texts('enrollmentLetters.ask.text', parameters),
    { action: texts('enrollmentLetters.ask.action'), url: link },
    { small: texts('enrollmentLetters.ask.refuse') },
  ]
  return {
    subject: texts('enrollmentLetters.ask.subject'),
    ...composeBody(parts, wish.language),
  }
}

function registrableOf(domain: string): string {
  return registrableDomain(domain) ?? domain
}

/**
 * Composes the letter that confirms an enrollment, with the scopes still pending and the settings
 * link.
 */
export function welcomeLetter(
  wish: EnrollmentTerms,
  service: string,
  link: KeyedLink,
): LetterWords {
  const texts = textsIn(wish.language)
  const scopes = scopesText(wish.scopes)
  const state =
    scopes === ''
      ? texts('enrollmentLetters.ready')
      : texts('enrollmentLetters.waiting', { scopes })
  const parts = [
    ...texts('enrollmentLetters.welcome.text', { service, state }),
    { action: texts('enrollmentLetters.welcome.action'), url: link },
    { small: texts('enrollmentLetters.welcome.secret') },
  ]
  return {
    subject: texts('enrollmentLetters.welcome.subject'),
    ...composeBody(parts, wish.language),
  }
}

function scopesText(scopes: EnrollmentTerms['scopes']): string {
  return scopes.map(scopeText).join(', ')
}

type Needs = Pick<App, 'pool' | 'boss' | 'config' | 'clock'> & { publicUrl: string }

/** Maximum number of enrollment letters per address and week. */
const LETTERS_PER_ADDRESS_MAX = 1
/** Maximum number of enrollment requests per client and day. */
const REQUESTS_PER_CLIENT_MAX = 5
/**
 * Maximum number of enrollment letters per hour in total, because untrusted clients choose the
 * recipients.
 */
const LETTERS_PER_HOUR_MAX = 100
const VALID_MS = WEEK_MS
const LAYERS_MAX = 2_000
const TOKEN_BYTES = 24

/**
 * Accepts a request to enroll an address and sends it a letter with a link, at most once a week.
 * The result does not reveal whether a letter was sent: `taken`, or `too often` if this client
 * exceeds its limit or everyone together exceeds the hourly limit. A request without a letter is
 * not stored, so repeating it does not delay the next letter to the address.
 */
export async function requestEnrollment(
  { address, wish, askerHash }: { address: string; wish: EnrollmentTerms; askerHash: Buffer },
  app: Needs,
): Promise<'taken' | 'too often'> {
  const now = app.clock()
  const since = new Date(now.getTime() - DAY_MS)
  return inTransaction(app.pool, async (tx) => {
    await holdEnrollments(tx, address)
    const addressSince = new Date(now.getTime() - WEEK_MS)
    const of = { address, addressSince, askerHash, since, limit: REQUESTS_PER_CLIENT_MAX }
    const counted = await countEnrollments(tx, of)
    if (counted.ofAsker >= REQUESTS_PER_CLIENT_MAX) return 'too often'
    const lately = { since: new Date(now.getTime() - HOUR_MS), limit: LETTERS_PER_HOUR_MAX }
    if (await hasEnrollments(tx, lately)) return 'too often'
    if (counted.ofAddress >= LETTERS_PER_ADDRESS_MAX) return 'taken'
    const { mailFrom, returnPathDomain: domain } = app.config
    const isOurs = isOwn(address, { addresses: [mailFrom], domain })
    const token = systemRandom(TOKEN_BYTES).toString('base64url')
    const request = {
      id: uuidv7(now),
      address,
      wish,
      tokenHash: hash('sha256', token, 'buffer'),
      askerHash,
    }
    await insertEnrollment(tx, request)
    if (isOurs) return 'taken'
    const link = { url: `${app.publicUrl}/consumers/enroll/${token}`, key: token }
    const composed = askingLetter(wish, address, app.publicUrl, link)
    const letter = {
      kind: 'enrollment',
      to: address,
      ...composed,
      language: wish.language,
      keysExpireAt: new Date(now.getTime() + VALID_MS),
    } as const
    await queueLetter(tx, { ...letter, autoSubmitted: 'generated', isAnswerable: true }, app, now)
    return 'taken'
  })
}

/** Returns the enrollment request behind a link; undefined if it does not exist or has expired. */
export async function findEnrollmentByToken(
  token: string,
  { pool, clock }: Pick<Needs, 'pool' | 'clock'>,
): Promise<EnrollmentRequest | undefined> {
  const request = await findEnrollment(pool, hash('sha256', token, 'buffer'))
  if (!request) return undefined
  return clock().getTime() - uuidTime(request.id).getTime() < VALID_MS ? request : undefined
}

/** The result of a confirmation: the consumer, and the scopes that wait for a decision. */
export type Confirmed = { consumerId: string; waiting: readonly ConsumerScope[] }

/**
 * Confirms an enrollment from the link in the letter. The address receives feedback as requested,
 * for the networks that tables and registries assign to it and for the requested scopes that it
 * provably controls. An administrator decides on the other scopes. Undefined if the request was
 * confirmed before, has expired, or an administrator suppressed the address.
 */
export async function confirmEnrollment(token: string, app: Needs): Promise<Confirmed | undefined> {
  const request = await findEnrollmentByToken(token, app)
  if (request?.state !== 'sent') return undefined
  const now = app.clock()
  return inTransaction(app.pool, async (tx) => {
    const { id, address, wish } = request
    if (!(await mayEnroll(tx, address, now))) return undefined
    const source = 'enrollment' as const
    const consumer = (await ensureConsumers(tx, [{ address, source }], now)).get(address)
    if (!consumer) throw new Error('The consumer was not found after it was inserted.')
    const proven = await provenOf(tx, address, wish.scopes, now)
    const waiting = wish.scopes.filter((scope) => !proven.includes(scope))
    const state = waiting.length > 0 ? 'proven' : 'accepted'
    const at = waiting.length > 0 ? null : now
    const left = { ...wish, scopes: waiting }
    const to = { state, wish: left, consumerId: consumer.id, at, reporterId: null } as const
    if (!(await moveEnrollment(tx, id, 'sent', to))) return undefined
    await markEnrolled(tx, consumer.id, now)
    await advanceDueFeedback(tx, consumer.id, now)
    // The confirmation proves that our mail arrived.
    await keepHealth(tx, consumer.id, healthyRecord)
    await updateFeedbackSettings(tx, consumer.id, wish)
    await addScopes(tx, consumer.id, proven, now)
    const link = consumerLink(consumer.id, { ...app.config, publicUrl: app.publicUrl })
    const composed = welcomeLetter(left, app.publicUrl, link)
    const letter = {
      kind: 'enrollment',
      to: address,
      ...composed,
      language: wish.language,
    } as const
    const more = { autoSubmitted: 'generated', consumerId: consumer.id } as const
    await queueLetter(tx, { ...letter, ...more, isAnswerable: true }, app, now)
    return { consumerId: consumer.id, waiting }
  })
}

export async function addScopes(
  tx: Db,
  consumerId: string,
  scopes: readonly ConsumerScope[],
  now: Date,
): Promise<void> {
  const known = (await listScopes(tx, [consumerId])).get(consumerId) ?? []
  await replaceScopes(tx, consumerId, [...known, ...scopes], now)
}

/**
 * Whether an address may enroll: not if an operator suppressed it. A stopped address may enroll
 * again.
 */
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
  scopes: readonly ConsumerScope[],
  now: Date,
): Promise<ConsumerScope[]> {
  const proven: ConsumerScope[] = []
  for (const scope of scopes) {
    if (scope.kind !== 'range') continue
    const cidr = scope.value
    if (await isDisownedWithin(tx, { cidr, address }, now)) continue
    const layers = await listLayersOfBlock(tx, cidr, LAYERS_MAX, now)
    if (layers && answersForBlock(address, cidr, layers)) proven.push(scope)
  }
  return proven
}
