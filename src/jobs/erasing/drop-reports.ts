import type { App } from '../../app.ts'
import { type ReportToErase, removeReports } from '../../db/erased-reports.ts'
import type { Erasure } from '../../db/erasures.ts'
import { withdrawFeedback } from '../../db/feedback-waiting.ts'
import type { Db } from '../../db/pool.ts'
import type { Account } from '../../db/reporters.ts'
import { retractIn } from '../../intake/retract-report.ts'

/** What is worked on, and whether what is still to leave is waited for. */
export type ErasingWork = { erasure: Erasure; account: Account; isPatient: boolean; now: Date }

/**
 * Takes reports back as their reporter would, and removes those whose retraction has been worked:
 * counted no more, and whoever had been told is told. Returns how many were removed.
 */
export async function dropReports(
  tx: Db,
  reports: readonly ReportToErase[],
  { isPatient, now }: ErasingWork,
  app: Pick<App, 'boss' | 'clock'>,
): Promise<number> {
  for (const { id, state } of reports) {
    if (state !== 'retracted') await retractIn(tx, app, id, { isReporter: true })
  }
  const ready = reports.filter(
    ({ state, isCounted, isLeaving }) =>
      state === 'retracted' && !isCounted && (!isLeaving || !isPatient),
  )
  // What is held never leaves by itself, and nobody waits for it.
  for (const { id, isTold } of ready) if (isTold) await withdrawFeedback(tx, id, now)
  const ids = ready.map(({ id }) => id)
  if (ids.length > 0) await removeReports(tx, ids)
  return ids.length
}
