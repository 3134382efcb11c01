import { type Request, type Response, Router } from 'express'
import { forgetBorders, listProbeLetters, listProbes, PROBE_DAYS } from '../../db/mail-probes.ts'
import { listRelays, type ReporterRelay } from '../../db/reporter-relays.ts'
import { findReporterSettings, type Reporter, updateReporterSettings } from '../../db/reporters.ts'
import { DAY_MS } from '../../durations.ts'
import { isLanguage } from '../../texts/choose-language.ts'
import { howToForward } from '../../letters/mail-in-letters.ts'
import { sendProbe } from '../../letters/probe-letter.ts'
import { parseRelayBlock } from '../../mail/ip-blocks.ts'
import { forgetRelay, SET_RELAYS_MAX, setRelays } from '../../reports/set-relays.ts'
import { mailInAddressOf, makeMailInAddress } from '../../reports/take-mailed.ts'
import type { Site } from '../site.ts'
import { type Form, type FormReader, readShortForm } from './form.ts'
import { sendPage } from './render.ts'
import { localPath } from './sign-in.ts'
import { requireReporter } from './signed-in.ts'
import { visitOf } from './visit.ts'

type RelayNeeds = Pick<Site, 'pool' | 'boss' | 'clock' | 'config'> & FormReader

/**
 * The page where reporters view, name and remove the relays of their mail, or let a test letter
 * find them.
 */
export function relayRoutes(site: RelayNeeds): Router {
  const router = Router()
  router.get('/relays', (req, res) => sendRelays(req, res, site, requireReporter(req)))
  router.post('/relays', async (req, res) => {
    const form = await readShortForm(req, res, site)
    const reporter = requireReporter(req)
    if (form.text('do') === 'probe') {
      const result = await sendProbe(site, reporter)
      if (result === 'sent') return res.redirect(303, '/relays#probe')
      const probeProblem = visitOf(req).texts(`relays.probe.${result}`)
      return sendRelays(req, res, site, reporter, { probeProblem })
    }
    if (form.text('do') === 'forget') {
      await forgetBorders(site.pool, reporter.id)
      return res.redirect(303, '/relays#probe')
    }
    const text = form.text('cidr') ?? ''
    const problem = await changeRelays(req, site, reporter, { action: form.text('do'), text })
    if (problem === undefined) return res.redirect(303, '/relays')
    await sendRelays(req, res, site, reporter, { problem, text })
  })
  return router
}

/** Makes the change that a form requests; returns the problem if it is refused. */
async function changeRelays(
  req: Request,
  site: RelayNeeds,
  { id }: Reporter,
  { action, text }: { action: string | undefined; text: string },
): Promise<string | undefined> {
  const { texts } = visitOf(req)
  const parsed = parseRelayBlock(text)
  if ('refusal' in parsed) return texts(`relays.refusals.${parsed.refusal}`)
  if (action === 'remove') {
    await forgetRelay(site, id, parsed.block)
    return undefined
  }
  const how = action === 'refuse' ? 'refused' : 'set'
  const result = await setRelays(site, id, [{ cidr: parsed.block, name: null, how }])
  if (result === 'disputed') return texts('question.disputed')
  return result === 'full' ? texts('question.full', { most: SET_RELAYS_MAX }) : undefined
}

async function sendRelays(
  req: Request,
  res: Response,
  site: RelayNeeds,
  reporter: Reporter,
  refused?: { problem: string; text: string } | { probeProblem: string },
): Promise<void> {
  const since = new Date(site.clock().getTime() - PROBE_DAYS * DAY_MS)
  const [known, probes, letters] = await Promise.all([
    listRelays(site.pool, reporter.id),
    listProbes(site.pool, reporter.id),
    listProbeLetters(site.pool, reporter.id, since),
  ])
  const relays = known.map(withAddress)
  const [last] = letters
  sendPage(req, res, {
    view: 'pages/relays',
    title: visitOf(req).texts('relays.title'),
    status: refused ? 422 : 200,
    data: {
      proposed: relays.filter(({ how }) => how === 'proposed'),
      known: relays.filter(({ how }) => how !== 'proposed'),
      probe: {
        canSend: site.config.smtpUrl !== undefined,
        came: probes[0],
        borders: [...new Set(probes.flatMap(({ border }) => border ?? []))],
        sent: probes.some(({ letterId }) => letterId === last?.id) ? undefined : last,
        address: reporter.email,
      },
      ...refused,
    },
  })
}

/** Shows a block of one address as that address. */
function withAddress(relay: ReporterRelay): ReporterRelay & { address: string } {
  return { ...relay, address: relay.cidr.replace(/(?<=^[^:]*)\/32$|\/128$/, '') }
}

type Needs = Pick<Site, 'pool' | 'config' | 'clock'> & FormReader

/** The result of the last change, shown on the page. */
type Word = { done: 'saved' | 'made' } | { problem: string }

/** The page with the reporter's mail-in address and letter settings. */
export function settingsRoutes(site: Needs): Router {
  const router = Router()
  router.get('/settings', async (req, res) => {
    const reporter = requireReporter(req)
    const { done } = req.query
    await sendSettings(req, res, site, reporter, isDone(done) ? { done } : undefined)
  })
  router.post('/settings', async (req, res) => {
    const form = await readShortForm(req, res, site)
    const reporter = requireReporter(req)
    const word = await change(req, form, reporter, site)
    const next = form.text('next')
    if ('done' in word && next !== undefined) return res.redirect(303, localPath(next))
    if ('done' in word) return res.redirect(303, `/settings?done=${word.done}`)
    await sendSettings(req, res, site, reporter, word)
  })
  return router
}

async function change(req: Request, form: Form, { id }: Reporter, site: Needs): Promise<Word> {
  if (form.text('do') === 'address') {
    await makeMailInAddress(site, id)
    return { done: 'made' }
  }
  const language = form.text('language')
  if (!isLanguage(language)) {
    return { problem: visitOf(req).texts('settings.letters.unknown') }
  }
  const wantsAnswers = form.text('wants_answers') === 'yes'
  const wantsAdvice = form.text('wants_advice') === 'yes'
  const wantsSummary = form.text('wants_summary') === 'yes'
  const settings = { language, wantsAnswers, wantsAdvice, wantsSummary }
  await updateReporterSettings(site.pool, id, settings)
  return { done: 'saved' }
}

async function sendSettings(
  req: Request,
  res: Response,
  site: Needs,
  reporter: Reporter,
  word: Word | undefined,
): Promise<void> {
  const { texts, language } = visitOf(req)
  const settings = await findReporterSettings(site.pool, reporter.id)
  sendPage(req, res, {
    view: 'pages/settings',
    title: texts('settings.title'),
    status: word && 'problem' in word ? 422 : 200,
    data: {
      word,
      mailIn: await mailInAddressOf(site, reporter.id),
      chosen: settings?.language ?? language,
      wantsAnswers: settings?.wantsAnswers ?? false,
      wantsAdvice: settings?.wantsAdvice ?? true,
      wantsSummary: settings?.wantsSummary ?? false,
      howTo: howToForward(texts),
    },
  })
}

function isDone(value: unknown): value is 'saved' | 'made' {
  return value === 'saved' || value === 'made'
}
