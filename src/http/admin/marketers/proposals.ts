import { Router, type Request, type Response } from 'express'
import { decideProposal, listProposals } from '../../../db/marketer-proposals.ts'
import { findMarketer, keepMarketer, type MarketerDeed } from '../../../db/marketers.ts'
import { inTransaction } from '../../../db/pool.ts'
import { storableText } from '../../../mail/storable-text.ts'
import { draftMarketer } from '../../../verdict/marketers/propose.ts'
import { readShortForm, type FormReader } from '../../pages/form.ts'
import { requireReporter } from '../../pages/signed-in.ts'
import { queryOf } from '../../paging.ts'
import type { Site } from '../../site.ts'
import { sendAdminPage } from '../send-admin-page.ts'

type Needs = Pick<Site, 'pool' | 'clock'> & FormReader
type Named = { signer: string; listId: string }

const PROPOSALS_SHOWN = 100
const NAME_CHARS_MAX = 255

const deeds = {
  dismissed: 'It is not proposed again.',
  gone: 'This was decided already.',
}

/** Who might be a marketer, by the mail that was reported. */
export function proposalRoutes(site: Needs): Router {
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
      return sendDone(res, 'gone')
    }
    const found = await inTransaction(site.pool, (tx) =>
      decideProposal(tx, named, 'dismissed', deed),
    )
    sendDone(res, found ? 'dismissed' : 'gone')
  })
  return router
}

/** Makes a draft of a proposal, unless its key is taken; the key, for the form. */
function take(named: Named, deed: MarketerDeed, { pool }: Needs): Promise<string | undefined> {
  return inTransaction(pool, async (tx) => {
    const proposal = await decideProposal(tx, named, 'taken', deed)
    if (!proposal) return undefined
    const draft = draftMarketer(proposal)
    if (!(await findMarketer(tx, draft.key))) await keepMarketer(tx, draft, deed)
    return draft.key
  })
}

function sendDone(res: Response, done: keyof typeof deeds): void {
  res.redirect(303, `/admin/marketers/proposals${queryOf({ done })}`)
}

async function sendProposals(req: Request, res: Response, site: Needs): Promise<void> {
  const done = new URL(req.originalUrl, 'http://site').searchParams.get('done') ?? ''
  sendAdminPage(req, res, {
    view: 'admin/marketers/proposals',
    title: 'Proposed marketers',
    data: {
      lines: await listProposals(site.pool, PROPOSALS_SHOWN),
      done: Object.hasOwn(deeds, done) ? deeds[done as keyof typeof deeds] : undefined,
    },
  })
}
