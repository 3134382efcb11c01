import { hkdfSync } from 'node:crypto'
import { MINUTE_MS } from './durations.ts'

/**
 * How a purpose derives its keys: `label` for HKDF (RFC 5869); null if the secret itself is the
 * key, of an HMAC over a text that begins with the name of its use. `outlivesLeak`: the key only
 * decrypts, names or verifies what is in our database, so nobody can act with it from outside; an
 * ended secret still reads it.
 */
type Purpose = { label: string | null; outlivesLeak?: true }

/**
 * Everything that depends on the secret of the installation. Nothing else may derive a key from it.
 * A change of a label makes invalid what was issued before.
 */
const purposes = {
  'second step': { label: 'second step', outlivesLeak: true },
  'keys of a letter': { label: 'keys of a letter', outlivesLeak: true },
  'known callers': { label: 'known callers' },
  'provider flow': { label: 'provider flow' },
  'refresh token': { label: 'refresh token', outlivesLeak: true },
  'partner key': { label: 'partner key', outlivesLeak: true },
  'return path': { label: 'return path 1' },
  'answer address': { label: 'answer address 1' },
  'letter return path': { label: 'letter return path 1' },
  'letter answer address': { label: 'letter answer address 1' },
  'answer link': { label: 'answer link 1' },
  'letters off': { label: 'advice off 1' },
  'consumer page': { label: 'consumer page 1' },
  'mail-in address': { label: 'mail-in address 1' },
  'mailbox user': { label: null, outlivesLeak: true },
  webhook: { label: null },
  codes: { label: 'redaction 1' },
  'audit log': { label: 'audit log', outlivesLeak: true },
  'spooled id': { label: null },
  simulation: { label: null, outlivesLeak: true },
  session: { label: null },
  form: { label: null },
  device: { label: null },
  limit: { label: null },
  asker: { label: null },
} as const satisfies Record<string, Purpose>

export type KeyPurpose = keyof typeof purposes

export const keyPurposes = Object.keys(purposes) as KeyPurpose[]

/** When a secret came into force, and, if it is accepted no more, when it was ended. */
export type SecretChange = { name: string; inForceAt: Date; endedAt: Date | null }

/** What was read or verified last with a key of a previous secret. */
export type EarlierUse = { name: string; purpose: KeyPurpose }

/** The secret of the installation, and its previous ones: gives out keys by purpose. */
export type KeyRing = {
  /**
   * The key for what is issued now, or was issued at `issuedAt` and is derived again. That is the
   * key of the secret in force now if the earlier one was ended or is not configured. `salt`
   * separates the keys of one purpose.
   *
   * @throws Error if the secret in force is not configured
   */
  key: (purpose: KeyPurpose, issuedAt?: Date, salt?: string) => Buffer
  /**
   * Tries the keys that may have been used, the present one first, and returns the first result.
   * `notBefore` is the earliest time of issue: a previous secret is accepted only for what may have
   * been issued while it was in force.
   */
  find: <T>(
    purpose: KeyPurpose,
    attempt: (key: Buffer) => T | undefined,
    notBefore?: Date,
  ) => T | undefined
  /** All keys that `find` would try. */
  accepted: (purpose: KeyPurpose, notBefore?: Date) => Buffer[]
  /** Changes when a secret comes into force or is ended; then values derived earlier are stale. */
  version: () => string
  /** The names of the configured secrets, the one of SECRET first. A name reveals nothing. */
  names: readonly string[]
  /** Takes over the changes that the database knows, oldest first. */
  update: (changes: readonly SecretChange[]) => void
  isUsable: () => boolean
  /** Whether the secret that was in force at an instant is configured. */
  hasSecretOf: (at: Date) => boolean
  /** Returns the uses of previous secrets since the last call. */
  takeUses: () => EarlierUse[]
}

/** Clocks of machines may differ by as much. */
const CLOCKS_DIFFER_MS = 5 * MINUTE_MS
const NAME_BYTES = 8

type Held = { secret: string; name: string; keys: Map<string, Buffer> }

/**
 * Creates a key ring. Until `update` is called, SECRET is in force, and previous secrets are
 * accepted for everything.
 */
export function createKeyRing(
  secret: string,
  previous: readonly string[],
  clock: () => Date,
): KeyRing {
  const held = [...new Set([secret, ...previous])].map(hold)
  const { changes, changeAt, present, isAccepted, usable, update } = createTimeline(held, clock)
  let uses = new Map<string, EarlierUse>()
  return {
    key(purpose, issuedAt, salt = '') {
      const now = present()
      if (!now) throw new Error(MISSING)
      const then = issuedAt && changeAt(issuedAt)
      const earlier = then && held.find(({ name }) => name === then.name)
      const isUsable = earlier && isAccepted(earlier, purpose, undefined)
      return keyOf(isUsable ? earlier : now, purpose, salt)
    },
    find(purpose, attempt, notBefore) {
      for (const one of usable(purpose, notBefore)) {
        const found = attempt(keyOf(one, purpose, ''))
        if (found === undefined) continue
        if (one !== present()) uses.set(`${one.name} ${purpose}`, { name: one.name, purpose })
        return found
      }
      return undefined
    },
    accepted: (purpose, notBefore) => {
      return usable(purpose, notBefore).map((one) => keyOf(one, purpose, ''))
    },
    version() {
      const ended = changes().filter(({ endedAt }) => endedAt !== null).length
      return `${present()?.name ?? 'none'} ${ended}`
    },
    names: held.map(({ name }) => name),
    update,
    isUsable: () => present() !== undefined,
    hasSecretOf(at) {
      const change = changeAt(at)
      return change === undefined || held.some(({ name }) => name === change.name)
    },
    takeUses() {
      const taken = [...uses.values()]
      uses = new Map()
      return taken
    },
  }
}

/** Which of the configured secrets is in force or accepted, by the changes that are known. */
function createTimeline(held: readonly Held[], clock: () => Date) {
  let changes: readonly SecretChange[] = []

  function changeAt(at: Date): SecretChange | undefined {
    return changes.findLast(({ inForceAt }) => inForceAt <= at) ?? changes[0]
  }

  function present(): Held | undefined {
    const change = changeAt(clock())
    return change ? held.find(({ name }) => name === change.name) : held[0]
  }

  function isAccepted({ name }: Held, purpose: KeyPurpose, notBefore: Date | undefined): boolean {
    const change = changes.find((one) => one.name === name)
    if (change?.endedAt && !outlivesLeak(purpose)) return false
    const until = endOf(name)
    if (notBefore === undefined || until === undefined) return true
    return notBefore.getTime() <= until.getTime() + CLOCKS_DIFFER_MS
  }

  /** When a previous secret was replaced; undefined if it is in force, or still to come. */
  function endOf(name: string): Date | undefined {
    const at = changes.findIndex((one) => one.name === name)
    // A secret that was replaced before the database noted changes.
    if (at === -1) return name === held[0]?.name ? undefined : changes[0]?.inForceAt
    const next = changes[at + 1]?.inForceAt
    return next && next <= clock() ? next : undefined
  }

  return {
    ...{ changeAt, present, isAccepted },
    changes: () => changes,
    usable(purpose: KeyPurpose, notBefore: Date | undefined): Held[] {
      const now = present()
      const others = held.filter((one) => one !== now && isAccepted(one, purpose, notBefore))
      return now ? [now, ...others] : others
    },
    update(known: readonly SecretChange[]): void {
      changes = known
    },
  }
}

/** Shown where a process needs a key and does not have the secret for it. */
export const MISSING =
  'SECRET is not the secret that this installation uses. Set SECRET to it. If you want to change ' +
  'the secret, set SECRET_PREVIOUS to the present one. If the present one is lost, run ' +
  '"signalpost secret rotate --leaked".'

/** Whether an ended secret still reads what is in our database for this purpose. */
export function outlivesLeak(purpose: KeyPurpose): boolean {
  return (purposes[purpose] as Purpose).outlivesLeak === true
}

function hold(secret: string): Held {
  const name = derive(secret, 'name of the secret', '').toString('hex', 0, NAME_BYTES)
  return { secret, name, keys: new Map() }
}

/** Keys are kept: a process makes a thousand tokens a second. Those with a salt are many. */
function keyOf({ secret, keys }: Held, purpose: KeyPurpose, salt: string): Buffer {
  const { label } = purposes[purpose]
  if (label === null) return Buffer.from(secret)
  if (salt !== '') return derive(secret, label, salt)
  return keys.getOrInsertComputed(label, () => derive(secret, label, ''))
}

function derive(secret: string, label: string, salt: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, salt, `signalpost ${label}`, 32))
}
