import type { Router } from 'express'
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
import type { Texts } from '../../texts/messages.ts'
import type { Site } from '../site.ts'
import type { Form, FormReader } from './form.ts'
import { localPath } from './render.ts'
import { ownFormPage } from './form-page.ts'
import { isConfirmedBy } from './sure.ts'

type RelayNeeds = Pick<Site, 'pool' | 'boss' | 'clock' | 'config'> & FormReader

/**
 * The page where reporters view, name and remove the relays of their mail, or let a test letter
 * find them.
 */
export function relayRoutes(site: RelayNeeds): Router {
  return ownFormPage(site, {
    at: '/relays',
    view: 'pages/relays',
    title: 'relays.title',
    data: async ({ req, reporter }) => ({
      ...(await describeRelays(reporter, site)),
      done: req.query['done'],
    }),
    async take({ texts, form, reporter }) {
      if (form.text('do') === 'probe') {
        const result = await sendProbe(site, reporter)
        if (result === 'sent') return '/relays?done=sent'
        return { status: 422, probeProblem: texts(`relays.probe.${result}`) }
      }
      if (form.text('do') === 'forget') {
        await forgetBorders(site.pool, reporter.id)
        return '/relays?done=saved'
      }
      const change = { action: form.text('do'), text: form.text('cidr') ?? '' }
      const problem = await changeRelays(change, reporter, texts, site)
      return problem === undefined
        ? '/relays?done=saved'
        : { status: 422, problem, text: change.text }
    },
  })
}

/** Makes the change that a form requests; returns the problem if it is refused. */
async function changeRelays(
  { action, text }: { action: string | undefined; text: string },
  { id }: Reporter,
  texts: Texts,
  site: RelayNeeds,
): Promise<string | undefined> {
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

async function describeRelays(reporter: Reporter, site: RelayNeeds) {
  const since = new Date(site.clock().getTime() - PROBE_DAYS * DAY_MS)
  const [known, probes, letters] = await Promise.all([
    listRelays(site.pool, reporter.id),
    listProbes(site.pool, reporter.id),
    listProbeLetters(site.pool, reporter.id, since),
  ])
  const relays = known.map(withAddress)
  const [last] = letters
  return {
    proposed: relays.filter(({ how }) => how === 'proposed'),
    known: relays.filter(({ how }) => how !== 'proposed'),
    probe: {
      canSend: site.config.smtpUrl !== undefined,
      came: probes[0],
      borders: [...new Set(probes.flatMap(({ border }) => border ?? []))],
      sent: probes.some(({ letterId }) => letterId === last?.id) ? undefined : last,
      address: reporter.email,
    },
  }
}

/** Shows a block of one address as that address. */
function withAddress(relay: ReporterRelay): ReporterRelay & { address: string } {
  return { ...relay, address: relay.cidr.replace(/(?<=^[^:]*)\/32$|\/128$/, '') }
}

type Needs = Pick<Site, 'pool' | 'config' | 'clock'> & FormReader

/** The page with the reporter's mail-in address and letter settings. */
export function settingsRoutes(site: Needs): Router {
  return ownFormPage(site, {
    at: '/settings',
    view: 'pages/settings',
    title: 'settings.title',
    async data({ req, texts, language, reporter }) {
      const settings = await findReporterSettings(site.pool, reporter.id)
      const { done } = req.query
      return {
        done: done === 'saved' || done === 'made' ? done : undefined,
        mailIn: await mailInAddressOf(site, reporter.id),
        chosen: settings?.language ?? language,
        wantsAnswers: settings?.wantsAnswers ?? false,
        wantsAdvice: settings?.wantsAdvice ?? true,
        wantsSummary: settings?.wantsSummary ?? false,
        howTo: howToForward(texts),
        organization: site.config.oidc?.name,
      }
    },
    async take(call) {
      const { texts, form, reporter } = call
      const before = form.text('do') === 'address' && (await mailInAddressOf(site, reporter.id))
      if (before && !isConfirmedBy(call, { code: 'mail-in', name: before.address }))
        return undefined
      const done = await change(form, reporter, site)
      const problem = texts('settings.letters.unknown')
      if (done === undefined) return { status: 422, problem }
      const next = form.text('next')
      return next === undefined ? `/settings?done=${done}` : localPath(next)
    },
  })
}

/** Makes the change that a form requests; undefined if the language is not known. */
async function change(form: Form, { id }: Reporter, site: Needs) {
  if (form.text('do') === 'address') {
    await makeMailInAddress(site, id)
    return 'made'
  }
  const language = form.text('language')
  if (!isLanguage(language)) return undefined
  const wantsAnswers = form.text('wants_answers') === 'yes'
  const wantsAdvice = form.text('wants_advice') === 'yes'
  const wantsSummary = form.text('wants_summary') === 'yes'
  const settings = { language, wantsAnswers, wantsAdvice, wantsSummary }
  await updateReporterSettings(site.pool, id, settings)
  return 'saved'
}
