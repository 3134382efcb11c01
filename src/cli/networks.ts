import { z } from 'zod'
import { type FoundLayer, listLayers, listOverrides, listSources } from '../db/networks.ts'
import { dateOf } from '../durations.ts'
import { dropNetworks, setNetwork, unsetNetwork } from '../feedback/network-actions.ts'
import { parseIp } from '../mail/ip.ts'
import { mergeLayers, NO_CONTACT, overriddenContacts } from '../origin/networks.ts'
import { columns, defineQuery, type Operations } from './command.ts'

const OVERRIDES_MAX = 10_000
const ipError = 'Enter an IP address.'

const showNetwork = defineQuery({
  name: 'networks show',
  summary: 'show the network and the abuse contact of an address, and their sources',
  input: z.object({
    ip: z
      .string({ error: ipError })
      .transform((text) => parseIp(text)?.text ?? '')
      .pipe(z.string().min(1, ipError))
      .meta({ argument: 'IP' }),
  }),
  async print({ ip }, { pool, clock }) {
    const layers = await listLayers(pool, [ip], clock())
    const merged = mergeLayers(layers)
    if (!merged) return `No source has a network for ${ip}.`
    const { network, from, foreign } = merged
    const origin = (layer?: FoundLayer) => (layer ? `${layer.cidr}  ${layer.source}` : '')
    const abuse = network.isMuted
      ? `${NO_CONTACT} (no feedback reports are sent)`
      : network.contacts.join(', ')
    return [
      `${ip} is in ${network.cidr}`,
      '',
      ...columns([
        ['AS', network.asn === null ? '–' : `AS${network.asn}`, origin(from.asn)],
        ['name', network.name ?? '–', origin(from.name)],
        ['country', network.country ?? '–', origin(from.country)],
        ['abuse', abuse || '–', origin(from.contacts)],
      ]),
      '',
      ...columns([
        ['block', 'source', 'since', 'until', 'says'],
        ...layers.map((layer) => [
          layer.cidr,
          layer.source,
          dayOf(layer.importedAt),
          dayOf(layer.expiresAt),
          describeOverride(layer) + (foreign.includes(layer) ? '  (of another AS, not used)' : ''),
        ]),
      ]),
    ].join('\n')
  },
})

const listNetworks = defineQuery({
  name: 'networks list',
  summary: 'list the imported tables and the overrides',
  async print(_, { pool }) {
    const page = { after: undefined, limit: OVERRIDES_MAX }
    const [sources, overrides] = await Promise.all([listSources(pool), listOverrides(pool, page)])
    return [
      ...columns([
        ['source', 'blocks', 'newest'],
        ...sources.map(({ source, blocks, importedAt }) => [
          source,
          String(blocks),
          dayOf(importedAt),
        ]),
      ]),
      ...(overrides.length === 0 ? [] : ['', 'Overrides:']),
      ...columns(overrides.map((override) => [override.cidr, describeOverride(override)])),
    ].join('\n')
  },
})

export const operations: Operations = [
  showNetwork,
  listNetworks,
  dropNetworks,
  unsetNetwork,
  setNetwork,
]

type LayerFields = Pick<FoundLayer, 'asn' | 'name' | 'country' | 'contacts' | 'isMuted'>

function describeOverride({ asn, name, country, ...said }: LayerFields): string {
  const abuse = overriddenContacts(said)
  const parts = [asn === null ? '' : `AS${asn}`, name ?? '', country ?? '']
  return [...parts.filter((part) => part !== ''), ...(abuse ? [`abuse: ${abuse}`] : [])].join(', ')
}

function dayOf(at: Date | null): string {
  return at ? dateOf(at) : '–'
}
