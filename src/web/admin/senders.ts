import { type Request, type Response, Router } from 'express'
import { createCounterReader } from '../../counting/reader.ts'
import { readSendingDays } from '../../counting/sending.ts'
import { listSenderAlerts } from '../../db/sender-alerts.ts'
import { DAY_MS } from '../../durations.ts'
import { closeAlert } from '../../judging/sender-watch.ts'
import { storableText } from '../../mail/text.ts'
import { sendingRecord } from '../../verdict/reputation/sending.ts'
import { uuidTime } from '../../world.ts'
import { visitOf } from '../pages/visit.ts'
import { searchParamsOf } from '../search-params.ts'
import type { Site } from '../site.ts'
import { doneMessage, postAction } from './post-action.ts'
import { sendAdminPage } from './send-admin-page.ts'

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
      show: (req, res, { problems }) => sendSenders(req, res, site, problems.join(' ')),
    }),
  )
  return router
}

async function sendSenders(
  req: Request,
  res: Response,
  site: Pick<Site, 'pool' | 'clock'>,
  fault?: string,
): Promise<void> {
  const given = searchParamsOf(req)
  const nameIn = (field: string) => storableText(given.get(field)?.trim() ?? '', NAME_CHARS_MAX)
  const [user, system] = [nameIn('user'), nameIn('system')]
  const alerts = await listSenderAlerts(site.pool, ALERTS_SHOWN)
  sendAdminPage(req, res, {
    view: 'admin/senders',
    title: visitOf(req).texts('senders.title'),
    status: fault === undefined ? 200 : 422,
    data: {
      user,
      system,
      found: user === '' ? undefined : await findSending(site, { user, system }),
      alerts: alerts.map((alert) => ({ ...alert, at: uuidTime(alert.id) })),
      href: (one: { user: string; system: string }) =>
        `/admin/senders?${new URLSearchParams({ user: one.user, system: one.system }).toString()}`,
      done: doneMessage(req, closeAlert),
      fault,
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
