import { Router, type Request, type Response } from 'express'
import {
  findMarketer,
  keepMarketer,
  listMarketers,
  type MarketerDeed,
  removeMarketer,
} from '../../../db/marketers.ts'
import { inTransaction } from '../../../db/pool.ts'
import { storableText } from '../../../mail/storable-text.ts'
import { ownNamesOf } from '../../../verdict/lists/own-names.ts'
import { checkMarketer } from '../../../verdict/marketers/marketer-file.ts'
import { readForm, type FormReader } from '../../pages/form.ts'
import { requireReporter } from '../../pages/signed-in.ts'
import { pageOf, queryOf } from '../../paging.ts'
import { ProblemError } from '../../problem.ts'
import type { Site } from '../../site.ts'
import { sendAdminPage } from '../send-admin-page.ts'
import {
  declaredBy,
  emptyFields,
  fieldsOfMarketer,
  type MarketerFields,
  readFields,
  stateChoices,
} from './marketer-form.ts'
import { proposalRoutes } from './proposals.ts'

type Needs = Pick<Site, 'pool' | 'clock' | 'config'> & FormReader

const LINES = 50
const KEY_CHARS_MAX = 60
const FORM_BYTES_MAX = 200_000

const deeds = {
  kept: 'The marketer is kept. All processes know within two seconds.',
  removed: 'The marketer is removed.',
  nothing: 'There is no such marketer.',
}

/** The registry of marketers: its list, the form, and what is proposed. */
export function marketerRoutes(site: Needs): Router {
  const router = Router()
  router.use('/proposals', proposalRoutes(site))
  router.get('/', (req, res) => sendList(req, res, site))
  router.get('/edit', async (req, res) => {
    const key = keyOf(req)
    const marketer = key === '' ? undefined : await findMarketer(site.pool, key)
    if (key !== '' && !marketer) throw new ProblemError('not-found', 'There is no such marketer.')
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

/** Why it was not kept; empty when it was. */
async function keep(
  fields: MarketerFields,
  { isNew, deed }: { isNew: boolean; deed: MarketerDeed },
  site: Needs,
): Promise<string[]> {
  const checked = checkMarketer(declaredBy(fields), ownNamesOf(site.config))
  if ('faults' in checked) {
    return checked.faults.map(({ field, reason }) => `${labels[field ?? ''] ?? field}: ${reason}`)
  }
  return inTransaction(site.pool, async (tx) => {
    if (isNew && (await findMarketer(tx, checked.marketer.key))) {
      return ['Key: There is a marketer with this key already.']
    }
    await keepMarketer(tx, checked.marketer, deed)
    return []
  })
}

const labels: Readonly<Record<string, string>> = {
  ...{ key: 'Key', name: 'Name', state: 'State', signers: 'Signers', ranges: 'Ranges' },
  ...{ list_ids: 'List-Ids', authors: 'Authors', practice: 'Practice', website: 'Website' },
  ...{ advice: 'Advice', contact: 'Contact', feedback: 'Complaints to' },
}

function keyOf(req: Request): string {
  const given = new URL(req.originalUrl, 'http://site').searchParams.get('key')
  return storableText(given ?? '', KEY_CHARS_MAX)
}

function sendDone(res: Response, done: keyof typeof deeds): void {
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
      done: Object.hasOwn(deeds, done) ? deeds[done as keyof typeof deeds] : undefined,
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
    title: isNew ? 'A new marketer' : fields.name,
    status: faults.length > 0 ? 422 : 200,
    data: { fields, isNew, faults, states: stateChoices },
  })
}
