import { findAccount } from '../../db/reporters.ts'
import { listProposedDeletions } from '../../db/proposed-deletions.ts'
import { listSimulations } from '../../db/simulations.ts'
import type { SureCode } from '../pages/sure.ts'
import { isUuid } from '../pages/render.ts'
import type { Site } from '../site.ts'

type Given = Readonly<Record<string, unknown>>
type Needs = Pick<Site, 'pool' | 'clock'>

/** How a page asks before an action: with which texts, and the name of what is lost. */
type SureAction = {
  code: SureCode
  nameOf: (given: Given, site: Needs) => string | Promise<string>
}

/**
 * The actions of operators that cannot be undone, or not without entering something again, by their
 * names: a form that asks for one leads to a page that names the person, list or proposal.
 */
export const sureActions: Readonly<Record<string, SureAction>> = {
  'account disable': { code: 'account', nameOf: emailIn('account') },
  'account no-second-step': { code: 'second-step', nameOf: emailIn('account') },
  'bans drop': { code: 'held', nameOf: emailIn('reporter') },
  'deletions confirm': { code: 'proposal', nameOf: proposalIn },
  'marketers remove': { code: 'marketer', nameOf: textIn('key') },
  'marketers reset': { code: 'service', nameOf: textIn('key') },
  'networks restore': { code: 'correction', nameOf: correctionIn },
  'networks unset': { code: 'override', nameOf: textIn('cidr') },
  'pages contacts unset': { code: 'override', nameOf: textIn('name') },
  'reports forget-search': { code: 'search', nameOf: textIn('name') },
  'rule-lists delete': { code: 'rule-list', nameOf: textIn('list') },
  'simulations end': { code: 'simulation-end', nameOf: simulationIn },
  'simulations remove': { code: 'simulation', nameOf: simulationIn },
}

function textIn(field: string) {
  return (given: Given) => String(given[field] ?? '')
}

function correctionIn({ cidr, address }: Given) {
  return `${String(cidr)} (${String(address)})`
}

function emailIn(field: string) {
  return async (given: Given, { pool }: Needs) => {
    const text = textIn(field)(given)
    return (isUuid(text) ? (await findAccount(pool, text))?.email : undefined) ?? text
  }
}

const PROPOSALS_MAX = 500

async function proposalIn({ id }: Given, { pool, clock }: Needs): Promise<string> {
  const proposals = await listProposedDeletions(pool, clock(), PROPOSALS_MAX)
  const one = proposals.find((proposal) => proposal.id === id)
  return one ? `${one.action}: ${one.detail}` : String(id)
}

const SIMULATIONS_MAX = 500

async function simulationIn({ id }: Given, { pool }: Needs): Promise<string> {
  const known = await listSimulations(pool, { before: undefined, limit: SIMULATIONS_MAX })
  return known.find((simulation) => simulation.id === id)?.name ?? String(id)
}
