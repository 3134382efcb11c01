import { hash } from 'node:crypto'
import type { Fingerprints } from '../analysis/fingerprints/fingerprints-of.ts'
import type { App } from '../app.ts'
import { isOutage } from '../db/outage.ts'
import { reasonOf, sqlState } from '../errors.ts'
import type { CheckDigest } from '../parsing/parser-pool.ts'
import type { Verdict } from '../verdict/verdict.ts'
import type { Envelope } from './envelope.ts'
import { findCampaigns } from './find-campaigns.ts'
import { findNetworks } from './find-networks.ts'
import { gathered } from './gather.ts'
import { remembering } from './remembering.ts'
import type { Judge } from './judge.ts'

/** A message that a mail server asks about, read. */
export type CheckedCase = { digest: CheckDigest; envelope: Envelope }

/**
 * Gives the verdict on a message that is checked; undefined where the message itself is what makes
 * it fail, now or ever. Rejects when what is known could not be asked.
 */
export type JudgeChecked = (one: CheckedCase) => Promise<Verdict | undefined>

type Needs = Pick<App, 'pool' | 'clock' | 'log'>
type JudgeAll = (cases: readonly CheckedCase[]) => Promise<readonly Verdict[]>

/** While one round waits for the database, the next is made ready. */
const LANES = 2
/** Campaigns and networks change slowly, and mail comes in waves. */
const MEMORY = { keysMax: 20_000, freshMs: 10_000 }

/**
 * Judges messages that mail servers ask about. Those that are asked about at the same time are
 * judged together: the journeys to the database cost more than what is done there. Where one of
 * them fails, each is judged alone: nobody may spoil the verdicts on the mail of others.
 */
export function createJudgeChecked(app: Needs, judge: Judge): JudgeChecked {
  const judgeAll = createJudgeAll(app, judge)
  const judgeAlone = async (one: CheckedCase): Promise<Verdict | undefined> => {
    try {
      return (await judgeAll([one]))[0]
    } catch (error) {
      if (isOfDatabase(error)) throw error
      app.log.warn({ reason: reasonOf(error) }, 'A checked message was not judged.')
      return undefined
    }
  }
  return gathered(async (cases) => {
    try {
      return await judgeAll(cases)
    } catch (error) {
      if (isOfDatabase(error)) throw error
      return Promise.all(cases.map(judgeAlone))
    }
  }, LANES)
}

function isOfDatabase(error: unknown): boolean {
  return isOutage(error) || sqlState(error) !== undefined
}

function createJudgeAll({ pool, clock }: Needs, judge: Judge): JudgeAll {
  const campaignsOf = remembering(
    (prints: readonly Fingerprints[]) => findCampaigns(pool, prints, clock()),
    clock,
    MEMORY,
  )
  const networksOf = remembering(
    async (ips: readonly string[]) => {
      const found = await findNetworks(pool, ips, clock())
      return ips.map((ip) => found.get(ip))
    },
    clock,
    MEMORY,
  )
  return async (cases) => {
    const [campaignIds, networks] = await Promise.all([
      campaignsOf(
        cases.map(({ digest: { fingerprints } }) => {
          return { key: hash('md5', JSON.stringify(fingerprints)), question: fingerprints }
        }),
      ),
      networksOf(
        cases.map(({ digest: { origin } }) => ({
          key: origin?.ip ?? '',
          question: origin?.ip ?? '',
        })),
      ),
    ])
    const judged = await judge(
      cases.map(({ digest, envelope }, index) => ({
        digest,
        envelope,
        campaignId: campaignIds[index],
        network: networks[index],
      })),
    )
    return judged.map(({ verdict }) => verdict)
  }
}
