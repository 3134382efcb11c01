import { type Request, type Response, Router } from 'express'
import type { EnrollmentTerms } from '../../db/enrollment-requests.ts'
import { copyOf } from '../../feedback/desk-reports.ts'
import {
  confirmEnrollment,
  consumerLink,
  findEnrollmentByToken,
  requestEnrollment,
} from '../../feedback/enroll.ts'
import { domainOf } from '../../mail/address.ts'
import { storableText } from '../../mail/text.ts'
import { feedbackTopics } from '../../verdict/choose-contact.ts'
import {
  readScopes,
  parseFeedbackSettings,
  scopeText,
  feedbackChoices,
  type FeedbackSettings,
  defaultFeedbackSettings,
} from '../../verdict/consumers.ts'
import { askerHash } from '../limits.ts'
import { type Form, type FormReader, readShortForm } from '../pages/form.ts'
import { sendPage } from '../pages/render.ts'
import { limitAsking } from '../pages/signed-in.ts'
import { visitOf } from '../pages/visit.ts'
import type { Site } from '../site.ts'
import { shownMessage } from './desk-message.ts'

/** Parses the settings for feedback from a form; undefined if a field is invalid. */
export function feedbackSettingsOf(form: Form): FeedbackSettings | undefined {
  const {
    format,
    form: shape,
    pace,
  } = {
    format: form.text('format'),
    form: form.text('form'),
    pace: form.text('pace'),
  }
  return parseFeedbackSettings({ format, form: shape, pace, takes: form.texts('takes') })
}

/** The data for the view part `telling`: the choices and the selected ones. */
export function shownSettings(wish: FeedbackSettings) {
  return { ...wish, takes: wish.takes ?? feedbackTopics, choices: feedbackChoices, feedbackTopics }
}

type Needs = Pick<
  Site,
  'pool' | 'boss' | 'clock' | 'config' | 'publicUrl' | 'limits' | 'readSample'
> &
  FormReader

const ADDRESS_CHARS_MAX = 254
const SCOPES_CHARS_MAX = 10_000
const address = /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,10}$/

/** The pages where anyone requests our feedback reports for an address, and its owner confirms. */
export function enrollRoutes(site: Needs): Router {
  const router = Router()
  router.get('/consumers/enroll', (req, res) => {
    const fields = { address: '', scopes: '' }
    sendForm(req, res, { fields, telling: defaultFeedbackSettings, faults: [], status: 200 })
  })
  router.post('/consumers/enroll', (req, res) => takeRequest(req, res, site))
  router.get('/consumers/enroll/sent', (req, res) => {
    const title = visitOf(req).texts('consumers.sent.title')
    sendPage(req, res, { view: 'pages/consumers/sent', title })
  })
  router.get('/consumers/sample', (req, res) => sendSample(req, res, site))
  router.get('/consumers/enroll/:token', async (req, res) => {
    const request = await findEnrollmentByToken(req.params.token, site)
    const wish = request?.state === 'sent' ? request.wish : undefined
    sendConfirm(req, res, { token: req.params.token, wish, address: request?.address })
  })
  router.post('/consumers/enroll/:token', async (req, res) => {
    await readShortForm(req, res, site)
    const { token } = req.params
    const confirmed = await confirmEnrollment(token, site)
    if (!confirmed) return sendConfirm(req, res, { token, wish: undefined, address: undefined })
    const { url: page } = consumerLink(confirmed.consumerId, { ...site.config, publicUrl: '' })
    const done = confirmed.waiting.length > 0 ? 'waiting' : 'enrolled'
    res.redirect(303, `${page}?done=${done}`)
  })
  return router
}

type Fields = { address: string; scopes: string }

async function takeRequest(req: Request, res: Response, site: Needs): Promise<void> {
  const form = await readShortForm(req, res, site)
  const fields = fieldsOf(form)
  const visit = visitOf(req)
  const { texts } = visit
  const scopes = readScopes(fields.scopes)
  const telling = feedbackSettingsOf(form)
  const faults = [
    ...(isAddress(fields.address) ? [] : [texts('consumers.enroll.faults.address')]),
    ...('faults' in scopes
      ? [texts('consumers.enroll.faults.scopes', { words: scopes.faults.join(' ') })]
      : []),
    ...(telling ? [] : [texts('consumers.enroll.faults.telling')]),
  ]
  const given = { fields, telling: telling ?? defaultFeedbackSettings }
  if (faults.length > 0 || 'faults' in scopes || !telling) {
    return sendForm(req, res, { ...given, faults, status: 422 })
  }
  await limitAsking(req, site, 'enroll', fields.address)
  const wish: EnrollmentTerms = { ...telling, scopes, language: visit.language }
  const asker = askerHash(req, site.config)
  const taken = await requestEnrollment(
    { address: fields.address.toLowerCase(), wish, askerHash: asker },
    site,
  )
  if (taken === 'too often') {
    return sendForm(req, res, { ...given, faults: [texts('consumers.enroll.often')], status: 429 })
  }
  res.redirect(303, '/consumers/enroll/sent')
}

function fieldsOf(form: Form): Fields {
  const field = (name: string, max: number) => storableText(form.text(name) ?? '', max)
  const scopes = (form.text('scopes') ?? '').slice(0, SCOPES_CHARS_MAX)
  return {
    address: field('address', ADDRESS_CHARS_MAX),
    scopes: scopes
      .split(/\s+/)
      .map((word) => storableText(word, 200))
      .join('\n'),
  }
}

function isAddress(text: string): boolean {
  return address.test(text.toLowerCase()) && domainOf(text) !== undefined
}

/** Sends an invented feedback report, so that a desk sees what it would get. */
async function sendSample(req: Request, res: Response, { readSample }: Needs): Promise<void> {
  const copy = copyOf(await readSample())
  sendPage(req, res, {
    view: 'pages/consumers/sample',
    title: visitOf(req).texts('desk.sample.title'),
    data: { reported: copy && (await shownMessage(copy)), text: copy?.parts.text },
  })
}

type ShownForm = {
  fields: Fields
  telling: FeedbackSettings
  faults: readonly string[]
  status: number
}

function sendForm(req: Request, res: Response, { telling, status, ...data }: ShownForm): void {
  const title = visitOf(req).texts('consumers.enroll.title')
  const shown = { ...data, telling: shownSettings(telling) }
  sendPage(req, res, { view: 'pages/consumers/enroll', title, status, data: shown })
}

function sendConfirm(
  req: Request,
  res: Response,
  asked: { token: string; wish: EnrollmentTerms | undefined; address: string | undefined },
): void {
  const { token, wish } = asked
  res.setHeader('x-robots-tag', 'noindex, nofollow')
  sendPage(req, res, {
    view: 'pages/consumers/confirm',
    title: visitOf(req).texts('consumers.confirm.title'),
    status: wish ? 200 : 404,
    data: {
      wish,
      address: asked.address,
      action: `/consumers/enroll/${encodeURIComponent(token)}`,
      scopes: wish?.scopes.map(scopeText) ?? [],
      takes: wish?.takes ?? feedbackTopics,
    },
  })
}
