import type { Router } from 'express'
import { disablePartner, enablePartner, readPartners } from '../../feedback/partner-actions.ts'
import type { Site } from '../site.ts'
import { listPage } from './list-page.ts'

/** The organizations that may learn of all confirmed pages; the form enables one. */
export function partnerRoutes(site: Site): Router {
  return listPage(site, {
    view: 'admin/partners',
    title: 'partners.title',
    read: () => readPartners(site.pool),
    form: { actions: { enable: enablePartner, disable: disablePartner } },
  })
}
