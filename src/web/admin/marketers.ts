import { type Request, type Response, Router } from 'express'
import {
  decideProposal,
  findMarketer,
  keepMarketer,
  listMarketers,
  listProposals,
  type MarketerAction,
  removeMarketer,
} from '../../db/marketers.ts'
import { inTransaction } from '../../db/pool.ts'
import { storableText } from '../../mail/text.ts'
import { ownNamesOf } from '../../verdict/lists/spare.ts'
import { checkMarketer } from '../../verdict/marketers/marketer-file.ts'
import { adviceLanguages, type Marketer, marketerStates } from '../../verdict/marketers/marketer.ts'
import { draftMarketer } from '../../verdict/marketers/propose.ts'
import { type Form, type FormReader, readForm, readShortForm } from '../pages/form.ts'
import { pageOf, queryOf } from '../pages/render.ts'
import { requireReporter } from '../pages/signed-in.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { sendAdminPage } from './send-admin-page.ts'

/** The fields of the form as typed, with one name per line. */
type MarketerFields = Record<(typeof fieldNames)[number], string>

const lists = ['signers', 'ranges', 'list_ids', 'authors'] as const
const advices = ['advice_en', 'advice_fr', 'advice_ru'] as const
const fieldNames = [
  ...(['key', 'name', 'state', 'practice', 'website', 'contact', 'feedback'] as const),
  ...lists,
  ...advices,
] as const

/** The options of the select field. */
const stateChoices = marketerStates

const FIELD_CHARS_MAX = 12_000

/** An empty form. */
const emptyFields: MarketerFields = {
  ...{ key: '', name: '', state: 'declared', practice: '', website: '', contact: '' },
  ...{ feedback: '', signers: '', ranges: '', list_ids: '', authors: '' },
  ...{ advice_en: '', advice_fr: '', advice_ru: '' },
}

/** The form fields of a stored marketer. */
function fieldsOfMarketer(one: Marketer): MarketerFields {
  const lines = (names: readonly string[]) => names.join('\n')
  return {
    key: one.key,
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
    advice_en: one.advice.en ?? '',
    advice_fr: one.advice.fr ?? '',
    advice_ru: one.advice.ru ?? '',
  }
}

/** Reads the form fields with length limits. */
function readFields(form: Form): MarketerFields {
  const read = fieldNames.map((name) => {
    return [name, storableText(form.text(name) ?? '', FIELD_CHARS_MAX)]
  })
  return Object.fromEntries(read) as MarketerFields
}

/** Converts the fields to the import format, so that the same validation applies. */
function declaredBy(fields: MarketerFields): Record<string, unknown> {
  const names = (text: string) => text.split(/[\s,]+/).filter((name) => name !== '')
  const given = lists.map((field) => [field, names(fields[field])])
  const said = adviceLanguages.map((language) => [language, fields[`advice_${language}`]])
  return {
    ...{ key: fields.key, name: fields.name, state: fields.state, practice: fields.practice },
    ...(Object.fromEntries(given) as object),
    website: fields.website || null,
    contact: fields.contact || null,
    feedback: fields.feedback || null,
    advice: Object.fromEntries(said) as object,
  }
}

type ProposalNeeds = Pick<Site, 'pool' | 'clock'> & FormReader
type Named = { signer: string; listId: string }

const PROPOSALS_SHOWN = 100
const NAME_CHARS_MAX = 255

const proposalActions = {
  dismissed: 'Proposal dismissed. It will not be proposed again.',
  gone: 'This proposal was already decided.',
}

/** The page with possible marketers, found in reported mail. */
function proposalRoutes(site: ProposalNeeds): Router {
  const router = Router()
  router.get('/', (req, res) => sendProposals(req, res, site))
  router.post('/', async (req, res) => {
    const form = await readShortForm(req, res, site)
    const administrator = requireReporter(req, res)
    if (!administrator) return
    const field = (name: string) => storableText(form.text(name) ?? '', NAME_CHARS_MAX)
    const named = { signer: field('signer'), listId: field('list_id') }
    const deed = { at: site.clock(), reporterId: administrator.id }
    if (field('do') === 'take') {
      const key = await take(named, deed, site)
      if (key !== undefined) return res.redirect(303, `/admin/marketers/edit${queryOf({ key })}`)
      return sendProposalDone(res, 'gone')
    }
    const found = await inTransaction(site.pool, (tx) =>
      decideProposal(tx, named, 'dismissed', deed),
    )
    sendProposalDone(res, found ? 'dismissed' : 'gone')
  })
  return router
}

/** Creates a draft from a proposal, unless its key is taken, and returns the key for the form. */
function take(
  named: Named,
  deed: MarketerAction,
  { pool }: ProposalNeeds,
): Promise<string | undefined> {
  return inTransaction(pool, async (tx) => {
    const proposal = await decideProposal(tx, named, 'taken', deed)
    if (!proposal) return undefined
    const draft = draftMarketer(proposal)
    if (!(await findMarketer(tx, draft.key))) await keepMarketer(tx, draft, deed)
    return draft.key
  })
}

function sendProposalDone(res: Response, done: keyof typeof proposalActions): void {
  res.redirect(303, `/admin/marketers/proposals${queryOf({ done })}`)
}

async function sendProposals(req: Request, res: Response, site: ProposalNeeds): Promise<void> {
  const done = new URL(req.originalUrl, 'http://site').searchParams.get('done') ?? ''
  sendAdminPage(req, res, {
    view: 'admin/marketers/proposals',
    title: 'Proposed marketers',
    data: {
      lines: await listProposals(site.pool, PROPOSALS_SHOWN),
      done: Object.hasOwn(proposalActions, done)
        ? proposalActions[done as keyof typeof proposalActions]
        : undefined,
    },
  })
}

type Needs = Pick<Site, 'pool' | 'clock' | 'config'> & FormReader

const LINES = 50
const KEY_CHARS_MAX = 60
const FORM_BYTES_MAX = 200_000

const marketerActions = {
  kept: 'Marketer saved. The change takes effect in all processes within two seconds.',
  removed: 'Marketer removed.',
  nothing: 'Marketer not found.',
}

/** The registry of marketers: the list, the form, and the proposals. */
export function marketerRoutes(site: Needs): Router {
  const router = Router()
  router.use('/proposals', proposalRoutes(site))
  router.get('/', (req, res) => sendList(req, res, site))
  router.get('/edit', async (req, res) => {
    const key = keyOf(req)
    const marketer = key === '' ? undefined : await findMarketer(site.pool, key)
    if (key !== '' && !marketer) throw new ProblemError('not-found', 'Marketer not found.')
    const fields = marketer ? fieldsOfMarketer(marketer) : emptyFields
    sendEdit(req, res, { fields, isNew: !marketer, faults: [] })
  })
  router.post('/', async (req, res) => {
    const limits = { bytesMax: FORM_BYTES_MAX, partBytesMax: FORM_BYTES_MAX }
    const form = await readForm(req, res, site, limits)
    const administrator = requireReporter(req, res)
    if (!administrator) return
    const deed = { at: site.clock(), reporterId: administrator.id }
    const fields = readFields(form)
    if (form.text('do') === 'remove') {
      const isGone = await inTransaction(site.pool, (tx) => removeMarketer(tx, fields.key, deed))
      return sendDone(res, isGone ? 'removed' : 'nothing')
    }
    const isNew = form.text('is_new') === '1'
    const faults = await keep(fields, { isNew, deed }, site)
    if (faults.length > 0) return sendEdit(req, res, { fields, isNew, faults })
    sendDone(res, 'kept')
  })
  return router
}

/** Stores a marketer and returns the errors; empty on success. */
async function keep(
  fields: MarketerFields,
  { isNew, deed }: { isNew: boolean; deed: MarketerAction },
  site: Needs,
): Promise<string[]> {
  const checked = checkMarketer(declaredBy(fields), ownNamesOf(site.config))
  if ('faults' in checked) {
    return checked.faults.map(({ field, reason }) => `${labels[field ?? ''] ?? field}: ${reason}`)
  }
  return inTransaction(site.pool, async (tx) => {
    if (isNew && (await findMarketer(tx, checked.marketer.key))) {
      return ['Key: Another marketer already has this key.']
    }
    await keepMarketer(tx, checked.marketer, deed)
    return []
  })
}

const labels: Readonly<Record<string, string>> = {
  ...{ key: 'Key', name: 'Name', state: 'State', signers: 'Signers', ranges: 'Ranges' },
  ...{ list_ids: 'List-Ids', authors: 'Authors', practice: 'Practice', website: 'Website' },
  ...{ advice: 'Advice', contact: 'Contact', feedback: 'Address for complaints' },
}

function keyOf(req: Request): string {
  const given = new URL(req.originalUrl, 'http://site').searchParams.get('key')
  return storableText(given ?? '', KEY_CHARS_MAX)
}

function sendDone(res: Response, done: keyof typeof marketerActions): void {
  res.redirect(303, `/admin/marketers${queryOf({ done })}`)
}

async function sendList(req: Request, res: Response, site: Needs): Promise<void> {
  const given = new URL(req.originalUrl, 'http://site').searchParams
  const after = storableText(given.get('after') ?? '', KEY_CHARS_MAX)
  const rows = await listMarketers(site.pool, { after, limit: LINES + 1 })
  const { lines, next } = pageOf(rows, LINES, ({ key }) => ({ after: key }))
  const done = given.get('done') ?? ''
  sendAdminPage(req, res, {
    view: 'admin/marketers/list',
    title: 'Marketers',
    data: {
      lines,
      next,
      isFirst: after === '',
      done: Object.hasOwn(marketerActions, done)
        ? marketerActions[done as keyof typeof marketerActions]
        : undefined,
    },
  })
}

function sendEdit(
  req: Request,
  res: Response,
  { fields, isNew, faults }: { fields: MarketerFields; isNew: boolean; faults: readonly string[] },
): void {
  sendAdminPage(req, res, {
    view: 'admin/marketers/edit',
    title: isNew ? 'Add a marketer' : fields.name,
    status: faults.length > 0 ? 422 : 200,
    data: { fields, isNew, faults, states: stateChoices },
  })
}
