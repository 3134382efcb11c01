import { z } from 'zod'
import { type ActionContext, defineAction, oneOf, textField } from '../actions.ts'
import {
  type CampaignDecision,
  listCampaignDecisions,
  putCampaignDecision,
  removeCampaignDecision,
} from '../db/campaign-decisions.ts'
import { noteCampaignEvents } from '../db/campaign-events.ts'
import { listCampaignHeads } from '../db/campaigns.ts'
import type { Db } from '../db/pool.ts'
import type { Network } from '../origin/networks.ts'
import { reconsiderCampaign } from '../pages/look-for-pages.ts'
import { refusal } from '../phrase.ts'
import { type CorrectedClass, verdictClasses } from '../verdict/verdict.ts'

/** Returns the decisions about a campaign. */
export type DecisionsOf = (campaignId: string | undefined) => readonly CampaignDecision[]

export async function findDecisions(
  db: Db,
  campaignOf: ReadonlyMap<string, string>,
): Promise<DecisionsOf> {
  const found = await listCampaignDecisions(db, [...new Set(campaignOf.values())])
  const byCampaign = Map.groupBy(found, ({ campaignId }) => campaignId)
  return (campaignId) => byCampaign.get(campaignId ?? '') ?? []
}

/** What decisions say about one report of the campaign. */
type Decided = {
  /** The class of the verdict, as an operator decided. */
  as: CorrectedClass | undefined
  /** Whether the abuse desk of its network acted on another report of the campaign. */
  isResolved: boolean
}

/**
 * Returns what decisions say about a report from a network. The word of a desk counts for its own
 * network only, so that it can accuse nobody else.
 */
export function decidedAbout(
  decisions: readonly CampaignDecision[],
  network: Pick<Network, 'cidr'> | undefined,
): Decided {
  const classes = decisions.flatMap(({ says }) => (says === 'resolved' ? [] : [says]))
  const isResolved = decisions.some(
    ({ says, about }) => says === 'resolved' && about === network?.cidr,
  )
  return { as: classes[0], isResolved }
}

/** What an operator can say about a campaign. */
export const decidableClasses = verdictClasses.filter((one) => one !== 'undecided')
const campaignField = z
  .uuid({ error: refusal('refused.no-campaign') })
  .meta({ argument: 'CAMPAIGN' })

/**
 * Decides what a campaign is. Its kept reports are judged again, and reports that arrive later are
 * judged accordingly.
 */
export const decideCampaign = defineAction({
  name: 'reports decide',
  summary: 'say what a campaign is; its kept reports are judged again',
  audit: 'decide campaign',
  role: 'operator',
  input: z.object({
    id: campaignField,
    says: oneOf(decidableClasses as [CorrectedClass, ...CorrectedClass[]]).meta({
      argument: 'CLASS',
    }),
    reason: textField(500, refusal('refused.reason')).meta({ option: 'why' }),
  }),
  async run(tx, { id, says, reason }, { at, reporterId, boss }: ActionContext<'boss'>) {
    const [campaign] = await listCampaignHeads(tx, [id])
    if (!campaign) return { problems: [{ message: refusal('refused.no-campaign'), field: 'id' }] }
    const decision = { campaignId: id, about: '', says, reason, decidedAt: at }
    if (!(await putCampaignDecision(tx, { ...decision, decidedBy: reporterId }))) {
      return { unchanged: 'same' }
    }
    await noteCampaignEvents(tx, [id], at)
    await reconsiderCampaign(tx, boss, id)
    return { done: 'decided', audit: `${id}: ${says}: ${reason}` }
  },
})

/** Takes back what an operator decided about a campaign. */
export const undecideCampaign = defineAction({
  name: 'reports undecide',
  summary: 'leave the verdict on a campaign to the rules again',
  audit: 'decide campaign',
  role: 'operator',
  input: z.object({ id: campaignField }),
  async run(tx, { id }, { at, boss }: ActionContext<'boss'>) {
    if (!(await removeCampaignDecision(tx, id))) return { unchanged: 'none' }
    await noteCampaignEvents(tx, [id], at)
    await reconsiderCampaign(tx, boss, id)
    return { done: 'undecided', audit: `${id}: by the rules again` }
  },
})
