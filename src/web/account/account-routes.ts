import { Router } from 'express'
import type { Site } from '../site.ts'
import { confirmRoutes, forgottenRoutes } from './choose-password.ts'
import { eraseRoutes } from './erase.ts'
import { exportRoutes } from './export.ts'
import { passwordRoutes } from './password.ts'
import { secondStepCodeRoutes, secondStepRoutes } from './second-step.ts'
import { sessionRoutes, tokenRoutes } from './sessions.ts'
import { privacyRoutes, signUpRoutes } from './sign-up.ts'

/** The account pages: sign-up, sign-in, settings, export and erasure. */
export function accountRoutes(site: Site): Router {
  const router = Router()
  router.use(privacyRoutes(site))
  router.use(signUpRoutes(site))
  router.use(confirmRoutes(site))
  router.use(forgottenRoutes(site))
  router.use(secondStepCodeRoutes(site))
  router.use(passwordRoutes(site))
  router.use(secondStepRoutes(site))
  router.use(tokenRoutes(site))
  router.use(sessionRoutes(site))
  router.use(exportRoutes(site))
  router.use(eraseRoutes(site))
  return router
}
