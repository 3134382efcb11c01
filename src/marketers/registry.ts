import {
  findMarketer,
  listActingMarketers,
  listKnownKeys,
  listMarketers,
  type MarketerPage,
} from '../db/marketers.ts'
import type { Db } from '../db/pool.ts'
import type { MarketerMarks } from '../pieces/marketer.ts'
import { shippedServices } from '../verdict/marketers/marketer-file.ts'
import { type Marketer, marketerKinds } from '../verdict/marketers/marketer.ts'

const PAGE = 500

const shipped: ReadonlyMap<string, Marketer> = new Map(
  shippedServices.map((service) => [service.key, service]),
)

/** Returns a service as the program ships it. */
export function shippedService(key: string): Marketer | undefined {
  return shipped.get(key)
}

/** Returns the operators' entry with a key; without one, the shipped service. */
export async function findRegistered(db: Db, key: string): Promise<Marketer | undefined> {
  return (await findMarketer(db, key)) ?? shipped.get(key)
}

/** Returns a page of the registry by key: the operators' entries and the shipped services. */
export async function listRegistered(db: Db, page: MarketerPage): Promise<Marketer[]> {
  const { kind, after, limit } = page
  const services = (await unchangedServices(db)).filter(
    (one) => one.kind === kind && one.key > after,
  )
  return [...(await listMarketers(db, page)), ...services].sort(byKey).slice(0, limit)
}

export async function allRegistered(db: Db): Promise<Marketer[]> {
  return [...(await allMarketers(db)), ...(await unchangedServices(db))].sort(byKey)
}

/** Returns all entries of the operators by key. */
export async function allMarketers(db: Db): Promise<Marketer[]> {
  const found: Marketer[] = []
  for (const kind of marketerKinds) {
    for (let after = '', page = PAGE; page === PAGE;) {
      const rows = await listMarketers(db, { kind, after, limit: PAGE })
      found.push(...rows)
      after = rows.at(-1)?.key ?? ''
      page = rows.length
    }
  }
  return found.sort(byKey)
}

/** Returns the marks of everything that is recognized: confirmed entries and shipped services. */
export async function listRecognized(db: Db): Promise<MarketerMarks[]> {
  return [...(await listActingMarketers(db)), ...(await unchangedServices(db))]
}

/** Returns the shipped services that no entry of the operators replaces. */
async function unchangedServices(db: Db): Promise<Marketer[]> {
  const replaced = new Set(await listKnownKeys(db, [...shipped.keys()]))
  return [...shipped.values()].filter(({ key }) => !replaced.has(key))
}

function byKey(a: Marketer, b: Marketer): number {
  return a.key < b.key ? -1 : 1
}
