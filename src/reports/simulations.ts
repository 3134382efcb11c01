import { z } from 'zod'
import { type ActionContext, defineAction, oneOf, textField, wholeNumber } from '../actions.ts'
import {
  countSimulationReports,
  countSimulations,
  endSimulation,
  insertSimulation,
  listSimulations,
  removeSimulation,
  type Simulation,
  type SimulationVendor,
} from '../db/simulations.ts'
import type { Db } from '../db/pool.ts'
import { refusal } from '../phrase.ts'
import { isSimulationKey, markingVendors } from '../pieces/simulation-marks.ts'
import { ownNamesOf } from '../verdict/lists/spare.ts'
import { checkMarketer } from '../verdict/marketers/marketer-file.ts'
import { systemRandom, uuidv7 } from '../world.ts'
import { REPORTERS_FLOOR } from './hide-small-counts.ts'
import { hashSimulationKey } from './take-simulations.ts'

const NAME_CHARS_MAX = 120
const KEY_BYTES_MAX = 200
/** Each running simulation is compared with each reported message. */
const RUNNING_MAX = 50
const SIMULATIONS_MAX = 1_000
const RECIPIENTS_MAX = 10_000_000

export const simulationVendors = [
  'cofense',
  'gophish',
  'knowbe4',
  'microsoft',
  'proofpoint',
  'other',
] as const satisfies readonly SimulationVendor[]

/** Names of vendors; `other` has none. */
export const vendorNames: Readonly<Partial<Record<SimulationVendor, string>>> = {
  ...markingVendors,
  microsoft: 'Microsoft',
}

const names = z
  .string()
  .max(12_000)
  .default('')
  .transform((text) => text.split(/[\s,]+/).filter((name) => name !== ''))
  .meta({ value: 'A,B' })

const keyError = refusal('refused.simulation-key')

const key = z
  .string()
  .default('')
  .transform((text) => text.trim())
  .refine((text) => text === '' || isSimulationKey(text), keyError)
  .meta({ argument: 'KEY-FILE', fileBytesMax: KEY_BYTES_MAX })

const id = z.uuid(refusal('refused.simulation-id')).meta({ argument: 'ID' })

/** Makes a key that an operator can set for a simulation. */
export function makeSimulationKey(): string {
  return `spsim_${systemRandom(32).toString('base64url')}`
}

/** Adds a simulation. Its messages are recognized from then on. */
export const addSimulation = defineAction({
  name: 'simulations add',
  summary: 'recognize simulated phishing by its signers or addresses, and by a key if one is given',
  audit: 'add simulation',
  role: 'operator',
  input: z.object({
    name: textField(NAME_CHARS_MAX, refusal('refused.simulation-name')).meta({ argument: 'NAME' }),
    key,
    vendor: oneOf(simulationVendors),
    signers: names,
    ranges: names,
    recipients: wholeNumber(1, RECIPIENTS_MAX).optional().meta({ value: 'N' }),
  }),
  async run(tx, given, { at, config }: ActionContext<'config'>) {
    const { name, vendor, recipients = null } = given
    const { running, all } = await countSimulations(tx)
    if (running >= RUNNING_MAX) {
      const message = refusal('refused.simulations-run', { max: RUNNING_MAX })
      return { problems: [{ message }] }
    }
    if (all >= SIMULATIONS_MAX) {
      const message = refusal('refused.simulations', { max: SIMULATIONS_MAX })
      return { problems: [{ message }] }
    }
    const checked = checkSenders(given, ownNamesOf(config))
    if ('problems' in checked) return checked
    const keyHash = given.key === '' ? null : hashSimulationKey(given.key, { config })
    const one = { id: uuidv7(at), name, vendor, ...checked, keyHash, recipients, createdAt: at }
    await insertSimulation(tx, one)
    const proofs = [...one.signers, ...one.ranges, ...(keyHash === null ? [] : ['a key'])]
    return { done: 'added', id: one.id, audit: `${name} (${vendor}): ${proofs.join(', ')}` }
  },
})

type Senders = { signers: readonly string[]; ranges: readonly string[] }

/** Checks senders as those of a marketer: nobody else may sign or send as they do. */
function checkSenders(
  { signers, ranges, key: given }: Senders & { key: string },
  own: readonly string[],
): Senders | { problems: { field?: string | undefined; message: string }[] } {
  if (signers.length + ranges.length === 0) {
    const message = refusal('refused.simulation-proof')
    return given === '' ? { problems: [{ field: 'signers', message }] } : { signers, ranges }
  }
  const checked = checkMarketer({ key: 'simulation', name: 'simulation', signers, ranges }, own)
  if ('marketer' in checked) {
    const { marketer } = checked
    return { signers: marketer.signers, ranges: marketer.ranges }
  }
  return { problems: checked.faults.map(({ field, reason }) => ({ field, message: reason })) }
}

/** Ends a simulation. Its counts stay; what is reported later is ordinary mail. */
export const stopSimulation = defineAction({
  name: 'simulations end',
  summary: 'end a simulation; its counts stay',
  audit: 'end simulation',
  role: 'operator',
  input: z.object({ id }),
  async run(tx, { id: one }, { at }) {
    const name = await endSimulation(tx, one, at)
    return name === undefined ? { unchanged: 'unknown' } : { done: 'ended', audit: name }
  },
})

/** Removes a simulation and its counts. */
export const dropSimulation = defineAction({
  name: 'simulations remove',
  summary: 'remove a simulation and its counts',
  audit: 'remove simulation',
  role: 'operator',
  input: z.object({ id }),
  async run(tx, { id: one }) {
    const name = await removeSimulation(tx, one)
    return name === undefined ? { unchanged: 'unknown' } : { done: 'removed', audit: name }
  },
})

/** A simulation for operators: without its key, and with the counts that hide single people. */
export type ShownSimulation = Omit<Simulation, 'keyHash'> & {
  hasKey: boolean
  /** How many people reported it; null for fewer than `PEOPLE_MIN`, except none. */
  people: number | null
  /** The share of the recipients who reported it, 0 to 1; null if unknown. */
  rate: number | null
  /** From the delivery to a person until that person's report; null if unknown. */
  firstSeconds: number | null
  medianSeconds: number | null
}

/**
 * Smaller numbers of people are not shown: an operator could send each person a simulation of their
 * own, or ask all but one.
 */
export const PEOPLE_MIN = REPORTERS_FLOOR

/** Returns a page of the simulations with their counts, newest first. */
export async function readSimulations(
  db: Db,
  page: { before: string | undefined; limit: number },
): Promise<ShownSimulation[]> {
  const found = await listSimulations(db, page)
  const counts = await countSimulationReports(
    db,
    found.map((one) => one.id),
  )
  return found.map(({ keyHash, ...one }) => {
    const its = counts.get(one.id)
    const shown = { ...one, hasKey: keyHash !== null, firstSeconds: null, medianSeconds: null }
    if (!its) return { ...shown, people: 0, rate: one.recipients === null ? null : 0 }
    if (its.people < PEOPLE_MIN) return { ...shown, people: null, rate: null }
    const { people, firstSeconds, medianSeconds } = its
    const rate = one.recipients === null ? null : Math.min(1, people / one.recipients)
    return { ...shown, people, rate, firstSeconds, medianSeconds }
  })
}
