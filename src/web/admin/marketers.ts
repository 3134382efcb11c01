import { type Request, Router } from 'express'
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
import { UNSUBSCRIBE_DAYS } from '../../verdict/complaint.ts'
import { type Marketer, marketerKinds, marketerStates } from '../../verdict/marketers/marketer.ts'
import type { Code } from '../../texts/messages.ts'
import type { Form } from '../pages/form.ts'
import { queryOf } from '../pages/render.ts'
import { searchParamsOf } from '../search-params.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { choiceOrFirstParam, listPage, textParam } from './list-page.ts'
import { adminPage } from './page.ts'

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
  return listPage(site, {
    view: 'admin/marketers/proposals',
    title: 'marketers.proposals',
    read: () => listProposals(site.pool, PROPOSALS_SHOWN),
    form: {
      actions: { take: takeProposal, dismiss: dismissProposal },
      back: (_, outcome) =>
        'id' in outcome
          ? `/admin/marketers/edit${queryOf({ key: outcome.id })}`
          : '/admin/marketers/proposals',
    },
  })
}

const CONTINUING_SHOWN = 20
const KEY_CHARS_MAX = 60
const FORM_BYTES_MAX = 200_000

/** The registry of marketers: the list and the form. */
export function marketerRoutes(site: Site): Router {
  const filters = { kind: choiceOrFirstParam(marketerKinds) }
  const router = Router()
  router.use(
    listPage(site, {
      view: 'admin/marketers/list',
      filters,
      cursor: { after: textParam(KEY_CHARS_MAX) },
      read: (page) => listRegistered(site.pool, { ...page, after: page.after ?? '' }),
      next: ({ key }) => ({ after: key }),
      data: async ({ req, texts }) => {
        const isService = searchParamsOf(req).get('kind') === 'service'
        const isContinued = isService || searchParamsOf(req).has('after')
        return {
          title: texts(isService ? 'marketers.services' : 'marketers.title'),
          continuing: isContinued ? [] : await findContinuing(site),
        }
      },
      after: [setMarketer, removeMarketer, resetService],
    }),
    adminPage(site, {
      at: '/edit',
      view: 'admin/marketers/edit',
      async data({ req, texts, refused }) {
        const { fields, isNew } = refused
          ? fieldsOfForm(refused.given)
          : await findFields(req, site)
        return {
          title: isNew ? texts('marketers.addOne') : fields.name,
          ...{ fields, isNew, kinds: marketerKinds, states: marketerStates },
          shipped: shippedService(fields.key),
        }
      },
      form: {
        at: '/',
        actions: { keep: setMarketer, remove: removeMarketer, reset: resetService },
        bytesMax: FORM_BYTES_MAX,
        // An empty field clears the value; it does not keep the previous one.
        fields: (_, form) => ({ ...fieldsIn(form), new: form.text('is_new') === '1' }),
        labels,
      },
    }),
  )
  return router
}

async function findFields(req: Request, { pool }: Pick<Site, 'pool'>) {
  const key = storableText(searchParamsOf(req).get('key') ?? '', KEY_CHARS_MAX)
  if (key === '') return { fields: emptyFields, isNew: true }
  const marketer = await findRegistered(pool, key)
  if (!marketer) throw new ProblemError('not-found', 'Marketer not found.')
  return { fields: fieldsOfMarketer(marketer), isNew: false }
}

function fieldsOfForm(given: Readonly<Record<string, string>>) {
  return { fields: { ...emptyFields, ...given }, isNew: given['new'] === 'true' }
}

function fieldsIn(form: Form): MarketerFields {
  const entries = fieldNames.map((name) => [name, form.text(name) ?? ''])
  return Object.fromEntries(entries) as MarketerFields
}

const labels: Readonly<Record<string, Code>> = {
  ...{ key: 'marketers.key', name: 'marketers.name', state: 'marketers.state' },
  ...{ signers: 'marketers.signers', ranges: 'marketers.ranges', kind: 'marketers.kind' },
  ...{ list_ids: 'marketers.listIds', authors: 'marketers.authors', hosts: 'marketers.hosts' },
  ...{ practice: 'marketers.practice', website: 'marketers.website' },
  ...{ advice: 'marketers.advice', contact: 'marketers.contact', feedback: 'marketers.feedback' },
}

/** Returns marketers whose mail is reported again by reporters who know how to unsubscribe. */
function findContinuing({ pool }: Pick<Site, 'pool'>) {
  return listContinuingMarketers(pool, { days: UNSUBSCRIBE_DAYS, limit: CONTINUING_SHOWN })
}
