import type { Router } from 'express'
import { createCounterReader } from '../../counting/reader.ts'
import { readSendingDays } from '../../counting/sending.ts'
import { listSenderAlerts } from '../../db/sender-alerts.ts'
import { dateOf, DAY_MS } from '../../durations.ts'
import { closeAlert } from '../../judging/sender-watch.ts'
import { sendingRecord } from '../../verdict/reputation/sending.ts'
import { uuidTime } from '../../world.ts'
import { queryOf } from '../pages/render.ts'
import type { Site } from '../site.ts'
import { listPage, readParams, textParam } from './list-page.ts'

const ALERTS_SHOWN = 100
const NAME_CHARS_MAX = 320

/** The page with the alerts about sending users, and the reputation of a user. */
export function senderRoutes(site: Site): Router {
  const userOf = textParam(NAME_CHARS_MAX)
  const filters = { user: userOf, system: userOf }
  return listPage(site, {
    view: 'admin/senders',
    title: 'senders.title',
    filters,
    read: async () => {
      const alerts = await listSenderAlerts(site.pool, ALERTS_SHOWN)
      return alerts.map((alert) => ({ ...alert, at: uuidTime(alert.id) }))
    },
    data: async ({ req }) => {
      const { user, system = '' } = readParams(req, filters)
      return {
        found: user === undefined ? undefined : await findSending(site, { user, system }),
        href: (one: { user: string; system: string }) =>
          `/admin/senders${queryOf({ user: one.user, system: one.system })}`,
        ALERTS_SHOWN,
      }
    },
    form: { actions: closeAlert },
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
    date: dateOf(new Date(now.getTime() - day.daysAgo * DAY_MS)),
  }))
  return { days: dated, record: sendingRecord(days) }
}
