import { Router } from 'express'
import { sumMarkedReports } from '../../db/simulations.ts'
import { concealKeys } from '../../mail/conceal-keys.ts'
import { csvLine } from '../../mail/csv.ts'
import {
  addSimulation,
  dropSimulation,
  makeSimulationKey,
  PEOPLE_MIN,
  readSimulations,
  simulationVendors,
  stopSimulation,
  vendorNames,
} from '../../reports/simulations.ts'
import { duration, type Language } from '../../texts/messages.ts'
import type { Site } from '../site.ts'
import { listPage, uuidParam } from './list-page.ts'
import { requireRole } from './require-role.ts'

const EXPORTED_MAX = 1_000

/** The page of simulated phishing: counts, marks in other mail, forms, and the counts as CSV. */
export function simulationRoutes(site: Site): Router {
  const { pool } = site
  const router = Router()
  router.use(
    listPage(site, {
      view: 'admin/simulations',
      title: 'simulations.title',
      cursor: { before: uuidParam },
      read: async (page, { language }) =>
        (await readSimulations(pool, page)).map((one) => ({
          ...one,
          first: spoken(one.firstSeconds, language),
          median: spoken(one.medianSeconds, language),
        })),
      next: ({ id }) => ({ before: id }),
      data: async () => ({
        marks: await sumMarkedReports(pool),
        ...{ vendorKeys: simulationVendors, vendors: vendorNames, peopleMin: PEOPLE_MIN },
      }),
      form: { actions: { add: addSimulation, end: stopSimulation, remove: dropSimulation } },
    }),
  )
  router.get('/export.csv', async (_req, res) => {
    const page = { before: undefined, limit: EXPORTED_MAX }
    res.setHeader('content-type', 'text/csv; charset=utf-8')
    res.setHeader('content-disposition', 'attachment; filename="simulations.csv"')
    res.setHeader('cache-control', 'no-store')
    res.end(concealKeys(csvOf(await readSimulations(pool, page))))
  })
  // Pages mask keys, so a new one has an address of its own. It is not stored.
  router.get('/key.txt', requireRole(site, addSimulation.role), (_req, res) => {
    res.setHeader('content-type', 'text/plain; charset=utf-8')
    res.setHeader('cache-control', 'no-store')
    res.end(`${makeSimulationKey()}\n`)
  })
  return router
}

function spoken(seconds: number | null, language: Language): string | null {
  return seconds === null ? null : duration(language, seconds)
}

const exported = [
  ...(['id', 'name', 'vendor', 'since', 'until', 'recipients', 'people', 'rate'] as const),
  ...(['first_seconds', 'median_seconds'] as const),
]

function csvOf(simulations: Awaited<ReturnType<typeof readSimulations>>): string {
  const lines = simulations.map((one) =>
    csvLine([
      ...[one.id, one.name, one.vendor, one.createdAt.toISOString()],
      ...[one.endedAt?.toISOString() ?? null, one.recipients],
      ...[one.people ?? `fewer than ${PEOPLE_MIN}`, one.rate],
      ...[one.firstSeconds, one.medianSeconds],
    ]),
  )
  return csvLine(exported) + lines.join('')
}
