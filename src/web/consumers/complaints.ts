import { Router } from 'express'
import { csvLine } from '../../mail/csv.ts'
import { readComplaintFigures } from '../../reports/complaint-figures.ts'
import { REPORTERS_FLOOR, REPORTS_FLOOR } from '../../reports/hide-small-counts.ts'
import { sendPage } from '../pages/render.ts'
import { visitOf } from '../pages/visit.ts'
import type { Site } from '../site.ts'
import { consumerOf } from './own-page.ts'

/** How many complaints a desk or a marketer was notified of, by day, range and address. */
export function complaintRoutes(site: Pick<Site, 'pool' | 'clock' | 'config'>): Router {
  const router = Router()
  router.get('/consumers/:token/complaints', async (req, res) => {
    const consumer = await consumerOf(req.params.token, site)
    const figures = await readComplaintFigures(site, consumer.id)
    res.setHeader('x-robots-tag', 'noindex, nofollow')
    sendPage(req, res, {
      view: 'pages/consumers/complaints',
      title: visitOf(req).texts('desk.complaints.title'),
      data: {
        ...{ figures, address: consumer.address, reports: REPORTS_FLOOR, people: REPORTERS_FLOOR },
        base: `/consumers/${encodeURIComponent(req.params.token)}`,
      },
    })
  })
  router.get('/consumers/:token/complaints.csv', async (req, res) => {
    const consumer = await consumerOf(req.params.token, site)
    const { days, ranges, addresses } = await readComplaintFigures(site, consumer.id)
    const shown = days.filter(({ complaints }) => complaints !== null)
    const lines = [
      ...shown.map(({ day, complaints }) => [day, 'all', '', complaints ?? '']),
      ...ranges.map(({ day, name, complaints }) => [day, 'range', name, complaints]),
      ...addresses.map(({ day, name, complaints }) => [day, 'address', name, complaints]),
    ]
    res.setHeader('content-disposition', 'attachment; filename="complaints.csv"')
    res.setHeader('cache-control', 'no-store')
    res
      .type('text/csv')
      .send([['day', 'of', 'name', 'complaints'], ...lines].map((line) => csvLine(line)).join(''))
  })
  return router
}
