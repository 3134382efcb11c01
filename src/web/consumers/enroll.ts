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
import { formPage, type PageCall } from '../pages/form-page.ts'
import { sendPage } from '../pages/render.ts'
import { limitAsking } from '../pages/signed-in.ts'
import { visitOf } from '../pages/visit.ts'
import type { Site } from '../site.ts'
import { shownMessage } from './desk-message.ts'

/** Parses the settings for feedback from a form; undefined if a field is invalid. */
export function feedbackSettingsOf(form: Form): FeedbackSettings | undefined {
  return parseFeedbackSettings({
    format: form.text('format'),
    form: form.text('form'),
    pace: form.text('pace'),
    takes: form.texts('takes'),
  })
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
  router.use(
    formPage(site, {
      at: '/consumers/enroll',
      view: 'pages/consumers/enroll',
      title: 'consumers.enroll.title',
      data: () => ({
        fields: { address: '', scopes: '' },
        telling: shownSettings(defaultFeedbackSettings),
        faults: [],
      }),
      take: (call) => takeRequest(call, site),
    }),
  )
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

async function takeRequest(call: PageCall & { form: Form }, site: Needs) {
  const { req, texts, language, form } = call
  const fields = fieldsOf(form)
  const scopes = readScopes(fields.scopes)
  const telling = feedbackSettingsOf(form)
  const faults = [
    ...(isAddress(fields.address) ? [] : [texts('consumers.enroll.faults.address')]),
    ...('faults' in scopes
      ? [texts('consumers.enroll.faults.scopes', { words: scopes.faults.join(' ') })]
      : []),
    ...(telling ? [] : [texts('consumers.enroll.faults.telling')]),
  ]
  const given = { fields, telling: shownSettings(telling ?? defaultFeedbackSettings) }
  if (faults.length > 0 || 'faults' in scopes || !telling) return { ...given, faults }
  await limitAsking(req, site, 'enroll', fields.address)
  const wish: EnrollmentTerms = { ...telling, scopes, language }
  const asked = {
    address: fields.address.toLowerCase(),
    wish,
    askerHash: askerHash(req, site.config),
  }
  const taken = await requestEnrollment(asked, site)
  if (taken !== 'too often') return '/consumers/enroll/sent'
  return { ...given, faults: [texts('consumers.enroll.often')], status: 429 }
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
