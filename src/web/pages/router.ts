import { type NextFunction, type Request, type Response, Router } from 'express'
import { refusalIn } from '../../texts/phrases.ts'
import { confirmRoutes, forgottenRoutes } from '../account/choose-password.ts'
import { eraseRoutes } from '../account/erase.ts'
import { exportRoutes } from '../account/export.ts'
import { organizationRoutes } from '../account/organization.ts'
import { passwordRoutes } from '../account/password.ts'
import { secondStepCodeRoutes, secondStepRoutes } from '../account/second-step.ts'
import { sessionRoutes, tokenRoutes } from '../account/sessions.ts'
import { privacyRoutes, signUpRoutes } from '../account/sign-up.ts'
import { adminRoutes } from '../admin/router.ts'
import { hasFrame, sendAdminPage } from '../admin/send-admin-page.ts'
import { silentDatabasePage } from '../admin/silent-database.ts'
import { failureOf } from '../answer.ts'
import { assetRoutes } from '../assets.ts'
import { answerRoutes } from '../consumers/answers.ts'
import { complaintRoutes } from '../consumers/complaints.ts'
import { deskReportRoutes } from '../consumers/desk-reports.ts'
import { enrollRoutes } from '../consumers/enroll.ts'
import { ownConsumerRoutes } from '../consumers/own-page.ts'
import { docsRoutes } from '../docs/docs-routes.ts'
import { historyRoutes } from '../history/history.ts'
import { originalRoutes } from '../history/original.ts'
import { ownCopyRoutes } from '../history/story.ts'
import { delistingRoutes, lookupRoutes } from '../lists/delisting.ts'
import { downloadRoutes } from '../lists/downloads.ts'
import { ProblemError } from '../problem.ts'
import { adviceRoutes } from '../reporting/advice.ts'
import { outlookRoutes } from '../reporting/outlook.ts'
import { lookFirstRoutes } from '../reporting/look-first.ts'
import { thunderbirdRoutes } from '../reporting/thunderbird.ts'
import { reportRoutes } from '../reporting/report-form.ts'
import { sentRoutes } from '../reporting/sent.ts'
import { webAppRoutes } from '../reporting/web-app.ts'
import type { Site } from '../site.ts'
import { type FormReader, StaleForm } from './form.ts'
import { helpRoutes, homeRoutes, languageRoutes } from './home.ts'
import { keepForm, keptOfStale, sendKept } from './kept-form.ts'
import { lettersOffRoutes } from './letters-off.ts'
import { contentPolicy, sendPage } from './render.ts'
import { sessions } from './session.ts'
import { relayRoutes, settingsRoutes } from './settings.ts'
import { sendSignIn, signInRoutes } from './sign-in.ts'
import { sameOrigin, SignInNeeded } from './signed-in.ts'
import { statisticsRoutes } from './statistics.ts'
import { visitOf, identifyVisitor } from './visit.ts'
import { webhookRoutes } from './webhooks.ts'

/** All routes for people: sessions, pages, and error pages. */
export function pageRoutes(site: Site): Router {
  const router = Router()
  router.use(assetRoutes())
  router.use(webAppRoutes())
  router.use(pageHeaders(site.publicUrl))
  router.use(answerRoutes(site))
  router.use(sameOrigin(site.publicUrl))
  router.use('/admin', silentDatabasePage(site))
  router.use(sessions(site))
  router.use(identifyVisitor(site))
  router.use(homeRoutes(site))
  router.use(docsRoutes(site))
  router.use(languageRoutes(site))
  router.use(signInRoutes(site))
  if (site.provider) router.use(organizationRoutes(site, site.provider))
  router.use(privacyRoutes(site), signUpRoutes(site), confirmRoutes(site), forgottenRoutes(site))
  router.use(secondStepCodeRoutes(site), passwordRoutes(site), secondStepRoutes(site))
  router.use(tokenRoutes(site), sessionRoutes(site), exportRoutes(site), eraseRoutes(site))
  router.use(reportRoutes(site))
  router.use(lookFirstRoutes(site))
  router.use(sentRoutes(site))
  router.use(helpRoutes())
  router.use(outlookRoutes(site))
  router.use(thunderbirdRoutes(site))
  router.use(statisticsRoutes(site))
  router.use(historyRoutes(site))
  router.use(adviceRoutes(site))
  router.use(lettersOffRoutes(site))
  router.use(ownCopyRoutes(site))
  router.use(originalRoutes(site))
  router.use(relayRoutes(site))
  router.use(settingsRoutes(site))
  router.use(webhookRoutes(site))
  router.use(lookupRoutes(site))
  router.use(delistingRoutes(site))
  router.use(downloadRoutes(site))
  router.use(enrollRoutes(site))
  router.use(ownConsumerRoutes(site))
  router.use(deskReportRoutes(site), complaintRoutes(site))
  router.use('/admin', adminRoutes(site))
  router.use(() => {
    throw new ProblemError('not-found', 'Page not found.')
  })
  router.use(errorPages(site))
  return router
}

function pageHeaders(publicUrl: string) {
  const isSecure = publicUrl.startsWith('https:')
  return (_req: Request, res: Response, next: NextFunction): void => {
    res.setHeader('content-security-policy', contentPolicy)
    // With "no-referrer", browsers would omit the Origin of our own forms.
    res.setHeader('referrer-policy', 'same-origin')
    res.setHeader('cross-origin-opener-policy', 'same-origin')
    res.setHeader('cross-origin-resource-policy', 'same-origin')
    res.setHeader('permissions-policy', 'camera=(), microphone=(), geolocation=()')
    res.setHeader('vary', 'Accept-Language, Cookie')
    if (isSecure) res.setHeader('strict-transport-security', 'max-age=31536000')
    next()
  }
}

function errorPages(site: Pick<Site, 'log' | 'config'> & FormReader) {
  return async (error: unknown, req: Request, res: Response, next: NextFunction) => {
    void next
    if (error instanceof SignInNeeded) {
      const kept = await keepForm(req, res, site)
      if (kept) return sendSignIn(req, res, { next: '', status: 401, kept }, site.config)
      return res.redirect(303, `/sign-in?next=${encodeURIComponent(req.originalUrl)}`)
    }
    const kept = error instanceof StaleForm && keptOfStale(req, error)
    if (kept) return sendKept(req, res, kept, 403)
    const failure = failureOf(error, req, site.log)
    if (!failure || res.headersSent) return void res.destroy()
    const { texts, language } = visitOf(req)
    const { problem, status, detail, headers } = failure
    for (const [name, value] of Object.entries(headers)) {
      // A challenge would make the browser show its own password dialog.
      if (name !== 'www-authenticate') res.setHeader(name, value)
    }
    const isFramed = hasFrame(req)
    const requestId = status === 500 ? headers['x-request-id'] : undefined
    const said = refusalIn(language, detail)
    // Operators understand what programs are told, of which some exists in English only.
    const isDetailed = isFramed && said.lang === undefined && requestId === undefined
    const send = isFramed ? sendAdminPage : sendPage
    send(req, res, {
      view: 'pages/error',
      title: texts('error.title'),
      status,
      data: { sentence: isDetailed ? said.text : texts(`problems.${problem}`), requestId },
    })
  }
}
