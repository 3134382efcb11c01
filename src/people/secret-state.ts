import type { App } from '../app.ts'
import {
  countIssuedBefore,
  type IssuedBefore,
  listSecrets,
  listSecretUses,
  type SecretRow,
} from '../db/secrets.ts'
import { DAY_MS } from '../durations.ts'
import { type KeyPurpose, keyPurposes, outlivesLeak } from '../key-ring.ts'

/**
 * How long something needs the previous secret. `converted`: until it is encrypted again. `fades`:
 * for some days, in which everything that was issued before expires. `stays`: until its owner
 * renews it; `counts` is the number of those who have one. `returns`: until the next report of
 * each. `lasts`: as long as it is to stay valid. `restarts`: it begins anew with the change.
 */
type Fate =
  | { is: 'converted' }
  | { is: 'fades'; days: (config: App['config']) => number }
  | { is: 'stays'; counts?: keyof IssuedBefore }
  | { is: 'returns' | 'lasts' | 'restarts' }

const stored: Fate = { is: 'fades', days: ({ retentionDays }) => retentionDays }
const days = (count: number): Fate => ({ is: 'fades', days: () => count })

/** The fate of everything that depends on the secret after a change. */
const fates: Record<KeyPurpose, Fate> = {
  'second step': { is: 'converted' },
  'keys of a letter': { is: 'converted' },
  'partner key': { is: 'converted' },
  'known callers': days(1),
  'provider flow': days(1),
  // The sessions at the provider end by then.
  'refresh token': days(180),
  'return path': stored,
  'answer address': stored,
  'letter return path': stored,
  'letter answer address': stored,
  'answer link': stored,
  'letters off': { is: 'lasts' },
  'consumer page': { is: 'stays', counts: 'desks' },
  'mail-in address': { is: 'stays', counts: 'mailIn' },
  'mailbox user': { is: 'returns' },
  webhook: { is: 'stays', counts: 'webhooks' },
  codes: { is: 'lasts' },
  // Seals are kept for 30 days longer than their entries.
  'audit log': { is: 'fades', days: ({ retentionDays }) => retentionDays + 30 },
  'spooled id': days(1),
  simulation: { is: 'stays', counts: 'simulations' },
  session: days(180),
  form: days(180),
  device: days(400),
  limit: { is: 'restarts' },
  asker: { is: 'restarts' },
}

/** What depends on the previous secret, and for how long. */
export type Dependence = {
  purpose: KeyPurpose
  /** `over`: not needed any more. `ended`: it stopped, because the secret was ended. */
  need: Fate['is'] | 'over' | 'ended'
  /** Until when it needs the previous secret; null if that has no date, or is over. */
  until: Date | null
  /** How many of them were issued before the change. */
  count: number | null
  /** When something was last accepted with a previous secret. */
  lastUsedAt: Date | null
}

/** The part of the codes of texts that says which purpose a row is about. */
export function codeOf({ purpose }: Pick<Dependence, 'purpose'>): Hyphened<KeyPurpose> {
  return purpose.replaceAll(' ', '-') as Hyphened<KeyPurpose>
}

type Hyphened<Words extends string> = Words extends `${infer First} ${infer Rest}`
  ? `${First}-${Hyphened<Rest>}`
  : Words

export type SecretState = {
  /** The secrets that came into force, oldest first; `isHeld`: this process has it. */
  secrets: (Pick<SecretRow, 'name' | 'inForceAt' | 'endedAt'> & { isHeld: boolean })[]
  /** Whether SECRET is another one than the secret in force: `secret rotate` changes it. */
  isPrepared: boolean
  /** Null if the secret was never changed. */
  change: {
    at: Date
    /** When everything stored was encrypted again; null if that is not complete. */
    convertedAt: Date | null
    converted: { secondSteps: number; letters: number }
    /** When the last thing that fades is gone. */
    fadedAt: Date
    /** Whether the previous secret was ended, because it is lost or known to others. */
    isLeaked: boolean
  } | null
  dependences: Dependence[]
}

/** Says what depends on the secret, what was encrypted again, and what needs the previous one. */
export async function readSecretState({
  pool,
  clock,
  config,
}: Pick<App, 'pool' | 'clock' | 'config'>): Promise<SecretState> {
  const { secret } = config
  const known = await listSecrets(pool)
  secret.update(known)
  const now = clock()
  const current = known.findLast(({ inForceAt }) => inForceAt <= now)
  const isChanged = current !== undefined && current.number > 1
  const at = current?.inForceAt ?? now
  const before = known.findLast(({ number }) => current && number < current.number)
  const isLeaked = before !== undefined && before.endedAt !== null
  const [counts, uses] = await Promise.all([
    isChanged ? countIssuedBefore(pool, at) : undefined,
    listSecretUses(pool),
  ])
  const dependences = keyPurposes.map((purpose): Dependence => {
    const fate = fates[purpose]
    const times = uses.flatMap((one) => (one.purpose === purpose ? [one.lastAt.getTime()] : []))
    const isEnded = isLeaked && fate.is !== 'restarts' && !outlivesLeak(purpose)
    const until = fate.is === 'fades' && isChanged ? after(at, fate.days(config)) : null
    const count = (fate.is === 'stays' && fate.counts ? counts?.[fate.counts] : null) ?? null
    const isOver =
      (fate.is === 'converted' && current?.convertedAt) || (until && until <= now) || count === 0
    const need = isEnded ? 'ended' : isChanged && isOver ? 'over' : fate.is
    return {
      ...{ purpose, need, count },
      until: need === 'fades' ? until : null,
      lastUsedAt: times.length > 0 ? new Date(Math.max(...times)) : null,
    }
  })
  const fading = dependences.flatMap(({ until }) => until?.getTime() ?? [])
  return {
    secrets: known.map(({ name, inForceAt, endedAt }) => {
      return { name, inForceAt, endedAt, isHeld: secret.names.includes(name) }
    }),
    isPrepared: current !== undefined && current.name !== secret.names[0],
    change: isChanged
      ? {
          at,
          convertedAt: current.convertedAt,
          converted: {
            secondSteps: current.progress?.['second steps'].rows ?? 0,
            letters: current.progress?.letters.rows ?? 0,
          },
          fadedAt: new Date(Math.max(at.getTime(), ...fading)),
          isLeaked,
        }
      : null,
    dependences,
  }
}

function after(at: Date, count: number): Date {
  return new Date(at.getTime() + count * DAY_MS)
}
