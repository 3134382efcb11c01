import { Router, type Request, type Response } from 'express'
import { keepExemption, listExemptions, removeExemption } from '../../../db/list-exemptions.ts'
import { inTransaction } from '../../../db/pool.ts'
import { storableText } from '../../../mail/storable-text.ts'
import { readListQuestion } from '../../../verdict/lists/read-question.ts'
import { readShortForm, type FormReader } from '../../pages/form.ts'
import { requireReporter } from '../../pages/signed-in.ts'
import { pageOf, queryOf } from '../../paging.ts'
import type { Site } from '../../site.ts'
import { exemptionTerms, termOf } from './exemption-terms.ts'
import { sendAdminPage } from '../send-admin-page.ts'

type Needs = Pick<Site, 'pool' | 'clock'> & FormReader

const LINES = 50
const NAME_CHARS_MAX = 253
const REASON_CHARS_MAX = 500

const deeds = {
  set: 'It is exempted, and goes from the lists when they are written next.',
  lifted: 'The exemption is taken back.',
  nothing: 'There is no such exemption.',
}

/** What is never put on our lists, and the way to say so. */
export function listExemptionRoutes(site: Needs): Router {
  const router = Router()
  router.get('/', (req, res) => sendExemptions(req, res, site, []))
  router.post('/', async (req, res) => {
    const form = await readShortForm(req, res, site)
    const administrator = requireReporter(req, res)
    if (!administrator) return
    const text = storableText(form.text('name') ?? '', NAME_CHARS_MAX)
    const deed = { at: site.clock(), reporterId: administrator.id }
    if (form.text('do') === 'lift') {
      const isGone = await inTransaction(site.pool, (tx) => removeExemption(tx, text, deed))
      return sendDone(res, isGone ? 'lifted' : 'nothing')
    }
    const reason = storableText(form.text('reason') ?? '', REASON_CHARS_MAX)
    const [name, term] = [readListQuestion(text)?.name, termOf(form.text('term'), deed.at)]
    const faults = [
      ...(name === undefined ? ['This is no address, domain or host.'] : []),
      ...(reason === '' ? ['Say why: others will wonder.'] : []),
      ...(term === undefined ? ['Say for how long.'] : []),
    ]
    if (name === undefined || term === undefined || faults.length > 0) {
      return sendExemptions(req, res, site, faults, { name: text, reason })
    }
    const { at: createdAt, reporterId } = deed
    const exemption = { name, reason, expiresAt: term, reporterId, createdAt }
    await inTransaction(site.pool, (tx) => keepExemption(tx, exemption))
    sendDone(res, 'set')
  })
  return router
}

function sendDone(res: Response, done: keyof typeof deeds): void {
  res.redirect(303, `/admin/delistings/exemptions${queryOf({ done })}`)
}

async function sendExemptions(
  req: Request,
  res: Response,
  site: Needs,
  faults: readonly string[],
  form = { name: '', reason: '' },
): Promise<void> {
  const given = new URL(req.originalUrl, 'http://site').searchParams
  const after = storableText(given.get('after') ?? '', NAME_CHARS_MAX)
  const rows = await listExemptions(site.pool, { after, limit: LINES + 1 })
  const { lines, next } = pageOf(rows, LINES, ({ name }) => ({ after: name }))
  const [now, done] = [site.clock(), given.get('done') ?? '']
  sendAdminPage(req, res, {
    view: 'admin/lists/exemptions',
    title: 'Exemptions from the lists',
    status: faults.length > 0 ? 422 : 200,
    data: {
      lines: lines.map((line) => ({
        ...line,
        isOver: line.expiresAt !== null && line.expiresAt <= now,
      })),
      terms: exemptionTerms,
      done: Object.hasOwn(deeds, done) ? deeds[done as keyof typeof deeds] : undefined,
      faults,
      form,
      next,
      isFirst: after === '',
    },
  })
}
