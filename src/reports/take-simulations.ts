import { createHmac, timingSafeEqual } from 'node:crypto'
import type { WorkApp } from '../app.ts'
import type { Channel } from '../db/reports.ts'
import {
  insertMarkedReports,
  insertSimulationReports,
  listRunningSimulations,
  type SimulationProof,
} from '../db/simulations.ts'
import { createMarketerBook } from '../pieces/marketer.ts'
import { type Phrase, phrase } from '../phrase.ts'
import { deliveryTime } from '../verdict/consequences.ts'
import { hasEffect } from './report-outcomes.ts'
import { uuidTime } from '../world.ts'
import type { ReadReport } from './read-messages.ts'

type Needs = Pick<WorkApp, 'pool' | 'clock' | 'config'>

/** Channels by which a person reports. */
const ofPeople: readonly Channel[] = ['api', 'signaler', 'form', 'mail']

/**
 * Recognizes messages of the organization's simulations among reported messages, counts who
 * reported them, and returns why their reports have no effect. A mark of a vendor proves nothing:
 * reports with one are only stored for the operators. Runs before the reports are judged, and
 * changes nothing when it runs again for a report.
 */
export async function takeSimulations(
  reports: readonly ReadReport[],
  app: Needs,
): Promise<Map<string, Phrase>> {
  const find = createFinder(await listRunningSimulations(app.pool), app)
  const found = new Map(
    reports.flatMap((one) => {
      const id = find(one)
      return id === undefined ? [] : [[one.report.id, id] as const]
    }),
  )
  const complaints = reports.filter(({ report }) => report.kind !== 'not-spam' && hasEffect(report))
  await insertSimulationReports(
    app.pool,
    complaints.flatMap(({ report, analysis }) => {
      const simulationId = found.get(report.id)
      if (simulationId === undefined || !ofPeople.includes(report.channel)) return []
      const { receivedAt: reportedAt, reporterId } = report
      const person = personIn(simulationId, reporterId, app)
      const seconds = secondsBetween(deliveryTime(analysis.trustedTimes, reportedAt), reportedAt)
      return [{ simulationId, person, reportedAt, seconds }]
    }),
  )
  await insertMarkedReports(
    app.pool,
    complaints.flatMap(({ report, analysis: { simulation } }) => {
      if (simulation?.vendor === undefined || found.has(report.id)) return []
      return [{ reportId: report.id, vendor: simulation.vendor, seenAt: report.receivedAt }]
    }),
  )
  return new Map([...found.keys()].map((id) => [id, phrase('simulation')]))
}

/** At most 68 years, which is as much as the column can hold. */
const SECONDS_MAX = 2 ** 31 - 1

function secondsBetween(delivered: number | undefined, reportedAt: Date): number | null {
  if (delivered === undefined) return null
  const seconds = Math.round((reportedAt.getTime() - delivered) / 1_000)
  return Math.min(SECONDS_MAX, Math.max(0, seconds))
}

/** The hash under which a key is stored. It needs the secret, so nobody can try keys without it. */
export function hashSimulationKey(text: string, { config }: Pick<Needs, 'config'>): Buffer {
  return keyedHash(`key ${text}`, config.secret.key('simulation'))
}

/** A person has one hash in a simulation, also if the secret changes while it runs. */
function personIn(simulationId: string, reporterId: string, { config }: Needs): Buffer {
  const key = config.secret.key('simulation', uuidTime(simulationId))
  return keyedHash(`${simulationId} ${reporterId}`, key).subarray(0, 16)
}

function keyedHash(text: string, key: Buffer): Buffer {
  return createHmac('sha256', key).update(`simulation ${text}`).digest()
}

/** Returns a function that returns the id of the simulation to which a message belongs. */
function createFinder(
  simulations: readonly SimulationProof[],
  app: Needs,
): (one: ReadReport) => string | undefined {
  if (simulations.length === 0) return () => undefined
  const { originConfidenceMin } = app.config
  const findSender = (some: readonly SimulationProof[]) => {
    const book = createMarketerBook(some.map(asMarks))
    return ({ analysis }: ReadReport) => book.recognize(analysis, originConfidenceMin).marketer?.key
  }
  const bySenderOnly = findSender(simulations.filter(({ keyHash }) => keyHash === null))
  return (one) => {
    const hashes = (one.analysis.simulation?.keys ?? []).flatMap((text) => {
      return app.config.secret.accepted('simulation').map((key) => keyedHash(`key ${text}`, key))
    })
    if (hashes.length === 0) return bySenderOnly(one)
    const unlocked = simulations.filter(({ keyHash }) => {
      return keyHash !== null && hashes.some((given) => timingSafeEqual(given, keyHash))
    })
    const byKey = unlocked.find(({ signers, ranges }) => signers.length + ranges.length === 0)
    return findSender(unlocked)(one) ?? byKey?.id ?? bySenderOnly(one)
  }
}

function asMarks({ id, signers, ranges }: SimulationProof) {
  const others = { name: '', listIds: [], authors: [], feedback: null }
  return { key: id, kind: 'marketer' as const, signers, ranges, ...others }
}
