import { Router } from 'express'
import { findKarmas } from '../../../db/karmas.ts'
import { findAccount } from '../../../db/reporters.ts'
import { explainKarma, karmaOf } from '../../../reputation/karma.ts'
import { PROVEN_KARMA_MIN } from '../../../reputation/source-weight.ts'
import { isUuid } from '../../paging.ts'
import { ProblemError } from '../../problem.ts'
import type { Site } from '../../site.ts'
import { sendAdminPage } from '../send-admin-page.ts'

type Needs = Pick<Site, 'pool' | 'clock'>

/** How far a reporter is believed, and why. */
export function reporterRoutes(site: Needs): Router {
  const router = Router()
  router.get('/:id', async (req, res) => {
    const { id } = req.params
    const reporter = isUuid(id) ? await findAccount(site.pool, id) : undefined
    if (!reporter) throw new ProblemError('not-found', 'There is no such reporter.')
    const [state] = await findKarmas(site.pool, [reporter.id])
    const now = site.clock()
    const karma = karmaOf(state, now)
    sendAdminPage(req, res, {
      view: 'admin/reputations/reporter',
      title: 'Reporter',
      data: {
        account: reporter,
        karma,
        isProven: karma >= PROVEN_KARMA_MIN,
        why: explainKarma(state, now),
      },
    })
  })
  return router
}
