import { Router, type Request, type Response } from 'express'
import { listRelays, type ReporterRelay } from '../../db/reporter-relays.ts'
import type { Reporter } from '../../db/reporters.ts'
import { forgetRelay, RELAYS_MAX, tellRelays } from '../../intake/tell-relays.ts'
import { parseRelayBlock } from '../../mail/relay-block.ts'
import type { Site } from '../site.ts'
import { readShortForm, type FormReader } from './form.ts'
import { sendPage } from './render.ts'
import { requireReporter } from './signed-in.ts'
import { visitOf } from './visit.ts'

type Needs = Pick<Site, 'pool' | 'boss' | 'clock'> & FormReader

/** The page on which reporters see, name and remove the machines their mail comes through. */
export function relayRoutes(site: Needs): Router {
  const router = Router()
  router.get('/relays', async (req, res) => {
    const reporter = requireReporter(req, res)
    if (reporter) await sendRelays(req, res, site, reporter)
  })
  router.post('/relays', async (req, res) => {
    const form = await readShortForm(req, res, site)
    const reporter = requireReporter(req, res)
    if (!reporter) return
    const text = form.text('cidr') ?? ''
    const problem = await change(req, site, reporter, { wish: form.text('do'), text })
    if (problem === undefined) return res.redirect(303, '/relays')
    await sendRelays(req, res, site, reporter, { problem, text })
  })
  return router
}

/** Does what the form wishes; answers why it cannot. */
async function change(
  req: Request,
  site: Needs,
  { id }: Reporter,
  { wish, text }: { wish: string | undefined; text: string },
): Promise<string | undefined> {
  const { relays: words, question } = visitOf(req).words
  const parsed = parseRelayBlock(text)
  if ('refusal' in parsed) return words.refusals[parsed.refusal]
  if (wish === 'remove') {
    await forgetRelay(site, id, parsed.block)
    return undefined
  }
  const how = wish === 'refuse' ? 'refused' : 'set'
  const told = await tellRelays(site, id, [{ cidr: parsed.block, name: null, how }])
  return told === 'full' ? question.full(RELAYS_MAX) : undefined
}

async function sendRelays(
  req: Request,
  res: Response,
  site: Needs,
  reporter: Reporter,
  refused?: { problem: string; text: string },
): Promise<void> {
  const relays = (await listRelays(site.pool, reporter.id)).map(withAddress)
  sendPage(req, res, {
    view: 'pages/relays',
    title: visitOf(req).words.relays.title,
    status: refused ? 422 : 200,
    data: {
      proposed: relays.filter(({ how }) => how === 'proposed'),
      known: relays.filter(({ how }) => how !== 'proposed'),
      problem: refused?.problem,
      text: refused?.text ?? '',
    },
  })
}

/** A block of one address reads better as that address. */
function withAddress(relay: ReporterRelay): ReporterRelay & { address: string } {
  return { ...relay, address: relay.cidr.replace(/(?<=^[^:]*)\/32$|\/128$/, '') }
}
