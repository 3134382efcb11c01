import type { Router } from 'express'
import { listAccounts, listSignUps, listStaff } from '../../db/accounts.ts'
import { resendConfirmation } from '../../letters/account-letters.ts'
import { storableText } from '../../mail/text.ts'
import { disableAccount, enableAccount, grantRole } from '../../people/account-actions.ts'
import { roleMeanings } from '../../roles.ts'
import { message } from '../../texts/messages.ts'
import { queryOf } from '../pages/render.ts'
import { searchParamsOf } from '../search-params.ts'
import type { Site } from '../site.ts'
import { listPage, textParam } from './list-page.ts'

const SIGN_UPS_SHOWN = 50
const ADDRESS_CHARS_MAX = 320

/** The page with accounts and pending sign-ups, on which an account can be disabled. */
export function accountAdminRoutes(site: Site): Router {
  const { pool, clock } = site
  return listPage(site, {
    view: 'admin/accounts/list',
    title: 'accounts.title',
    filters: { begin: (text) => storableText(text, ADDRESS_CHARS_MAX).toLowerCase() },
    cursor: { after: textParam(ADDRESS_CHARS_MAX) },
    read: (page) => listAccounts(pool, page),
    next: ({ email }) => ({ after: email }),
    data: async ({ req }) => ({
      signUps: searchParamsOf(req).has('after')
        ? []
        : await listSignUps(pool, clock(), SIGN_UPS_SHOWN),
    }),
    form: {
      actions: { disable: disableAccount, enable: enableAccount, write: resendConfirmation },
      fields: (_, form) => ({ account: form.text('id') }),
      back: (_req, _outcome, form) => `/admin/accounts${queryOf({ begin: form.text('begin') })}`,
    },
  })
}

const STAFF_MAX = 500

/** The page on which roles are given and taken away. */
export function roleAdminRoutes(site: Site): Router {
  return listPage(site, {
    view: 'admin/accounts/roles',
    title: 'roles.title',
    read: () => listStaff(site.pool, STAFF_MAX),
    data: ({ language }) => ({
      meanings: Object.entries(roleMeanings).map(([role, meaning]) => {
        return [role, message(language, `roleMeanings.${role}`)?.text ?? meaning]
      }),
      isSecondStepRequired: site.config.isSecondStepRequired,
    }),
    form: { actions: grantRole },
  })
}
