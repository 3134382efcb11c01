import { Router, type Request, type Response } from 'express'
import {
  findReporterSettings,
  type LetterLanguage,
  updateReporterSettings,
} from '../../db/reporter-settings.ts'
import type { Reporter } from '../../db/reporters.ts'
import { mailInAddressOf, makeMailInAddress } from '../../intake/mail-in-address.ts'
import { howToForward } from '../../letters/mail-in/how-to-forward.ts'
import type { Site } from '../site.ts'
import { type Form, type FormReader, readShortForm } from './form.ts'
import { sendPage } from './render.ts'
import { requireReporter } from './signed-in.ts'
import { visitOf } from './visit.ts'

type Needs = Pick<Site, 'pool' | 'config' | 'clock'> & FormReader

/** What the page says of what was just done. */
type Word = { done: 'saved' | 'made' } | { problem: string }

/** The page on which reporters have their address for mail, and say how to write to them. */
export function settingsRoutes(site: Needs): Router {
  const router = Router()
  router.get('/settings', async (req, res) => {
    const reporter = requireReporter(req, res)
    if (!reporter) return
    const { done } = req.query
    await sendSettings(req, res, site, reporter, isDone(done) ? { done } : undefined)
  })
  router.post('/settings', async (req, res) => {
    const form = await readShortForm(req, res, site)
    const reporter = requireReporter(req, res)
    if (!reporter) return
    const word = await change(req, form, reporter, site)
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
  if (!isLetterLanguage(language)) {
    return { problem: visitOf(req).words.settings.letters.unknown }
  }
  const wantsAnswers = form.text('wants_answers') === 'yes'
  const wantsAdvice = form.text('wants_advice') === 'yes'
  await updateReporterSettings(site.pool, id, { language, wantsAnswers, wantsAdvice })
  return { done: 'saved' }
}

async function sendSettings(
  req: Request,
  res: Response,
  site: Needs,
  reporter: Reporter,
  word: Word | undefined,
): Promise<void> {
  const { words, language } = visitOf(req)
  const settings = await findReporterSettings(site.pool, reporter.id)
  sendPage(req, res, {
    view: 'pages/settings',
    title: words.settings.title,
    status: word && 'problem' in word ? 422 : 200,
    data: {
      word,
      mailIn: await mailInAddressOf(site, reporter.id),
      chosen: settings?.language ?? language,
      wantsAnswers: settings?.wantsAnswers ?? false,
      wantsAdvice: settings?.wantsAdvice ?? true,
      howTo: howToForward[language],
    },
  })
}

function isDone(value: unknown): value is 'saved' | 'made' {
  return value === 'saved' || value === 'made'
}

function isLetterLanguage(value: string | undefined): value is LetterLanguage {
  return value === 'en' || value === 'fr' || value === 'ru'
}
