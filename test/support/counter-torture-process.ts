import { setTimeout as wait } from 'node:timers/promises'
import { pino } from 'pino'
import { packCounted } from '../../src/counting/count-messages.ts'
import { slotOf } from '../../src/counting/keys.ts'
import { runRollUps } from '../../src/counting/run-roll-ups.ts'
import { insertReportsToCount, replaceCountedReports } from '../../src/db/counter-rows.ts'
import { createPool, type Db, inTransaction, type Pool } from '../../src/db/pool.ts'
import { redeemCounted } from '../../src/reports/count-reports.ts'
import { systemClock } from '../../src/world.ts'
import { batchOf, gatedOf, reportsOf, REPORTS_FROM } from './counter-torture-batches.ts'
import { appendDeltas } from './increments.ts'

// One process of a torture run that may be killed: it appends, or it rolls up.
const [role, number, startMs, url = ''] = process.argv.slice(2)
const pool = createPool(url, { connectionsMax: 2, name: `${role}`, onLost: () => undefined })
process.once('disconnect', () => process.exit())
if (role === 'roll-up') runRollUps({ pool, clock: systemClock, log: pino({ level: 'silent' }) })
else await appendForever(pool, Number(number))

/**
 * Appends batches without end, each after the last committed one, whether or not a later one was
 * interrupted.
 */
async function appendForever(db: Pool, appender: number): Promise<never> {
  for (;;) {
    try {
      await inTransaction(db, async (tx) => {
        const { rows } = await tx.query<{ next: number }>(
          `select coalesce(max(batch) + 1, 0)::int as next from torture_batches where appender = $1`,
          [appender],
        )
        const batch = rows[0]?.next ?? 0
        await tx.query('insert into torture_batches (appender, batch) values ($1, $2)', [
          appender,
          batch,
        ])
        const place = [Number(startMs), appender, batch] as const
        if (appender >= REPORTS_FROM) await appendReports(tx, ...place)
        else await appendDeltas(tx, [...batchOf(...place), ...gatedOf(...place)], new Date())
      })
      await wait(10)
    } catch {
      await wait(50)
    }
  }
}

/** Stores the reports of a batch to be counted, and retracts some of the batch before. */
async function appendReports(
  tx: Db,
  start: number,
  appender: number,
  batch: number,
): Promise<void> {
  const reports = reportsOf(start, appender, batch)
  const amounts = { spam: 1, complaint: 1 }
  await replaceCountedReports(
    tx,
    reports.map(({ id, shingles }) => {
      return { id, campaignId: null, content: packCounted({ amounts, shingles }) }
    }),
  )
  const toCount = reports.map(({ id, receivedAt }) => ({ id, slot: slotOf(receivedAt) }))
  await insertReportsToCount(tx, toCount, new Date())
  const before = batch === 0 ? [] : reportsOf(start, appender, batch - 1)
  const retracted = before.filter(({ isRetracted }) => isRetracted)
  await redeemCounted(tx, retracted, new Date(start))
}
