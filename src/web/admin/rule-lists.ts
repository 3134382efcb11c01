import { type Request, type Response, Router } from 'express'
import { findRuleList, listRuleListEntries, listRuleLists } from '../../db/rule-lists.ts'
import {
  addRuleList,
  addRuleListEntries,
  dropRuleListEntries,
  readEntries,
  removeRuleList,
  type TriedEntries,
  tryRuleListEntries,
} from '../../judging/rule-lists.ts'
import { dryRunReports } from '../../verdict/rules/dry-run.ts'
import { ruleListBounds, ruleListKinds } from '../../verdict/rules/rule-lists.ts'
import { readForm } from '../pages/form.ts'
import { visitOf } from '../pages/visit.ts'
import { refusalsIn } from '../../texts/phrases.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { listPage, textParam } from './list-page.ts'
import { adminPage } from './page.ts'
import { requireRole } from './require-role.ts'
import { sendAdminPage } from './send-admin-page.ts'

const path = '/admin/rule-lists'
/** Percent-encoding may turn each byte into three, and line ends into six. */
const FORM_BYTES_MAX = ruleListBounds.importBytesMax * 3 + 64_000
const HITS_SHOWN = 100
const ADD_VIEW = 'admin/rule-lists/add'

const nameOf = (req: Request) => String(req.params['list'])

/** The lists to which rules refer, their entries, and the form that tests and adds entries. */
export function ruleListRoutes(site: Site): Router {
  const { pool } = site
  const router = Router()
  router.use(
    listPage(site, {
      view: 'admin/rule-lists/lists',
      title: 'ruleLists.title',
      read: () => listRuleLists(pool),
      data: () => ({ kinds: ruleListKinds }),
      form: {
        actions: { add: addRuleList, delete: removeRuleList },
        back: (_, outcome, form) =>
          'done' in outcome && outcome.done === 'created' ? `${path}/${form.text('list')}` : path,
      },
    }),
    listPage(site, {
      at: '/:list',
      view: 'admin/rule-lists/entries',
      filters: { part: textParam(ruleListBounds.entryCharsMax) },
      cursor: { after: textParam(ruleListBounds.entryCharsMax) },
      read: (page, { req }) => listRuleListEntries(pool, nameOf(req), page),
      next: ({ value }) => ({ after: value }),
      data: async ({ req }) => {
        const list = await getList(site, nameOf(req))
        return { title: list.name, list, now: site.clock() }
      },
      form: {
        actions: { remove: dropRuleListEntries },
        fields: (req) => ({ list: nameOf(req) }),
      },
      after: [addRuleList, addRuleListEntries],
    }),
    adminPage(site, {
      at: '/:list/add',
      view: ADD_VIEW,
      data: async ({ req, texts }) => {
        const list = await getList(site, nameOf(req))
        return { title: texts('ruleLists.addTo', { list: list.name }), list, tried: undefined }
      },
      form: {
        actions: addRuleListEntries,
        fields: (req) => ({ list: nameOf(req) }),
        back: (req) => `${path}/${nameOf(req)}`,
        bytesMax: FORM_BYTES_MAX,
      },
    }),
  )
  router.post('/:list/try', requireRole(site, 'operator'), tryEntries(site))
  return router
}

/** Shows what entries would have hit in past reports. One test runs at a time. */
function tryEntries(site: Site) {
  let isTrying = false
  return async (req: Request, res: Response): Promise<void> => {
    const limits = { bytesMax: FORM_BYTES_MAX, partBytesMax: FORM_BYTES_MAX }
    const sent = await readForm(req, res, site, limits)
    const list = await getList(site, nameOf(req))
    const form = Object.fromEntries(
      ['entries', 'note', 'days'].map((name) => [name, sent.text(name) ?? '']),
    )
    const show = (problems: readonly string[], tried?: TriedEntries) =>
      sendTried(req, res, { list, form, problems, tried })
    const read = await readEntries(site.pool, list.name, form['entries'] ?? '')
    const { language, texts } = visitOf(req)
    if ('problems' in read) {
      const refusals = read.problems.map(({ message }) => message)
      return show(refusalsIn(language, refusals))
    }
    if (isTrying) return show([texts('editor.busy')])
    isTrying = true
    try {
      const options = { last: dryRunReports.usual, isOver: () => res.destroyed }
      const { readWritten } = site
      show([], await tryRuleListEntries(site.pool, read, { ...options, readWritten }))
    } finally {
      isTrying = false
    }
  }
}

async function getList({ pool }: Pick<Site, 'pool'>, name: string) {
  const list = await findRuleList(pool, name)
  if (!list) throw new ProblemError('not-found', 'List not found.')
  return list
}

function sendTried(
  req: Request,
  res: Response,
  {
    tried,
    ...data
  }: { list: { name: string }; form: object; problems: readonly string[] } & {
    tried: TriedEntries | undefined
  },
): void {
  sendAdminPage(req, res, {
    view: ADD_VIEW,
    title: visitOf(req).texts('ruleLists.addTo', { list: data.list.name }),
    status: data.problems.length > 0 ? 422 : 200,
    data: {
      ...data,
      done: undefined,
      tried: tried && {
        ...{ reports: tried.reports, entries: tried.hits.length },
        wanted: tried.hits.filter(({ wanted }) => wanted > 0).length,
        hits: tried.hits.slice(0, HITS_SHOWN),
      },
    },
  })
}
