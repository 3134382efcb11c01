import { LRUCache } from 'lru-cache'
import { inTransaction, type Pool } from '../db/pool.ts'
import { insertMailboxUser, renameMailboxUser, type Reporter } from '../db/reporters.ts'
import { findKarmas, insertKarma } from '../db/reputations.ts'
import type { KeyRing } from '../key-ring.ts'
import { type Callers, unknownCallers } from '../outage/callers.ts'
import { type Clock, uuidv7 } from '../world.ts'
import { storedKey } from './limits.ts'

/**
 * A mailbox user for whom a provider reports. `not-vouched`: the provider's account was not created
 * by an operator. `disabled`: the account of the user is disabled or being erased.
 */
type FoundUser = Reporter | 'not-vouched' | 'disabled'

/** Finds the account of a mailbox user by the key that the provider chose, or adds it. */
export type FindMailboxUser = (provider: Reporter, key: string) => Promise<FoundUser>

const KEY = /^[\x21-\x7e]{1,200}$/
/** What a client that sent another key is answered. */
export const keyFault = 'On-Behalf-Of must have 1 to 200 printable ASCII characters without blanks.'

/** Whether a provider may use this text as the key of a mailbox user. */
export function isUserKey(key: unknown): key is string {
  return typeof key === 'string' && KEY.test(key)
}

const REMEMBERED_MAX = 50_000
/** Until a disabled account takes effect in all processes. */
const REMEMBERED_MS = 10_000

/**
 * Each mailbox user is a source of its own, with its own karma, limits and ban; all users of one
 * provider count as one reporter where reporters are counted. The key is stored as a keyed hash;
 * `.invalid` receives no mail (RFC 2606). After a change of the secret, a user gets another hash
 * with the next report.
 */
export function createMailboxUsers(
  app: { pool: Pool; clock: Clock; config: { secret: KeyRing }; callers?: Pick<Callers, 'find'> },
  /** Whether only accounts that an operator created may have users. */
  needsVouching = true,
): FindMailboxUser {
  const remembered = new LRUCache<string, Reporter>({ max: REMEMBERED_MAX, ttl: REMEMBERED_MS })
  return async (provider, key) => {
    const addresses = app.config.secret.accepted('mailbox user').map((own) => {
      const name = storedKey(own, ['mailbox user', provider.id, key])
      return `${name}@${provider.id}.signalpost.invalid`
    })
    const [email = '', ...earlier] = addresses
    const known = remembered.get(email)
    if (known) return known
    let refusal: FoundUser = 'disabled'
    const find = async () => {
      const isRefused = needsVouching && !(await isVouched(app.pool, provider))
      const found = isRefused ? 'not-vouched' : await findOrAdd(app, provider, { email, earlier })
      if (typeof found === 'object') return found
      refusal = found
      return undefined
    }
    const question = { kind: 'account', key: email, find, markOf: () => MARK } as const
    const found = await (app.callers ?? unknownCallers).find(question)
    if (!found) return refusal
    remembered.set(email, found)
    return found
  }
}

/** An account without a password and second step, as `listValidKeys` returns it. */
const MARK = ' f'

async function isVouched(pool: Pool, { id }: Reporter): Promise<boolean> {
  const [karma] = await findKarmas(pool, [id])
  return karma?.isVouched === true
}

async function findOrAdd(
  { pool, clock }: { pool: Pool; clock: Clock },
  provider: Reporter,
  { email, earlier }: { email: string; earlier: readonly string[] },
): Promise<FoundUser> {
  const now = clock()
  const found = await inTransaction(pool, async (tx) => {
    if (earlier.length > 0) await renameMailboxUser(tx, earlier, email)
    const fresh = { id: uuidv7(now), email, providerId: provider.id, createdAt: now }
    const user = await insertMailboxUser(tx, fresh)
    if (user?.id === fresh.id) {
      const karma = { reporterId: user.id, isVouched: false, providerId: provider.id, now }
      await insertKarma(tx, karma)
    }
    return user
  })
  return found?.state === 'active' ? { id: found.id, email, role: null } : 'disabled'
}
