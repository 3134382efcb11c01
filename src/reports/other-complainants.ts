import { DAY_MS } from '../durations.ts'
import { findWitnesses } from '../db/campaigns.ts'
import type { Db } from '../db/pool.ts'
import type { Report } from '../db/reports.ts'
import { countComplainants, unpackWitnesses } from '../verdict/reputation/karma.ts'
import { uuidTime } from '../world.ts'

/**
 * Returns by report how many other reporters complained about its campaign, independently of each
 * other and of its reporter; at most three.
 */
export async function countOtherComplainants(
  db: Db,
  reports: readonly Pick<Report, 'id' | 'reporterId'>[],
  campaignOf: ReadonlyMap<string, string>,
): Promise<ReadonlyMap<string, number>> {
  const found = await findWitnesses(db, [...new Set(campaignOf.values())])
  const witnessesOf = new Map(
    found.map(({ campaignId, content }) => [campaignId, unpackWitnesses(content)]),
  )
  return new Map(
    reports.map(({ id, reporterId }) => {
      const witnesses = witnessesOf.get(campaignOf.get(id) ?? '') ?? []
      const signUpDay = Math.floor(uuidTime(reporterId).getTime() / DAY_MS)
      return [id, countComplainants(witnesses, { reporterId, signUpDay })]
    }),
  )
}
