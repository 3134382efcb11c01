import { z } from 'zod'
import { textField } from '../actions.ts'
import { createCounterReader } from '../counting/reader.ts'
import { readSendingDays } from '../counting/sending.ts'
import { listSenderAlerts } from '../db/sender-alerts.ts'
import { closeAlert } from '../judging/sender-watch.ts'
import { sendingRecord } from '../verdict/reputation/sending.ts'
import { uuidTime } from '../world.ts'
import { defineQuery, type Operations } from './command.ts'

const ALERTS_SHOWN = 1_000

const list = defineQuery({
  name: 'senders list',
  summary: 'list the alerts about users who send spam, as JSON lines, open ones first',
  async print(_, { pool }) {
    const alerts = await listSenderAlerts(pool, ALERTS_SHOWN)
    return alerts.map((one) => JSON.stringify({ ...one, at: uuidTime(one.id) })).join('\n')
  },
})

const show = defineQuery({
  name: 'senders show',
  summary: 'show what a user of the mail server sent, by day, as JSON',
  input: z.object({
    user: textField(320, 'Enter a login name.').meta({ argument: 'USER' }),
    system: z.string().default('').meta({ value: 'NAME' }),
  }),
  async print(user, { pool, clock }) {
    const reader = createCounterReader({ pool, clock }, { keysMax: 1, freshMs: 0 })
    const days = await readSendingDays(reader, user, clock())
    return JSON.stringify({ ...user, ...sendingRecord(days), days }, null, 2)
  },
})

export const operations: Operations = [list, show, closeAlert]
