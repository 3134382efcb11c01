import { createHmac, timingSafeEqual } from 'node:crypto'
import type { App } from '../app.ts'
import {
  type AuditSeal,
  findLastSeal,
  insertSeal,
  listSealed,
  listSeals,
  removeSeals,
} from '../db/audit-log.ts'
import type { Db } from '../db/pool.ts'
import { DAY_MS, MINUTE_MS } from '../durations.ts'
import type { KeyRing } from '../key-ring.ts'
import { uuidFloor, uuidTime } from '../world.ts'

/** An entry may be stored later than its time: at the end of its transaction. */
const LATE_MS = 10 * MINUTE_MS
const PAGE = 1_000
/** Seals are kept longer than the entries, whose partitions hold whole weeks. */
const KEPT_DAYS = 30
const FIRST_ID = '00000000-0000-0000-0000-000000000000'

type Needs = Pick<App, 'pool' | 'clock' | 'config' | 'log'>

/** Seals the entries since the last seal, except the newest. Entries do not wait for it. */
export async function runSealAudit({ pool, clock, config, log }: Needs): Promise<void> {
  const now = clock()
  const last = await findLastSeal(pool)
  const untilId = uuidFloor(new Date(now.getTime() - LATE_MS))
  const fromId = last?.untilId ?? FIRST_ID
  if (untilId <= fromId) return
  const base = { number: (last?.number ?? 0) + 1, fromId, untilId, previous: last?.seal ?? null }
  const { seal, entries } = await computeSeal(pool, base, config.secret.key('audit log'))
  await insertSeal(pool, { ...base, entries, seal, sealedAt: now })
  log.info({ number: base.number, seal: seal.toString('hex') }, 'Sealed the audit log.')
  const keptMs = (config.retentionDays + KEPT_DAYS) * DAY_MS
  await removeSeals(pool, uuidFloor(new Date(now.getTime() - keptMs)))
}

/**
 * Computes the seal of an interval. The key is derived from our secret, so that access to the
 * database is not enough to seal other entries.
 */
async function computeSeal(
  db: Db,
  its: Pick<AuditSeal, 'number' | 'fromId' | 'untilId' | 'previous'>,
  key: Buffer,
): Promise<{ seal: Buffer; entries: number }> {
  const mac = createHmac('sha256', key)
  const { number, fromId, untilId, previous } = its
  mac.update(JSON.stringify([number, fromId, untilId, previous?.toString('hex') ?? null]))
  let [entries, afterId] = [0, undefined as string | undefined]
  for (;;) {
    const page = await listSealed(db, { afterId, untilId, limit: PAGE }, fromId)
    for (const { id, at, reporterId, action, detail } of page) {
      mac.update(`\n${JSON.stringify([id, at.toISOString(), reporterId, action, detail])}`)
    }
    entries += page.length
    afterId = page.at(-1)?.id
    if (page.length < PAGE) return { seal: mac.digest(), entries }
  }
}

export type AuditCheck = {
  seals: number
  entries: number
  /** Since when the log is intact; null before the first seal, and if the last seal is broken. */
  since: Date | null
  /** Until when it is sealed. */
  until: Date | null
  last: { number: number; seal: string } | null
  /** Sentences, oldest first. */
  faults: string[]
}

/**
 * Checks all seals and their entries. The entries of intervals that begin before the retention may
 * have been deleted, so only the order of their seals is checked.
 */
export async function verifyAudit({
  pool,
  clock,
  config,
}: Pick<App, 'pool' | 'clock' | 'config'>): Promise<AuditCheck> {
  const keptFrom = uuidFloor(new Date(clock().getTime() - config.retentionDays * DAY_MS))
  const check: AuditCheck = {
    ...{ seals: 0, entries: 0, since: null, until: null, last: null, faults: [] },
  }
  let before: AuditSeal | undefined
  for (;;) {
    const page = await listSeals(pool, before?.number ?? 0, PAGE)
    for (const seal of page) {
      const fault = await faultOf(pool, { seal, before, keptFrom }, config.secret)
      check.seals += 1
      check.entries += seal.entries
      if (fault) {
        check.faults.push(`Seal ${seal.number}, ${spanOf(seal)}: ${fault}`)
        check.since = null
      } else check.since ??= timeOf(seal.fromId) ?? seal.sealedAt
      check.until = timeOf(seal.untilId)
      check.last = { number: seal.number, seal: seal.seal.toString('hex') }
      before = seal
    }
    if (page.length < PAGE) return check
  }
}

type Checked = { seal: AuditSeal; before: AuditSeal | undefined; keptFrom: string }

async function faultOf(
  db: Db,
  { seal, before, keptFrom }: Checked,
  secret: KeyRing,
): Promise<string | undefined> {
  if (before && seal.number !== before.number + 1) return 'the seal before it is missing.'
  if (before && (seal.fromId !== before.untilId || !isSame(seal.previous, before.seal))) {
    return 'it does not follow the seal before it.'
  }
  // Only the seals remain of what the retention deleted.
  if ((seal.fromId === FIRST_ID ? seal.untilId : seal.fromId) < keptFrom) return undefined
  // Each seal contains the one before it, so the first seal with a new secret covers all others.
  const key = secret.key('audit log', seal.sealedAt)
  const { seal: expected, entries } = await computeSeal(db, seal, key)
  if (entries < seal.entries) return `${seal.entries - entries} entries were removed.`
  if (entries > seal.entries) return `${entries - seal.entries} entries were added later.`
  if (isSame(expected, seal.seal)) return undefined
  if (!secret.hasSecretOf(seal.sealedAt)) return 'SECRET_PREVIOUS lacks the secret of that time.'
  return 'an entry or the seal was changed.'
}

function isSame(one: Buffer | null, other: Buffer | null): boolean {
  if (one === null || other === null) return one === other
  return one.length === other.length && timingSafeEqual(one, other)
}

function timeOf(id: string): Date | null {
  return id === FIRST_ID ? null : uuidTime(id)
}

function spanOf({ fromId, untilId }: AuditSeal): string {
  const [from, until] = [timeOf(fromId), timeOf(untilId)]
  return `${from ? `from ${from.toISOString()} ` : ''}until ${until?.toISOString() ?? ''}`
}
