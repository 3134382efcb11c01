import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { defineAction } from '../actions.ts'
import type { App } from '../app.ts'
import { createCounterReader } from '../counting/reader.ts'
import { readSending } from '../counting/sending.ts'
import { type Db, inTransaction } from '../db/pool.ts'
import { closeSenderAlert, insertSenderAlert, type SuspectMessage } from '../db/sender-alerts.ts'
import { reasonOf } from '../errors.ts'
import { refusal } from '../phrase.ts'
import { sendingKeys, type SendingUser } from '../pieces/shingles/sending-user.ts'
import { alertCause } from '../verdict/reputation/sending.ts'
import { uuidv7 } from '../world.ts'

/** Watches the users of the mail server who may send spam, and raises alerts. */
export type SenderWatch = {
  /** Watches a user for a minute, because of an unwanted message or of an event. */
  note: (user: SendingUser, message?: SuspectMessage) => void
  /** Looks at the users now. Never rejects. */
  look: () => Promise<void>
  close: () => Promise<void>
}

/** Tells operators about an alert, in the transaction that stores it. */
export type AnnounceAlert = (tx: Db, alertId: string) => Promise<void>

/** Closes an alert. A new one can be raised on the next day. */
export const closeAlert = defineAction({
  name: 'senders close',
  summary: 'close an alert about a user who sends spam',
  audit: 'close sender alert',
  role: 'analyst',
  input: z.object({ id: z.uuid({ error: refusal('refused.no-alert') }).meta({ argument: 'ID' }) }),
  async run(tx, { id }, { at }) {
    const closed = await closeSenderAlert(tx, id, at)
    if (!closed) return { unchanged: 'nothing' }
    return { done: 'closed', audit: `${closed.user} ${closed.system}`.trim() }
  },
})

/** Counts reach the database within a second, and are rolled up some seconds later. */
const LOOK_MS = 5_000
const WATCHED_MS = 60_000
const USERS_MAX = 1_000
const MESSAGES_MAX = 5

type Watched = { user: SendingUser; messages: readonly SuspectMessage[]; notedAt: number }

/** Creates the watch of one process. Users are kept in memory only. */
export function createSenderWatch(
  app: Pick<App, 'pool' | 'clock' | 'log'>,
  announce: AnnounceAlert,
): SenderWatch {
  const { pool, clock, log } = app
  const watched = new LRUCache<bigint, Watched>({ max: USERS_MAX })
  const reader = createCounterReader(app, { keysMax: 1, freshMs: 0 })
  let looking: Promise<void> | undefined

  const raise = async (key: bigint, { user, messages }: Watched) => {
    const now = clock()
    const record = await readSending(reader, user, now)
    const cause = alertCause(record)
    if (!cause) return
    const { sent: sentLastHour, unwanted: unwantedLastHour } = record.lastHour
    const counts = { ...record.today, sentLastHour, unwantedLastHour }
    const alert = { id: uuidv7(now), ...user, cause, counts, messages }
    await inTransaction(pool, async (tx) => {
      if (await insertSenderAlert(tx, alert, { key, now })) await announce(tx, alert.id)
    })
    watched.delete(key)
  }

  const lookAtAll = async () => {
    const oldest = clock().getTime() - WATCHED_MS
    for (const [key, one] of watched.entries()) {
      try {
        await raise(key, one)
        if (one.notedAt < oldest) watched.delete(key)
      } catch (error) {
        log.warn({ reason: reasonOf(error) }, 'Could not look at a sending user. Will retry.')
        return
      }
    }
  }

  const look = () => (looking ??= lookAtAll().finally(() => (looking = undefined)))
  let timer: NodeJS.Timeout | undefined
  return {
    note(user, message) {
      const key = sendingKeys(user, 'sent').piece
      const before = watched.get(key)?.messages ?? []
      const messages = message ? [message, ...before].slice(0, MESSAGES_MAX) : before
      watched.set(key, { user, messages, notedAt: clock().getTime() })
      timer ??= setInterval(() => void look(), LOOK_MS).unref()
    },
    look,
    async close() {
      clearInterval(timer)
      await look()
    },
  }
}
