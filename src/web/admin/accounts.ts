import { type Request, type Response, Router } from 'express'
import { listAccounts, listSignUps, listStaff } from '../../db/accounts.ts'
import { resendConfirmation } from '../../letters/account-letters.ts'
import { storableText } from '../../mail/text.ts'
import { disableAccount, enableAccount, grantRole } from '../../people/account-actions.ts'
import { roleMeanings } from '../../roles.ts'
import { message } from '../../texts/messages.ts'
import { queryOf } from '../pages/render.ts'
import { visitOf } from '../pages/visit.ts'
import { searchParamsOf } from '../search-params.ts'
import type { Site } from '../site.ts'
import { sendList, textParam } from './list-page.ts'
import { doneMessage, postAction, type RefusedForm } from './post-action.ts'
import { sendAdminPage } from './send-admin-page.ts'

const SIGN_UPS_SHOWN = 50
const ADDRESS_CHARS_MAX = 320

/** The page with accounts and pending sign-ups, on which an account can be disabled. */
export function accountAdminRoutes(site: Site): Router {
  const router = Router()
  router.get('/', (req, res) => sendAccounts(req, res, site))
  router.post(
    '/',
    postAction(site, {
      actions: { disable: disableAccount, enable: enableAccount, write: resendConfirmation },
      fields: (_, form) => ({ account: form.text('id') }),
      back: (_req, _outcome, form) => `/admin/accounts${queryOf({ begin: form.text('begin') })}`,
    }),
  )
  return router
}

async function sendAccounts(req: Request, res: Response, site: Site): Promise<void> {
  const isFirst = !searchParamsOf(req).has('after')
  await sendList(req, res, {
    view: 'admin/accounts/list',
    title: 'accounts.title',
    filters: { begin: (text) => storableText(text, ADDRESS_CHARS_MAX).toLowerCase() },
    cursor: { after: textParam(ADDRESS_CHARS_MAX) },
    read: (page) => listAccounts(site.pool, page),
    next: ({ email }) => ({ after: email }),
    actions: [disableAccount, enableAccount, resendConfirmation],
    data: { signUps: isFirst ? await listSignUps(site.pool, site.clock(), SIGN_UPS_SHOWN) : [] },
  })
}

const STAFF_MAX = 500

/** The page on which roles are given and taken away. */
export function roleAdminRoutes(site: Site): Router {
  const router = Router()
  router.get('/', (req, res) => sendRoles(req, res, site, { problems: [], given: {} }))
  router.post(
    '/',
    postAction(site, {
      actions: grantRole,
      back: () => '/admin/roles',
      show: (req, res, refused) => sendRoles(req, res, site, refused),
    }),
  )
  return router
}

async function sendRoles(
  req: Request,
  res: Response,
  { pool, config }: Site,
  { problems, given }: RefusedForm,
): Promise<void> {
  const { language, texts } = visitOf(req)
  sendAdminPage(req, res, {
    view: 'admin/accounts/roles',
    title: texts('roles.title'),
    status: problems.length > 0 ? 422 : 200,
    data: {
      lines: await listStaff(pool, STAFF_MAX),
      meanings: Object.entries(roleMeanings).map(([role, meaning]) => {
        return [role, message(language, `roleMeanings.${role}`)?.text ?? meaning]
      }),
      isSecondStepRequired: config.isSecondStepRequired,
      problems,
      given,
      done: doneMessage(req, grantRole),
    },
  })
}
