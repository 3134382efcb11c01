import type { Request, Response } from 'express'
import { sendPage, type Page } from '../pages/render.ts'
import { shownDuration } from './shown-duration.ts'

/** A page of the administration, with its own navigation. */
export function sendAdminPage(req: Request, res: Response, page: Page): void {
  const sections = [
    ['/admin', 'Overview'],
    ['/admin/reports', 'Reports'],
    ['/admin/campaigns', 'Campaigns'],
    ['/admin/accounts', 'Accounts'],
    ['/admin/outbox', 'Outbox'],
    ['/admin/inbox', 'Inbox'],
    ['/admin/suppressions', 'Suppressions'],
    ['/admin/consumers', 'Consumers'],
    ['/admin/networks', 'Networks'],
    ['/admin/marketers', 'Marketers'],
    ['/admin/counters', 'Counters'],
    ['/admin/reputations', 'Reputations'],
    ['/admin/models', 'Models'],
    ['/admin/rules', 'Rules'],
    ['/admin/delistings', 'Delistings'],
    ['/admin/limits', 'Limits'],
    ['/admin/dead-letters', 'Dead letters'],
    ['/admin/audit', 'Audit log'],
  ]
  sendPage(req, res, {
    ...page,
    data: {
      ...page.data,
      isAdminArea: true,
      sections,
      section: sections.findLast(([href]) => href && req.originalUrl.startsWith(href))?.[0],
      duration: shownDuration,
    },
  })
}
