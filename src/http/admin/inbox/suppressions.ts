import { Router, type Request, type Response } from 'express'
import { inTransaction } from '../../../db/pool.ts'
import { listSuppressions } from '../../../db/suppressions.ts'
import { liftSuppression, readAddress, suppressByHand } from '../../../feedback/suppress-by-hand.ts'
import { storableText } from '../../../mail/storable-text.ts'
import { readShortForm, type FormReader } from '../../pages/form.ts'
import { requireReporter } from '../../pages/signed-in.ts'
import { pageOf, queryOf } from '../../paging.ts'
import type { Site } from '../../site.ts'
import { exemptionTerms, termOf } from '../lists/exemption-terms.ts'
import { sendAdminPage } from '../send-admin-page.ts'

type Needs = Pick<Site, 'pool' | 'clock'> & FormReader

const LINES = 50
const ADDRESS_CHARS_MAX = 320
const REASON_CHARS_MAX = 500

const deeds = {
  set: 'The address is not written to any more.',
  lifted: 'The address may be written to again.',
  nothing: 'The address was not suppressed.',
}

/** Whom we do not write to, and why; and the way to say so, or to take it back. */
export function suppressionRoutes(site: Needs): Router {
  const router = Router()
  router.get('/', (req, res) => sendSuppressions(req, res, site, []))
  router.post('/', async (req, res) => {
    const form = await readShortForm(req, res, site)
    const administrator = requireReporter(req, res)
    if (!administrator) return
    const text = storableText(form.text('address') ?? '', ADDRESS_CHARS_MAX)
    const deed = { at: site.clock(), reporterId: administrator.id }
    if (form.text('do') === 'lift') {
      const isGone = await inTransaction(site.pool, (tx) => liftSuppression(tx, text, deed))
      return sendDone(res, isGone ? 'lifted' : 'nothing')
    }
    const detail = storableText(form.text('reason') ?? '', REASON_CHARS_MAX)
    const [address, until] = [readAddress(text), termOf(form.text('term'), deed.at)]
    const faults = [
      ...(address === undefined ? ['This is no mail address.'] : []),
      ...(detail === '' ? ['Say why: others will wonder.'] : []),
      ...(until === undefined ? ['Say for how long.'] : []),
    ]
    if (address === undefined || until === undefined || faults.length > 0) {
      return sendSuppressions(req, res, site, faults, { address: text, reason: detail })
    }
    await inTransaction(site.pool, (tx) => suppressByHand(tx, { address, detail, until }, deed))
    sendDone(res, 'set')
  })
  return router
}

function sendDone(res: Response, done: keyof typeof deeds): void {
  res.redirect(303, `/admin/suppressions${queryOf({ done })}`)
}

async function sendSuppressions(
  req: Request,
  res: Response,
  site: Needs,
  faults: readonly string[],
  form = { address: '', reason: '' },
): Promise<void> {
  const given = new URL(req.originalUrl, 'http://site').searchParams
  const text = (name: string) => storableText(given.get(name) ?? '', ADDRESS_CHARS_MAX) || undefined
  const [after, part] = [text('after'), text('part')]
  const rows = await listSuppressions(site.pool, { after, part, limit: LINES + 1 })
  const { lines, next } = pageOf(rows, LINES, ({ address }) => ({ part, after: address }))
  const [now, done] = [site.clock(), given.get('done') ?? '']
  sendAdminPage(req, res, {
    view: 'admin/inbox/suppressions',
    title: 'Suppressions',
    status: faults.length > 0 ? 422 : 200,
    data: {
      lines: lines.map((line) => ({ ...line, isOver: line.until !== null && line.until <= now })),
      terms: exemptionTerms,
      done: Object.hasOwn(deeds, done) ? deeds[done as keyof typeof deeds] : undefined,
      faults,
      form,
      part: part ?? '',
      next,
      isFirst: after === undefined,
    },
  })
}
