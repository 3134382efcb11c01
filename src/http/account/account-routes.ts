import { Router } from 'express'
import type { Site } from '../site.ts'
import { confirmRoutes } from './confirm.ts'
import { eraseRoutes } from './erase.ts'
import { exportRoutes } from './export.ts'
import { forgottenRoutes } from './forgotten.ts'
import { passwordRoutes } from './password.ts'
import { privacyRoutes } from './privacy.ts'
import { secondStepCodeRoutes } from './second-step-code.ts'
import { secondStepRoutes } from './second-step.ts'
import { sessionRoutes } from './sessions.ts'
import { signUpRoutes } from './sign-up.ts'
import { tokenRoutes } from './tokens.ts'

/** Accounts: how they are made, opened, looked after, taken along and erased. */
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
