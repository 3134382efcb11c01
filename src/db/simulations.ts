import sql, { bulk } from 'sql-template-tag'
import type { MarkingVendor } from '../pieces/simulation-marks.ts'
import type { Db } from './pool.ts'
import { preparedRowsOf } from './prepared.ts'
import { rowOf, rowsOf } from './rows.ts'

export type SimulationVendor = MarkingVendor | 'microsoft' | 'other'

/** What proves that a message belongs to a simulation. */
export type SimulationProof = {
  id: string
  /** Signing domains, and blocks of addresses, as of a marketer. */
  signers: readonly string[]
  ranges: readonly string[]
  /** A keyed hash of its key; null without a key. */
  keyHash: Buffer | null
}

/** Simulated phishing that the organization sends to its own people. */
export type Simulation = SimulationProof & {
  name: string
  vendor: SimulationVendor
  /** How many people get it; null if the operator did not say. */
  recipients: number | null
  createdAt: Date
  endedAt: Date | null
}

const proof = sql`id, signers, ranges::text[] as ranges, key_hash as "keyHash"`

/** Returns the proofs of all simulations that have not ended. */
export function listRunningSimulations(db: Db): Promise<SimulationProof[]> {
  return preparedRowsOf(db)`select ${proof} from simulations where ended_at is null order by id`
}

/** Returns a page of the simulations, newest first; `before` is the last id of the previous one. */
export function listSimulations(
  db: Db,
  { before, limit }: { before: string | undefined; limit: number },
): Promise<Simulation[]> {
  return rowsOf(db)`
    select ${proof}, name, vendor, recipients, created_at as "createdAt", ended_at as "endedAt"
    from simulations where ${before ?? null}::uuid is null or id < ${before ?? null}
    order by id desc limit ${limit}`
}

/** The numbers of simulations, and of those that have not ended. */
export async function countSimulations(db: Db): Promise<{ all: number; running: number }> {
  const found = await rowOf(db)<{ all: number; running: number }>`
    select count(*)::integer as all,
      (count(*) filter (where ended_at is null))::integer as running from simulations`
  return found ?? { all: 0, running: 0 }
}

export async function insertSimulation(tx: Db, one: Omit<Simulation, 'endedAt'>): Promise<void> {
  await tx.query(sql`
    insert into simulations (id, name, vendor, signers, ranges, key_hash, recipients, created_at)
    values (${one.id}, ${one.name}, ${one.vendor}, ${one.signers}::text[],
      ${one.ranges}::cidr[], ${one.keyHash}, ${one.recipients}, ${one.createdAt})`)
}

/** Ends a simulation and returns its name; undefined if none is running under this id. */
export async function endSimulation(tx: Db, id: string, at: Date): Promise<string | undefined> {
  const ended = await rowOf(tx)<{ name: string }>`
    update simulations set ended_at = ${at} where id = ${id} and ended_at is null returning name`
  return ended?.name
}

/** Removes a simulation with its counts and returns its name; undefined if there is none. */
export async function removeSimulation(tx: Db, id: string): Promise<string | undefined> {
  const removed = await rowOf(tx)<{ name: string }>`
    delete from simulations where id = ${id} returning name`
  await tx.query(sql`delete from simulation_reports where simulation_id = ${id}`)
  return removed?.name
}

/** A person's first report of a simulation. */
export type SimulationReport = {
  simulationId: string
  /** A keyed hash of the simulation and the reporter. */
  person: Buffer
  reportedAt: Date
  /** From the delivery of the message until the report; null if unknown. */
  seconds: number | null
}

/** Stores reports; of each person only the first counts. */
export async function insertSimulationReports(
  db: Db,
  reports: readonly SimulationReport[],
): Promise<void> {
  if (reports.length === 0) return
  const keyOf = ({ simulationId, person }: SimulationReport) =>
    `${simulationId} ${person.toString('hex')}`
  const rows = reports
    .toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1))
    .map((one) => [one.simulationId, one.person, one.reportedAt, one.seconds])
  await db.query(sql`
    insert into simulation_reports (simulation_id, person, reported_at, seconds)
    values ${bulk(rows)} on conflict (simulation_id, person) do nothing`)
}

/** How many people reported a simulation, and how fast after its delivery to them, in seconds. */
export type SimulationCounts = {
  people: number
  firstSeconds: number | null
  medianSeconds: number | null
  firstAt: Date
}

/** Returns the counts by simulation; a simulation that nobody reported has none. */
export async function countSimulationReports(
  db: Db,
  ids: readonly string[],
): Promise<Map<string, SimulationCounts>> {
  const { rows } = await db.query<SimulationCounts & { id: string }>(sql`
    select simulation_id as id, count(*)::integer as people, min(reported_at) as "firstAt",
      min(seconds) as "firstSeconds",
      percentile_disc(0.5) within group (order by seconds) as "medianSeconds"
    from simulation_reports where simulation_id = any(${ids}::uuid[]) group by simulation_id`)
  return new Map(rows.map(({ id, ...counts }) => [id, counts]))
}

/** A report of mail that has marks of a vendor and belongs to no simulation. */
export type MarkedReport = { reportId: string; vendor: MarkingVendor; seenAt: Date }

/** Stores reports of marked mail; what is stored stays as it is. */
export async function insertMarkedReports(db: Db, reports: readonly MarkedReport[]): Promise<void> {
  if (reports.length === 0) return
  const rows = reports
    .toSorted((one, other) => (one.reportId < other.reportId ? -1 : 1))
    .map(({ reportId, vendor, seenAt }) => [reportId, vendor, seenAt])
  await db.query(sql`
    insert into simulation_marks (report_id, vendor, seen_at) values ${bulk(rows)}
    on conflict (report_id) do nothing`)
}

/** The reports with the marks of a vendor: their number, and the newest. */
export type VendorMarks = { vendor: MarkingVendor; reports: number; lastId: string; lastAt: Date }

/** Sums up the reports of marked mail by vendor. */
export function sumMarkedReports(db: Db): Promise<VendorMarks[]> {
  return rowsOf(db)`
    select vendor, count(*)::integer as reports,
      (array_agg(report_id order by seen_at desc, report_id desc))[1] as "lastId",
      max(seen_at) as "lastAt"
    from simulation_marks group by vendor order by vendor`
}
