import { type Request, type Response, Router } from 'express'
import { createCounterReader } from '../../counting/reader.ts'
import { readSendingDays } from '../../counting/sending.ts'
import { listSenderAlerts } from '../../db/sender-alerts.ts'
import { DAY_MS } from '../../durations.ts'
import { closeAlert } from '../../judging/sender-watch.ts'
import { sendingRecord } from '../../verdict/reputation/sending.ts'
import { uuidTime } from '../../world.ts'
import { queryOf } from '../pages/render.ts'
import type { Site } from '../site.ts'
import { readParams, sendList, textParam } from './list-page.ts'
import { postAction, type RefusedForm } from './post-action.ts'

const ALERTS_SHOWN = 100
const NAME_CHARS_MAX = 320

/** The page with the alerts about sending users, and the reputation of a user. */
export function senderRoutes(site: Site): Router {
  const router = Router()
  router.get('/', (req, res) => sendSenders(req, res, site))
  router.post(
    '/',
    postAction(site, {
      actions: closeAlert,
      back: () => '/admin/senders',
      show: (req, res, refused) => sendSenders(req, res, site, refused),
    }),
  )
  return router
}

async function sendSenders(
  req: Request,
  res: Response,
  site: Pick<Site, 'pool' | 'clock'>,
  refused?: RefusedForm,
): Promise<void> {
  const userOf = textParam(NAME_CHARS_MAX)
  const filters = { user: userOf, system: userOf }
  const { user, system = '' } = readParams(req, filters)
  await sendList(req, res, {
    view: 'admin/senders',
    title: 'senders.title',
    filters,
    read: async () => {
      const alerts = await listSenderAlerts(site.pool, ALERTS_SHOWN)
      return alerts.map((alert) => ({ ...alert, at: uuidTime(alert.id) }))
    },
    actions: [closeAlert],
    refused,
    data: {
      found: user === undefined ? undefined : await findSending(site, { user, system }),
      href: (one: { user: string; system: string }) =>
        `/admin/senders${queryOf({ user: one.user, system: one.system })}`,
      ALERTS_SHOWN,
    },
  })
}

/** Returns the days and the reputation of a user; counts are those in the database. */
async function findSending(
  site: Pick<Site, 'pool' | 'clock'>,
  user: { user: string; system: string },
) {
  const now = site.clock()
  const reader = createCounterReader(site, { keysMax: 1, freshMs: 0 })
  const days = await readSendingDays(reader, user, now)
  const dated = days.map((day) => ({
    ...day,
    date: new Date(now.getTime() - day.daysAgo * DAY_MS).toISOString().slice(0, 10),
  }))
  return { days: dated, record: sendingRecord(days) }
}
