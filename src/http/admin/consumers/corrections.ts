import { Router, type Request, type Response } from 'express'
import { insertAudit } from '../../../db/audit-log.ts'
import { listCorrections, removeCorrection } from '../../../db/contact-corrections.ts'
import { inTransaction } from '../../../db/pool.ts'
import { parseBlock } from '../../../mail/ip-blocks.ts'
import { storableText } from '../../../mail/storable-text.ts'
import { readShortForm, type FormReader } from '../../pages/form.ts'
import { requireReporter } from '../../pages/signed-in.ts'
import { pageOf, queryOf } from '../../paging.ts'
import type { Site } from '../../site.ts'
import { sendAdminPage } from '../send-admin-page.ts'

type Needs = Pick<Site, 'pool' | 'clock'> & FormReader

const LINES = 50
const ADDRESS_CHARS_MAX = 320

/** What desks said is not theirs, and the way to hold against it. */
export function correctionRoutes(site: Needs): Router {
  const router = Router()
  router.get('/', (req, res) => sendCorrections(req, res, site))
  router.post('/', async (req, res) => {
    const form = await readShortForm(req, res, site)
    const administrator = requireReporter(req, res)
    if (!administrator) return
    const cidr = parseBlock(form.text('cidr') ?? '')
    const address = storableText(form.text('address') ?? '', ADDRESS_CHARS_MAX)
    const isGone = await inTransaction(site.pool, async (tx) => {
      const gone = cidr === undefined ? undefined : await removeCorrection(tx, { cidr, address })
      if (!gone) return false
      const deed = { at: site.clock(), reporterId: administrator.id }
      const detail = `${gone.cidr}: ${gone.address}`
      await insertAudit(tx, { ...deed, action: 'lift correction', detail })
      return true
    })
    const done = isGone ? 'lifted' : 'nothing'
    res.redirect(303, `/admin/networks/corrections${queryOf({ done })}`)
  })
  return router
}

async function sendCorrections(req: Request, res: Response, site: Needs): Promise<void> {
  const given = new URL(req.originalUrl, 'http://site').searchParams
  const cidr = parseBlock(given.get('after') ?? '')
  const address = storableText(given.get('address') ?? '', ADDRESS_CHARS_MAX)
  const after = cidr === undefined ? undefined : { cidr, address }
  const rows = await listCorrections(site.pool, { after, limit: LINES + 1 })
  const { lines, next } = pageOf(rows, LINES, (last) => {
    return { after: last.cidr, address: last.address }
  })
  const [now, done] = [site.clock(), given.get('done')]
  sendAdminPage(req, res, {
    view: 'admin/consumers/corrections',
    title: 'Not theirs',
    data: {
      lines: lines.map((line) => ({ ...line, isOver: line.until <= now })),
      done:
        done === 'lifted'
          ? 'It is taken back: the address is told of the block again.'
          : done === 'nothing'
            ? 'There is no such word.'
            : undefined,
      next,
      isFirst: after === undefined,
    },
  })
}
