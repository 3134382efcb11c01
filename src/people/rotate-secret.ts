import { setTimeout as wait } from 'node:timers/promises'
import { z } from 'zod'
import { type ActionContext, defineAction } from '../actions.ts'
import { listProcesses } from '../db/health.ts'
import { listEnabledPartners, putPartner, sealOf } from '../db/partners.ts'
import type { Db } from '../db/pool.ts'
import { isSealedNow, openBytes, sealBytes, type SealedFor } from '../db/sealed-bytes.ts'
import {
  type ConvertedKind,
  convertedKinds,
  endSecrets,
  insertSecret,
  listSealedRows,
  listSecrets,
  type Progress,
  removeMailInBefore,
  replaceSealed,
  type SecretRow,
  setSecretProgress,
} from '../db/secrets.ts'
import type { KeyRing } from '../key-ring.ts'

/** Until a change takes effect: longer than processes take to learn of it (`keepSecret`). */
const LEAD_MS = 6_000
/** Maximum number of rows that one transaction encrypts again. */
const BATCH = 200
/** A process without a heartbeat for as long is not asked; it will not find its secret in force. */
const SILENT_SECONDS = 60

const sealedFor: Record<ConvertedKind, SealedFor['purpose']> = {
  'second steps': 'second step',
  letters: 'keys of a letter',
}

/**
 * Brings SECRET into force if it is not, and encrypts again what is stored. Both steps are stored,
 * so the action continues where it was killed; after it is complete, it starts from the beginning.
 */
export const rotateSecret = defineAction({
  name: 'secret rotate',
  summary: 'bring SECRET into force, and encrypt again what is stored; may be repeated',
  audit: 'change secret',
  role: 'administrator',
  input: z.object({
    leaked: z.boolean().optional().meta({ description: 'End all previous secrets at once.' }),
  }),
  async run(tx, { leaked = false }, { at, config: { secret } }: ActionContext<'config'>) {
    const known = await listSecrets(tx)
    const change = await changeIn(tx, { known, secret, leaked, at })
    if (change) return change
    const row = known.at(-1)
    if (!row) throw new Error('No secret is in force.')
    secret.update(known)
    if (row.inForceAt > at) {
      const afterwards = () => wait(row.inForceAt.getTime() - at.getTime())
      return { done: 'waiting', count: 0, isPartial: true, afterwards }
    }
    if (leaked) {
      const ended = await endSecrets(tx, row.number, at)
      const removed = await removeMailInBefore(tx, row.inForceAt, BATCH)
      const audit = ended > 0 ? [`${row.name}: the previous ones are ended`] : []
      if (ended + removed > 0) return { done: 'ended', count: 0, isPartial: true, audit }
    }
    const end = await convertIn(tx, row, { secret, at })
    return leaked ? { ...end, done: 'leaked' } : end
  },
})

type Change = { known: readonly SecretRow[]; secret: KeyRing; leaked: boolean; at: Date }

/** Brings SECRET into force; undefined if it is in force, or soon will be. */
async function changeIn(tx: Db, { known, secret, leaked, at }: Change) {
  const [wanted = '', before] = secret.names
  const last = known.at(-1)
  if (last?.name === wanted) return undefined
  if (known.some(({ name }) => name === wanted)) {
    return refused('SECRET was used before and was replaced. Set it to a new one.')
  }
  if (last && !leaked && !secret.names.includes(last.name)) {
    return refused(
      'SECRET_PREVIOUS does not contain the present secret. Set it. If the present secret is ' +
        'lost, use --leaked.',
    )
  }
  const unprepared = await listUnprepared(tx, wanted)
  if (unprepared.length > 0) {
    return refused(
      `Restart these processes with the new SECRET first: ${unprepared.join(', ')}. Nothing was ` +
        'changed.',
    )
  }
  if (!last && before !== undefined) {
    await insertSecret(tx, { number: 1, name: before, inForceAt: new Date(0) })
  }
  const number = (last?.number ?? (before === undefined ? 0 : 1)) + 1
  const isFirst = last === undefined && before === undefined
  const inForceAt = leaked || isFirst ? at : new Date(at.getTime() + LEAD_MS)
  await insertSecret(tx, { number, name: wanted, inForceAt })
  return { done: 'changed', audit: wanted, count: 0, isPartial: true } as const
}

function refused(message: string) {
  return { problems: [{ message }] } as const
}

/** The processes that run and do not have a secret. */
async function listUnprepared(tx: Db, wanted: string): Promise<string[]> {
  const processes = await listProcesses<{ secrets?: readonly string[] }>(tx)
  return processes.flatMap(({ name, host, silentSeconds, facts }) => {
    const isPrepared = facts.secrets?.includes(wanted) ?? false
    return isPrepared || silentSeconds > SILENT_SECONDS ? [] : [`${name} on ${host}`]
  })
}

const nothingDone: Progress = {
  'second steps': { afterId: null, rows: 0, isDone: false },
  letters: { afterId: null, rows: 0, isDone: false },
}

/** Encrypts one batch again, or notes that all is encrypted again. */
async function convertIn(tx: Db, row: SecretRow, { secret, at }: { secret: KeyRing; at: Date }) {
  const progress = (row.convertedAt ? null : row.progress) ?? nothingDone
  const kind = convertedKinds.find((one) => !progress[one].isDone)
  if (!kind) {
    await sealPartnerKeys(tx, secret)
    await setSecretProgress(tx, row.number, progress, at)
    return { done: 'converted', count: 0 } as const
  }
  const state = progress[kind]
  const found = await listSealedRows(tx, kind, { afterId: state.afterId, limit: BATCH })
  let rows = 0
  for (const { id, sealed: old } of found) {
    const sealed = sealedAgain(old, { purpose: sealedFor[kind], owner: id }, secret)
    if (!sealed) continue
    await replaceSealed(tx, kind, { id, sealed, old })
    rows += 1
  }
  const afterId = found.at(-1)?.id ?? state.afterId
  const isDone = found.length < BATCH
  const after = { ...progress, [kind]: { afterId, rows: state.rows + rows, isDone } }
  await setSecretProgress(tx, row.number, after, null)
  return { done: 'converted', count: rows, isPartial: true } as const
}

/** Encrypts again the keys of our accounts at partners, of which there are a few. */
async function sealPartnerKeys(tx: Db, secret: KeyRing): Promise<void> {
  for (const partner of await listEnabledPartners(tx)) {
    const { sealedKey: old } = partner
    const sealedKey = old && sealedAgain(old, sealOf(partner), secret)
    if (sealedKey) await putPartner(tx, { ...partner, sealedKey })
  }
}

/** Encrypts bytes again; undefined if they have the secret in force, or cannot be read. */
function sealedAgain(old: Buffer, about: SealedFor, secret: KeyRing): Buffer | undefined {
  const opened = isSealedNow(old, about, secret) ? undefined : openBytes(old, about, secret)
  return opened && sealBytes(opened, about, secret)
}
