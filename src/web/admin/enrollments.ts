import type { Router } from 'express'
import { type EnrollmentState, listEnrollments } from '../../db/enrollment-requests.ts'
import { listCorrections } from '../../db/feedback-answers.ts'
import { acceptEnrollment, refuseEnrollment } from '../../feedback/consumer-actions.ts'
import { removeNetworkCorrection } from '../../feedback/network-actions.ts'
import { parseBlock } from '../../mail/ip-blocks.ts'
import { scopeText } from '../../verdict/consumers.ts'
import { uuidTime } from '../../world.ts'
import type { Site } from '../site.ts'
import { choiceOrFirstParam, DECISIONS_SHOWN, listPage, textParam, uuidParam } from './list-page.ts'

const ADDRESS_CHARS_MAX = 320

/**
 * The page that lists the networks for which abuse desks answered that they are not responsible. A
 * correction can be removed there.
 */
export function correctionRoutes(site: Site): Router {
  return listPage(site, {
    view: 'admin/consumers/corrections',
    title: 'corrections.title',
    cursor: { after: parseBlock, address: textParam(ADDRESS_CHARS_MAX) },
    read: ({ after: cidr, address = '', limit }) => {
      const after = cidr === undefined ? undefined : { cidr, address }
      return listCorrections(site.pool, { after, limit })
    },
    next: ({ cidr, address }) => ({ after: cidr, address }),
    data: () => ({ now: site.clock() }),
    form: { actions: removeNetworkCorrection },
  })
}

const states = ['proven', 'sent', 'accepted', 'refused'] as const satisfies EnrollmentState[]

/** The page with confirmed enrollments that request further scopes, to accept or reject them. */
export function enrollmentRoutes(site: Site): Router {
  const filters = { state: choiceOrFirstParam(states) }
  return listPage(site, {
    view: 'admin/consumers/requests',
    title: 'enrollments.title',
    filters,
    cursor: { before: uuidParam },
    read: async (page) => {
      const rows = await listEnrollments(site.pool, page)
      return rows.map((row) => ({
        ...row,
        askedAt: uuidTime(row.id),
        scopes: row.wish.scopes.map(scopeText),
      }))
    },
    next: ({ id }) => ({ before: id }),
    linesMax: DECISIONS_SHOWN,
    data: () => ({ states }),
    form: {
      at: '/:id',
      actions: { accept: acceptEnrollment, refuse: refuseEnrollment },
      fields: (req) => ({ id: req.params['id'] }),
      many: 'id',
    },
  })
}
