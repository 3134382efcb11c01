import { Router } from 'express'
import { sendPage } from '../pages/render.ts'
import { visitOf } from '../pages/visit.ts'
import type { Site } from '../site.ts'
import { filled } from './account-form.ts'

/**
 * The version of the text on privacy, in all languages: a day. Whoever changes what it promises
 * changes this too; it is kept with each consent.
 */
export const consentVersion = '2026-11-22'

/** What we keep, for how long, whom we tell: the text to which people agree. */
export function privacyRoutes({ config }: Pick<Site, 'config'>): Router {
  const router = Router()
  router.get('/privacy', (req, res) => {
    const { privacy } = visitOf(req).words
    const days = String(config.retentionDays)
    sendPage(req, res, {
      view: 'pages/account/privacy',
      title: privacy.title,
      data: {
        version: consentVersion,
        operator: config.operatorName,
        contact: config.operatorContact,
        sections: privacy.sections.map(({ title, lines }) => ({
          title,
          lines: lines.map((line) => filled(line, { days })),
        })),
      },
    })
  })
  return router
}
