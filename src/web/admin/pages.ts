import { type Request, Router } from 'express'
import {
  listPageReports,
  listPages,
  loadPage,
  type Page,
  type PageState,
  sumPageReports,
} from '../../db/pages.ts'
import { listSubmissions } from '../../db/page-submissions.ts'
import { readNotices } from '../../feedback/show-notices.ts'
import {
  clearPage,
  confirmPage,
  findPageDecision,
  platformsOf,
  undecidePage,
} from '../../pages/page-actions.ts'
import { isUuid } from '../pages/render.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import {
  choiceOrFirstParam,
  DECISIONS_SHOWN,
  listPage,
  readNames,
  textParam,
  uuidParam,
} from './list-page.ts'
import { adminPage } from './page.ts'

const states = ['seen', 'confirmed', 'cleared'] as const satisfies PageState[]
const actions = { confirm: confirmPage, clear: clearPage, undecide: undecidePage }
const fields = (req: Request) => ({ id: req.params['id'] })
const HOST_CHARS_MAX = 253
const REPORTS_SHOWN = 50

/** The pages behind phishing: those to decide about, and each with its reports. */
export function pageRoutes(site: Site): Router {
  const { pool } = site
  const router = Router()
  const filters = { state: choiceOrFirstParam(states), host: hostParam }
  router.use(
    listPage(site, {
      view: 'admin/pages/list',
      title: 'phishingPages.title',
      filters,
      cursor: { before: uuidParam },
      read: async (page) => withEvidence(await listPages(pool, page), site),
      next: ({ id }) => ({ before: id }),
      linesMax: DECISIONS_SHOWN,
      data: () => ({ states }),
      form: {
        at: '/:id/decision',
        ...{ actions, fields, many: 'id' },
      },
    }),
    adminPage(site, {
      at: '/:id',
      view: 'admin/pages/page',
      title: 'phishingPages.one',
      async data({ req, texts }) {
        const { id } = req.params
        const found = isUuid(id) ? await loadPage(pool, id) : undefined
        if (!found) throw new ProblemError('not-found', 'Page not found. It may have expired.')
        const [page] = await withEvidence([found], site)
        const reports = await listPageReports(pool, found.id, REPORTS_SHOWN)
        const notices = await readNotices(pool, found.id)
        const submissions = await listSubmissions(pool, found.id)
        const platforms = await platformsOf(pool, found, site.config)
        const decided = await findPageDecision(pool, found)
        const nameOf = await readNames(site, [decided?.reporterId], texts)
        return { page, reports, notices, submissions, platforms, decided, nameOf }
      },
      form: { actions, fields },
    }),
  )
  return router
}

function hostParam(text: string): string | undefined {
  return textParam(HOST_CHARS_MAX)(text)?.toLowerCase()
}

async function withEvidence(pages: readonly Page[], { pool }: Pick<Site, 'pool'>) {
  const none = { reporters: 0, accusing: 0, proven: 0, supported: 0 }
  const sums = await sumPageReports(
    pool,
    pages.map(({ id }) => id),
  )
  const evidenceOf = new Map(sums.map((one) => [one.pageId, one]))
  return pages.map((page) => ({ ...page, evidence: evidenceOf.get(page.id) ?? none }))
}
