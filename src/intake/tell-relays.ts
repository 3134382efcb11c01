import { inTransaction, type Db, type Pool } from '../db/pool.ts'
import { insertEvents } from '../db/report-events.ts'
import { listRelays, putRelays, removeRelay, trimRelays } from '../db/reporter-relays.ts'
import type { Boss } from '../queue/boss.ts'
import { reopenAskedReports } from '../queue/reopen-reports.ts'
import type { Clock } from '../world.ts'

type Needs = { pool: Pool; boss: Boss; clock: Clock }

/** What a reporter says of a machine: that it is theirs or their provider's, or that it is not. */
export type RelayStatement = { cidr: string; name: string | null; how: 'set' | 'refused' }

/** How many relays a reporter may name. */
export const RELAYS_MAX = 50
const REFUSED_MAX = 200

/**
 * Writes down what a reporter says of relays, and has the reports looked at again that waited for
 * it. `full`: the reporter has named as many as anybody may, and nothing was changed.
 */
export async function tellRelays(
  app: Needs,
  reporterId: string,
  statements: readonly RelayStatement[],
): Promise<'done' | 'full'> {
  return inTransaction(app.pool, (tx) => tell(tx, app, reporterId, statements, app.clock()))
}

/** Forgets a relay, however it came to be known. False when there is none. */
export async function forgetRelay(app: Needs, reporterId: string, cidr: string): Promise<boolean> {
  return inTransaction(app.pool, (tx) => removeRelay(tx, reporterId, cidr))
}

/**
 * Takes the answer to the question that a report asks. `undefined` statements: the reporter does
 * not know, and nothing changes but the story of the report.
 */
export async function answerQuestion(
  app: Needs,
  report: { id: string; reporterId: string },
  statements: readonly RelayStatement[] | undefined,
): Promise<'done' | 'full'> {
  const now = app.clock()
  const mine = statements?.filter(({ how }) => how === 'set').length ?? 0
  const detail = !statements
    ? 'The reporter does not know which of the machines belong to the mail provider.'
    : mine > 0
      ? `The reporter says of ${mine} of the machines that they belong to the mail provider.`
      : 'The reporter says that none of the machines belongs to the mail provider.'
  return inTransaction(app.pool, async (tx) => {
    // The answer stands before what follows from it in the story.
    const later = new Date(now.getTime() + 1)
    const told = statements ? await tell(tx, app, report.reporterId, statements, later) : 'done'
    if (told === 'full') return told
    await insertEvents(tx, [{ reportId: report.id, at: now, event: 'answered', detail }])
    return told
  })
}

async function tell(
  tx: Db,
  app: Pick<Needs, 'boss'>,
  reporterId: string,
  statements: readonly RelayStatement[],
  now: Date,
): Promise<'done' | 'full'> {
  const said = new Map(statements.map((statement) => [statement.cidr, statement]))
  const known = await listRelays(tx, reporterId)
  const isSet = (cidr: string) => known.some((one) => one.cidr === cidr && one.how === 'set')
  const wanted = [...said.values()].filter(({ how, cidr }) => how === 'set' && !isSet(cidr))
  const named = known.filter(({ how }) => how === 'set').length
  if (wanted.length > 0 && named + wanted.length > RELAYS_MAX) return 'full'
  const changed = await putRelays(tx, reporterId, [...said.values()], now)
  await trimRelays(tx, reporterId, 'refused', REFUSED_MAX)
  if (changed > 0) await reopenAskedReports(tx, app.boss, reporterId, now)
  return 'done'
}
