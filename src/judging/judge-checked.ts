import type { App } from '../app.ts'
import type { CheckDigest } from '../parsing/parser-pool.ts'
import type { Verdict } from '../verdict/verdict.ts'
import type { Envelope } from './envelope.ts'
import { findCampaigns } from './find-campaigns.ts'
import { findNetworks } from './find-networks.ts'
import { gathered } from './gather.ts'
import type { Judge } from './judge.ts'

/** A message that a mail server asks about, read. */
export type CheckedCase = { digest: CheckDigest; envelope: Envelope }

/** Gives the verdict on a message that is checked. */
export type JudgeChecked = (one: CheckedCase) => Promise<Verdict>

/** While one round waits for the database, the next is made ready. */
const LANES = 2

/**
 * Judges messages that mail servers ask about. Those that are asked about at the same time are
 * judged together: the journeys to the database cost more than what is done there.
 */
export function createJudgeChecked(
  { pool, clock }: Pick<App, 'pool' | 'clock'>,
  judge: Judge,
): JudgeChecked {
  return gathered(async (cases) => {
    const now = clock()
    const ips = new Set(cases.flatMap(({ digest: { origin } }) => (origin ? [origin.ip] : [])))
    const [campaignIds, networks] = await Promise.all([
      findCampaigns(
        pool,
        cases.map(({ digest }) => digest.fingerprints),
        now,
      ),
      findNetworks(pool, [...ips], now),
    ])
    const judgedCases = await judge(
      cases.map(({ digest, envelope }, index) => ({
        digest,
        envelope,
        campaignId: campaignIds[index],
        network: networks.get(digest.origin?.ip ?? ''),
      })),
    )
    return judgedCases.map(({ verdict }) => verdict)
  }, LANES)
}
