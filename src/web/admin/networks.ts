import type { Router } from 'express'
import { findOverride, type FoundLayer, listLayers, listOverrides } from '../../db/networks.ts'
import { setNetwork, unsetNetwork } from '../../feedback/network-actions.ts'
import { parseBlock } from '../../mail/ip-blocks.ts'
import { parseIp } from '../../mail/ip.ts'
import { storableText } from '../../mail/text.ts'
import { mergeLayers, overrideFields, type OverrideFields } from '../../origin/networks.ts'
import { queryOf } from '../pages/render.ts'
import { searchParamsOf } from '../search-params.ts'
import type { Site } from '../site.ts'
import { listPage } from './list-page.ts'
import type { PageCall } from './page.ts'

const ADDRESS_CHARS_MAX = 64

/**
 * The page that shows the abuse contact of an address and its sources, with a form to override it.
 */
export function networkRoutes(site: Site): Router {
  return listPage(site, {
    view: 'admin/networks',
    title: 'networks.title',
    cursor: { after: parseBlock },
    read: async (page) => {
      const rows = await listOverrides(site.pool, page)
      return rows.map((row) => ({ ...row, ...overrideFields(row) }))
    },
    next: ({ cidr }) => ({ after: cidr }),
    data: (call) => describeAddress(call, site),
    form: {
      actions: { set: setNetwork, unset: unsetNetwork },
      // For an empty field, the value of the imported tables stays in effect.
      fields: (_, form) => {
        const text = (name: string) => form.text(name) ?? ''
        const [abuse, name, asn, country] = ['abuse', 'name', 'asn', 'country'].map(text)
        return { abuse, name, asn, country }
      },
      back: (_req, _outcome, form) => `/admin/networks${queryOf({ ip: form.text('ip') })}`,
    },
  })
}

async function describeAddress({ req, texts, refused }: PageCall, site: Site) {
  const given = searchParamsOf(req)
  const text = storableText(given.get('ip')?.trim() ?? '', ADDRESS_CHARS_MAX)
  const ip = parseIp(text)?.text
  const faults = text !== '' && ip === undefined ? [texts('networks.notIp')] : []
  const layers = ip === undefined ? [] : await listLayers(site.pool, [ip], site.clock())
  const merged = mergeLayers(layers)
  const block = parseBlock(given.get('cidr') ?? '') ?? blockToOverride(ip, layers)
  return {
    problems: [...(refused?.problems ?? []), ...faults],
    form: refused?.given ?? (await formFor(block, site)),
    ...{ text, ip, merged },
    layers: layers.map((layer) => ({
      ...layer,
      isForeign: merged?.foreign.includes(layer),
      isFirst: Object.fromEntries(
        Object.entries(merged?.from ?? {}).map(([field, from]) => [field, from === layer]),
      ),
    })),
  }
}

/** Returns the block of an existing override, otherwise the block of the address. */
function blockToOverride(ip: string | undefined, layers: readonly FoundLayer[]) {
  const byHand = layers.filter(({ source }) => source === 'manual')
  return mergeLayers(byHand.length > 0 ? byHand : layers)?.network.cidr ?? ip
}

async function formFor(block: string | undefined, site: Site): Promise<OverrideFields> {
  const empty = { cidr: block ?? '', abuse: '', name: '', asn: '', country: '' }
  const cidr = block === undefined ? undefined : parseBlock(block)
  const known = cidr === undefined ? undefined : await findOverride(site.pool, cidr)
  return known ? overrideFields(known) : empty
}
