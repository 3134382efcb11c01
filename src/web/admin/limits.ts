import { Router } from 'express'
import { type Attempt, listRateLimits, type RateLimit } from '../../db/limits.ts'
import type { Db } from '../../db/pool.ts'
import { findReporter, listReporterEmails } from '../../db/reporters.ts'
import { findRawMessage } from '../../db/reports.ts'
import { listFoundReports } from '../../db/search.ts'
import { findShadowBan, listHeldReports, listShadowBans } from '../../db/shadow-bans.ts'
import {
  limitBehaviors,
  limitText,
  mayHold,
  saveLimits,
  usualLimit,
} from '../../people/limit-actions.ts'
import { listBusiest } from '../../people/limits.ts'
import {
  banReporter,
  dropHeldReports,
  liftBan,
  releaseHeldReports,
} from '../../reports/shadow-bans.ts'
import type { Form } from '../pages/form.ts'
import { isUuid, sendMessage } from '../pages/render.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { listPage, uuidParam } from './list-page.ts'
import { adminPage } from './page.ts'
import type { RefusedForm } from './post-action.ts'
import { requireRole } from './require-role.ts'

/** The group in which the page shows the limits of an attempt. */
const groupOf = {
  report: 'reports',
  'mail-in': 'reports',
  'mailbox-user': 'reports',
  provider: 'reports',
  read: 'reading',
  lookup: 'reading',
  'sign-in': 'signIn',
  'sign-in-device': 'signIn',
  password: 'signIn',
  'sign-up': 'accounts',
  reset: 'accounts',
  confirm: 'accounts',
  enroll: 'accounts',
  webhook: 'accounts',
  form: 'letters',
  'letter-owner': 'letters',
  'letter-stranger': 'letters',
} as const satisfies Record<Attempt, string>

/** The length in seconds of each unit of windows, the longest first. */
const units = { days: 86_400, hours: 3_600, minutes: 60, seconds: 1 } as const

/**
 * The page to view and change rate limits. A change takes effect in all processes within two
 * seconds.
 */
export function limitRoutes(site: Site): Router {
  return adminPage(site, {
    view: 'admin/limits/limits',
    title: 'limits.title',
    async data({ refused }) {
      const limits = await listRateLimits(site.pool)
      const busiest = await listBusiest(
        site.pool,
        limits.filter(({ behavior }) => behavior !== 'off'),
      )
      const rows = limits
        .toSorted((one, other) => placeOf(one) - placeOf(other) || one.windowMs - other.windowMs)
        .map((limit) => describeLimit(limit, busiest.get(limit.name), refused))
      const groups = [...new Set(Object.values(groupOf))].map((group) => ({
        group,
        rows: rows.filter(({ attempt }) => groupOf[attempt] === group),
      }))
      return { groups: groups.filter((one) => one.rows.length > 0), units: Object.keys(units) }
    },
    form: { actions: saveLimits, fields: (_, form) => ({ limits: readLimits(form) }) },
  })
}

function placeOf({ attempt }: RateLimit): number {
  return Object.keys(groupOf).indexOf(attempt)
}

function describeLimit(limit: RateLimit, used: number | undefined, refused?: RefusedForm) {
  const { name, attempt, keyKind, attemptsMax } = limit
  const usual = usualLimit(name)
  const shown = limitText(limit)
  const fields = {
    attempts: String(attemptsMax),
    ...windowOf(limit),
    behavior: limit.behavior as string,
  }
  const typed = Object.keys(fields).flatMap((field) => {
    const text = refused?.given[`${name}.${field}`]
    return text === undefined ? [] : [[field, text] as const]
  })
  const next = { ...fields, ...Object.fromEntries(typed) }
  return {
    ...{ ...limit, ...windowOf(limit), shown, fields: next },
    // The user of a mailbox is not the account that reports for it.
    per: attempt === 'mailbox-user' ? 'mailbox-user' : keyKind,
    usual: usual && limitText(usual) !== shown ? { ...usual, ...windowOf(usual) } : undefined,
    isEdited: typed.some(([field, text]) => fields[field as keyof typeof fields] !== text),
    problems: refused?.problems.filter((one) => new RegExp(`^${name}\\s?:`).test(one)) ?? [],
    used,
    share: (used ?? 0) / attemptsMax,
    behaviors: limitBehaviors.filter((one) => one !== 'shadow' || mayHold(limit)),
  }
}

/** A window in the longest unit of which it is a multiple. */
function windowOf({ windowMs }: Pick<RateLimit, 'windowMs'>) {
  const seconds = windowMs / 1_000
  const unit = unitNames.find((one) => seconds % units[one] === 0) ?? 'seconds'
  return { window: String(seconds / units[unit]), unit }
}

const unitNames = Object.keys(units) as (keyof typeof units)[]

/** The limits in a form, by name. Each field is called `limit.field`. */
function readLimits(form: Form): Record<string, Record<string, string>> {
  const limits = new Map<string, Record<string, string>>()
  for (const [path, text] of form.fields()) {
    const [name = '', field] = path.split('.')
    if (field !== undefined) limits.set(name, { ...limits.get(name), [field]: text })
  }
  for (const fields of limits.values()) {
    const unit = unitNames.find((one) => one === fields['unit'])
    const window = fields['window'] ?? ''
    const seconds = unit && /^\d{1,10}(\.\d{1,3})?$/.test(window) && Number(window) * units[unit]
    // In thousandths, because 1.1 hours are not exactly 3,960 s in floating point.
    fields['seconds'] = seconds ? String(Math.round(seconds * 1_000) / 1_000) : window
  }
  return Object.fromEntries(limits)
}

const HELD_SHOWN = 50

/** The page with reporters whose reports are held, and the decisions about them. */
export function shadowRoutes(site: Site): Router {
  const { pool } = site
  const latest = { reporterId: undefined, before: undefined, limit: HELD_SHOWN }
  const router = Router()
  router.use(
    listPage(site, {
      view: 'admin/limits/bans',
      title: 'bans.title',
      cursor: { before: uuidParam },
      read: async (page) => withEmails(await listShadowBans(pool, page), pool),
      next: ({ reporterId }) => ({ before: reporterId }),
      data: async () => ({ held: await withEmails(await listHeldReports(pool, latest), pool) }),
      form: {
        actions: banReporter,
        back: (_, outcome) => `/admin/limits/shadow/${'id' in outcome ? outcome.id : ''}`,
      },
    }),
    listPage(site, {
      at: '/:id',
      view: 'admin/limits/banned',
      title: 'bans.held',
      cursor: { before: uuidParam },
      read: async (page, { req }) => {
        const { id: reporterId } = await requireBanned(req.params['id'], site)
        const rows = await listHeldReports(pool, { ...page, reporterId })
        const found = await listFoundReports(
          pool,
          rows.map(({ id }) => id),
        )
        const foundOf = new Map(found.map((one) => [one.id, one]))
        return rows.map((row) => ({ ...foundOf.get(row.id), ...row }))
      },
      next: ({ id }) => ({ before: id }),
      data: async ({ req }) => {
        const account = await requireBanned(req.params['id'], site)
        return { account, ban: await findShadowBan(pool, account.id) }
      },
      form: {
        actions: { lift: liftBan, release: releaseHeldReports, drop: dropHeldReports },
        fields: (req) => ({ reporter: req.params['id'] }),
        many: 'report',
      },
      after: [banReporter],
    }),
  )
  router.get('/reports/:id/message.eml', requireRole(site, 'analyst'), async (req, res) => {
    const { id } = req.params
    const raw = isUuid(id) ? await findRawMessage(pool, id) : undefined
    if (!raw) throw new ProblemError('not-found', 'The message has been deleted.')
    await sendMessage(res, `${id}.eml`, raw, 'other')
  })
  return router
}

async function requireBanned(id: unknown, { pool }: Site) {
  const reporter = isUuid(id) ? await findReporter(pool, id) : undefined
  if (!reporter) throw new ProblemError('not-found', 'Reporter not found.')
  return reporter
}

async function withEmails<Row extends { reporterId: string }>(rows: readonly Row[], pool: Db) {
  const ids = rows.map(({ reporterId }) => reporterId)
  const emails = await listReporterEmails(pool, ids)
  return rows.map((row) => ({ ...row, email: emails.get(row.reporterId) }))
}
