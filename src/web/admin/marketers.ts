import { type Request, type Response, Router } from 'express'
import { listContinuingMarketers } from '../../db/advices.ts'
import { listProposals } from '../../db/marketers.ts'
import { storableText } from '../../mail/text.ts'
import {
  dismissProposal,
  removeMarketer,
  resetService,
  setMarketer,
  takeProposal,
} from '../../marketers/marketer-actions.ts'
import { findRegistered, listRegistered, shippedService } from '../../marketers/registry.ts'
import { UNSUBSCRIBE_DAYS } from '../../verdict/consequences.ts'
import { type Marketer, marketerKinds, marketerStates } from '../../verdict/marketers/marketer.ts'
import type { Form } from '../pages/form.ts'
import { queryOf } from '../pages/render.ts'
import { visitOf } from '../pages/visit.ts'
import { searchParamsOf } from '../search-params.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { choiceOrFirstParam, readParams, sendList, textParam } from './list-page.ts'
import { postAction } from './post-action.ts'
import { sendAdminPage } from './send-admin-page.ts'

/** The fields of the form as typed, with one name per line. */
type MarketerFields = Record<(typeof fieldNames)[number], string>

const lists = ['signers', 'ranges', 'list_ids', 'authors', 'hosts'] as const
const advices = ['advice_en', 'advice_fr', 'advice_ru'] as const
const fieldNames = [
  ...(['key', 'kind', 'name', 'state', 'practice', 'website', 'contact', 'feedback'] as const),
  ...lists,
  ...advices,
] as const

const emptyFields: MarketerFields = {
  ...{ key: '', kind: 'marketer', name: '', state: 'declared', practice: '', website: '' },
  ...{ contact: '', feedback: '', signers: '', ranges: '', list_ids: '', authors: '', hosts: '' },
  ...{ advice_en: '', advice_fr: '', advice_ru: '' },
}

/** The form fields of a stored marketer. */
function fieldsOfMarketer(one: Marketer): MarketerFields {
  const lines = (names: readonly string[]) => names.join('\n')
  return {
    key: one.key,
    kind: one.kind,
    name: one.name,
    state: one.state,
    practice: one.practice,
    website: one.website ?? '',
    contact: one.contact ?? '',
    feedback: one.feedback ?? '',
    signers: lines(one.signers),
    ranges: lines(one.ranges),
    list_ids: lines(one.listIds),
    authors: lines(one.authors),
    hosts: lines(one.hosts),
    advice_en: one.advice.en ?? '',
    advice_fr: one.advice.fr ?? '',
    advice_ru: one.advice.ru ?? '',
  }
}

const PROPOSALS_SHOWN = 100

/** The page with possible marketers, found in reported mail. */
export function proposalRoutes(site: Site): Router {
  const router = Router()
  router.get('/', (req, res) => sendProposals(req, res, site))
  router.post(
    '/',
    postAction(site, {
      actions: { take: takeProposal, dismiss: dismissProposal },
      back: (_, outcome) =>
        'id' in outcome
          ? `/admin/marketers/edit${queryOf({ key: outcome.id })}`
          : '/admin/marketers/proposals',
    }),
  )
  return router
}

async function sendProposals(req: Request, res: Response, { pool }: Site): Promise<void> {
  await sendList(req, res, {
    view: 'admin/marketers/proposals',
    title: 'marketers.proposals',
    read: () => listProposals(pool, PROPOSALS_SHOWN),
    actions: [dismissProposal, takeProposal],
  })
}

const CONTINUING_SHOWN = 20
const KEY_CHARS_MAX = 60
const FORM_BYTES_MAX = 200_000

/** The registry of marketers: the list and the form. */
export function marketerRoutes(site: Site): Router {
  const router = Router()
  router.get('/', (req, res) => sendMarketers(req, res, site))
  router.get('/edit', async (req, res) => {
    const key = keyOf(req)
    const marketer = key === '' ? undefined : await findRegistered(site.pool, key)
    if (key !== '' && !marketer) throw new ProblemError('not-found', 'Marketer not found.')
    const fields = marketer ? fieldsOfMarketer(marketer) : emptyFields
    sendEdit(req, res, { fields, isNew: !marketer, faults: [] })
  })
  router.post(
    '/',
    postAction(site, {
      actions: { keep: setMarketer, remove: removeMarketer, reset: resetService },
      bytesMax: FORM_BYTES_MAX,
      // An empty field clears the value; it does not keep the previous one.
      fields: (_, form) => ({ ...fieldsIn(form), new: form.text('is_new') === '1' }),
      labels,
      back: () => '/admin/marketers',
      show: (req, res, { problems: faults, given }) => {
        const fields = { ...emptyFields, ...given }
        sendEdit(req, res, { fields, isNew: given['new'] === 'true', faults })
      },
    }),
  )
  return router
}

function fieldsIn(form: Form): MarketerFields {
  const entries = fieldNames.map((name) => [name, form.text(name) ?? ''])
  return Object.fromEntries(entries) as MarketerFields
}

const labels: Readonly<Record<string, string>> = {
  ...{ key: 'Key', name: 'Name', state: 'State', signers: 'Signers', ranges: 'Ranges' },
  ...{
    kind: 'Kind',
    list_ids: 'List-Ids',
    authors: 'Authors',
    hosts: 'Other domains',
    practice: 'Practice',
    website: 'Website',
  },
  ...{ advice: 'Advice', contact: 'Contact', feedback: 'Address for complaints' },
}

function keyOf(req: Request): string {
  const given = searchParamsOf(req).get('key')
  return storableText(given ?? '', KEY_CHARS_MAX)
}

async function sendMarketers(req: Request, res: Response, site: Site): Promise<void> {
  const filters = { kind: choiceOrFirstParam(marketerKinds) }
  const cursor = { after: textParam(KEY_CHARS_MAX) }
  const { kind, after } = readParams(req, { ...filters, ...cursor })
  await sendList(req, res, {
    view: 'admin/marketers/list',
    title: kind === 'service' ? 'marketers.services' : 'marketers.title',
    filters,
    cursor,
    read: (page) => listRegistered(site.pool, { ...page, after: page.after ?? '' }),
    next: ({ key }) => ({ after: key }),
    actions: [setMarketer, removeMarketer, resetService],
    data: { continuing: kind === 'marketer' && !after ? await findContinuing(site) : [] },
  })
}

/** Returns marketers whose mail is reported again by reporters who know how to unsubscribe. */
function findContinuing({ pool }: Pick<Site, 'pool'>) {
  return listContinuingMarketers(pool, { days: UNSUBSCRIBE_DAYS, limit: CONTINUING_SHOWN })
}

function sendEdit(
  req: Request,
  res: Response,
  { fields, isNew, faults }: { fields: MarketerFields; isNew: boolean; faults: readonly string[] },
): void {
  sendAdminPage(req, res, {
    view: 'admin/marketers/edit',
    title: isNew ? visitOf(req).texts('marketers.addOne') : fields.name,
    status: faults.length > 0 ? 422 : 200,
    data: {
      ...{ fields, isNew, faults, kinds: marketerKinds, states: marketerStates },
      shipped: shippedService(fields.key),
    },
  })
}
