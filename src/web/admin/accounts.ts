import { type Request, Router } from 'express'
import { listAccounts, listSignUps, listStaff } from '../../db/accounts.ts'
import { type Erasure, findErasure, listErasures } from '../../db/erasures.ts'
import { type Account, countOtherAdmins, findAccount } from '../../db/reporters.ts'
import { resendConfirmation } from '../../letters/account-letters.ts'
import { storableText } from '../../mail/text.ts'
import {
  disableAccount,
  enableAccount,
  grantRole,
  inviteAccount,
  removeSecondStep,
  renameAccount,
} from '../../people/account-actions.ts'
import { eraseOnRequest } from '../../reports/erase-account.ts'
import { roles } from '../../roles.ts'
import { type Language, locales, textsIn } from '../../texts/messages.ts'
import { isUuid, queryOf } from '../pages/render.ts'
import { ProblemError } from '../problem.ts'
import { searchParamsOf } from '../search-params.ts'
import type { Site } from '../site.ts'
import { listPage, textParam } from './list-page.ts'
import { adminPage, type PageCall } from './page.ts'

const SIGN_UPS_SHOWN = 50
const ADDRESS_CHARS_MAX = 320
const ERASURES_MAX = 200

/** The page with accounts and pending sign-ups, and a page for each account. */
export function accountAdminRoutes(site: Site): Router {
  const { pool, clock } = site
  const router = Router()
  router.use(
    listPage(site, {
      view: 'admin/accounts/list',
      title: 'accounts.title',
      filters: { begin: (text) => storableText(text, ADDRESS_CHARS_MAX).toLowerCase() },
      cursor: { after: textParam(ADDRESS_CHARS_MAX) },
      read: (page) => listAccounts(pool, page),
      next: ({ email }) => ({ after: email }),
      data: async ({ req }) => ({
        roles,
        signUps: searchParamsOf(req).has('after')
          ? []
          : await listSignUps(pool, clock(), SIGN_UPS_SHOWN),
      }),
      form: {
        actions: {
          disable: disableAccount,
          enable: enableAccount,
          write: resendConfirmation,
          invite: inviteAccount,
        },
        fields: (_, form) => ({ account: form.text('id') }),
        back: (_req, _outcome, form) => `/admin/accounts${queryOf({ begin: form.text('begin') })}`,
      },
    }),
    erasureRoutes(site),
    accountRoutes(site),
  )
  return router
}

/** The page of an account, and a page for each step that cannot be undone. */
function accountRoutes(site: Site): Router {
  const router = Router()
  router.use(
    adminPage(site, {
      at: '/:id',
      view: 'admin/accounts/one',
      title: 'person.title',
      data: async ({ req }) => ({ ...(await shownAccount(req, site)), roles }),
      form: {
        actions: {
          rename: renameAccount,
          role: grantRole,
          disable: disableAccount,
          enable: enableAccount,
          'no-second-step': removeSecondStep,
          erase: eraseOnRequest,
        },
        fields: (req) => ({ account: req.params['id'] }),
        back: (req, outcome) =>
          'id' in outcome
            ? `/admin/accounts/erasures/${outcome.id}`
            : `/admin/accounts/${String(req.params['id'])}`,
      },
    }),
    adminPage(site, {
      at: '/:id/role',
      view: 'admin/step',
      title: 'steps.role.title',
      data: (call) => describeRoleStep(call, site),
    }),
    adminPage(site, {
      at: '/:id/erase',
      view: 'admin/step',
      title: 'steps.erase.title',
      data: (call) => describeErasureStep(call, site),
    }),
  )
  return router
}

async function describeRoleStep({ req, texts }: PageCall, site: Site) {
  const { account, isLast } = await shownAccount(req, site)
  if (account.role === null) throw new ProblemError('not-found', 'It has no role.')
  const role = texts(`roles.names.${account.role}`)
  return {
    lead: texts('steps.role.lead', { email: account.email, role }),
    follows: texts('steps.role.follows'),
    refusal: isLast ? texts('steps.role.last') : undefined,
    ...{ back: `/admin/accounts/${account.id}`, submit: texts('steps.role.do') },
    fields: Object.entries({ do: 'role', role: 'none' }),
  }
}

async function describeErasureStep({ req, texts }: PageCall, site: Site) {
  const { account, isLast } = await shownAccount(req, site)
  const refusal = account.state === 'erasing' ? 'person.erasing' : isLast && 'steps.erase.last'
  return {
    lead: texts('steps.erase.lead', { email: account.email }),
    follows: [
      ...texts('steps.erase.follows'),
      ...(site.config.needsFourEyes ? [texts('steps.erase.second')] : []),
    ],
    refusal: refusal ? texts(refusal) : undefined,
    ...{ back: `/admin/accounts/${account.id}`, submit: texts('steps.erase.do') },
    fields: Object.entries({ do: 'erase' }),
    choice: {
      legend: texts('steps.erase.choice'),
      name: 'how',
      options: (['keep', 'remove'] as const).map((value) => ({
        ...{ value, text: texts(`steps.erase.${value}`) },
        hint: texts(`steps.erase.${value}Hint`),
      })),
    },
  }
}

async function shownAccount(
  req: Request,
  site: Pick<Site, 'pool'>,
): Promise<{ account: Account; isLast: boolean }> {
  const account = await accountIn(req, site)
  const isAdmin = account.role === 'administrator'
  const isLast = isAdmin && (await countOtherAdmins(site.pool, account.id)) === 0
  return { account, isLast }
}

async function accountIn(req: Request, { pool }: Pick<Site, 'pool'>): Promise<Account> {
  const id = String(req.params['id'])
  const account = isUuid(id) ? await findAccount(pool, id) : undefined
  if (!account) throw new ProblemError('not-found', 'Account not found. It may have been erased.')
  return account
}

/** The erasures of the last months, and the receipt of each. */
function erasureRoutes(site: Site): Router {
  const router = Router()
  router.use(
    listPage(site, {
      at: '/erasures',
      view: 'admin/accounts/erasures',
      title: 'erasures.title',
      read: () => listErasures(site.pool, ERASURES_MAX),
    }),
    adminPage(site, {
      at: '/erasures/:id',
      view: 'admin/accounts/receipt',
      title: 'receipt.title',
      after: [eraseOnRequest],
      async data({ req }) {
        const id = String(req.params['id'])
        const erasure = isUuid(id) ? await findErasure(site.pool, id) : undefined
        if (!erasure) throw new ProblemError('not-found', 'Erasure not found. It may have ended.')
        const languages = Object.entries(locales) as [Language, string][]
        return {
          isDone: erasure.endedAt !== null,
          receipts: languages.map(([language]) => ({
            language,
            text: receiptOf(erasure, language).join('\n\n'),
          })),
        }
      },
    }),
  )
  return router
}

/** What a person gets who asked for the erasure. It contains no personal data. */
function receiptOf({ id, how, askedAt, endedAt }: Erasure, language: Language): string[] {
  const texts = textsIn(language)
  return [
    texts('receipt.asked', { at: askedAt }),
    ...(endedAt === null
      ? [texts('receipt.open')]
      : [texts(`receipt.${how}`), texts('receipt.done', { at: endedAt })]),
    texts('receipt.reference', { id }),
  ]
}

const STAFF_MAX = 500

/** The page on which roles are given. Each is taken away on a page of its own. */
export function roleAdminRoutes(site: Site): Router {
  return listPage(site, {
    view: 'admin/accounts/roles',
    title: 'roles.title',
    read: () => listStaff(site.pool, STAFF_MAX),
    data: ({ texts }) => ({
      meanings: roles.map((role) => [role, texts(`roleMeanings.${role}`)]),
      isSecondStepRequired: site.config.isSecondStepRequired,
    }),
    form: { actions: grantRole },
  })
}
