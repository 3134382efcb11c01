import type { Request, Response } from 'express'
import { duration } from '../../texts/messages.ts'
import { type Page, sendPage } from '../pages/render.ts'

/** Formats seconds in the two largest units that fit: `3 h 5 min`, `0 s`. */
export const shownDuration = (seconds: number) => duration('en', seconds)

/** Sends a page of the administration, with its navigation. */
export function sendAdminPage(req: Request, res: Response, page: Page): void {
  const sections = [
    ['/admin', 'Overview'],
    ['/admin/health', 'Health'],
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
    ['/admin/senders', 'Sending users'],
    ['/admin/models', 'Models'],
    ['/admin/rules', 'Rules'],
    ['/admin/delistings', 'Delistings'],
    ['/admin/limits', 'Limits'],
    ['/admin/dead-letters', 'Dead letters'],
    ['/admin/audit', 'Audit log'],
  ]
  sendPage(req, res, {
    ...page,
    isForOperators: true,
    data: {
      ...page.data,
      isAdminArea: true,
      sections,
      section: sections.findLast(([href]) => href && req.originalUrl.startsWith(href))?.[0],
      duration: shownDuration,
    },
  })
}
