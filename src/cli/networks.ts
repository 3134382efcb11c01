import { parseArgs } from 'node:util'
import type { App } from '../app.ts'
import { insertAudit } from '../db/audit-log.ts'
import {
  dropSource,
  findOverride,
  type FoundLayer,
  keepOverride,
  listLayers,
  listOverrides,
  listSources,
  removeOverride,
  tidyNetworks,
} from '../db/networks.ts'
import { inTransaction } from '../db/pool.ts'
import { UsageError } from '../errors.ts'
import { parseBlock } from '../mail/ip-blocks.ts'
import { parseIp } from '../mail/ip.ts'
import {
  manualSource,
  mergeLayers,
  NOBODY,
  overrideFields,
  type OverrideFields,
  readOverride,
} from '../origin/networks.ts'

/** The subcommands of `networks`. Omitted fields are not changed. */
export type NetworksRequest =
  | { action: 'show'; ip: string }
  | { action: 'set'; cidr: string; fields: Partial<OverrideFields> }
  | { action: 'unset'; cidr: string }
  | { action: 'list' }
  | { action: 'drop'; source: string }

/** Parses `show IP`, `set CIDR [--abuse A,B] …`, `unset CIDR`, `list` or `drop SOURCE`. */
export function parseNetworks(args: readonly string[]): NetworksRequest {
  const text = { type: 'string' } as const
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { abuse: text, name: text, asn: text, country: text },
  })
  const [action, what, ...rest] = positionals
  const isSaying = Object.keys(values).length > 0
  if (rest.length === 0 && (action === 'set' || !isSaying)) {
    if (action === 'list' && what === undefined) return { action }
    if (action === 'drop' && what !== undefined) return { action, source: sourceOf(what) }
    if (action === 'show' && what !== undefined) return { action, ip: addressOf(what) }
    if (action === 'unset' && what !== undefined) return { action, cidr: blockOf(what) }
    if (action === 'set' && what !== undefined && isSaying) {
      return { action, cidr: blockOf(what), fields: values }
    }
  }
  throw new UsageError([
    'Use "networks show IP", "networks set CIDR" with at least one option, "networks unset CIDR",',
    '"networks list" or "networks drop SOURCE".',
  ])
}

type Needs = Pick<App, 'pool' | 'clock'>

const OVERRIDES_MAX = 10_000

/** Runs the subcommand and returns its output. */
export async function runNetworks(request: NetworksRequest, app: Needs): Promise<string> {
  switch (request.action) {
    case 'show':
      return show(request.ip, app)
    case 'set':
      return set(request.cidr, request.fields, app)
    case 'unset':
      return unset(request.cidr, app)
    case 'list':
      return list(app)
    case 'drop':
      return drop(request.source, app)
  }
}

function addressOf(text: string): string {
  const address = parseIp(text)
  if (!address) throw new UsageError([`"${text}" is not an IP address.`])
  return address.text
}

function blockOf(text: string): string {
  const cidr = parseBlock(text)
  if (cidr === undefined) throw new UsageError([`"${text}" is not a CIDR block.`])
  return cidr
}

function sourceOf(text: string): string {
  if (text !== manualSource) return text
  throw new UsageError([
    'Overrides cannot be dropped together. Remove each with "networks unset CIDR".',
  ])
}

async function show(ip: string, app: Needs): Promise<string> {
  const layers = await listLayers(app.pool, [ip], app.clock())
  const merged = mergeLayers(layers)
  if (!merged) return `No source has a network for ${ip}.`
  const { network, from, foreign } = merged
  const origin = (layer?: FoundLayer) => (layer ? `${layer.cidr}  ${layer.source}` : '')
  const abuse = network.isMuted
    ? `${NOBODY} (no feedback reports are sent)`
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
        saidBy(layer) + (foreign.includes(layer) ? '  (of another AS, not used)' : ''),
      ]),
    ]),
  ].join('\n')
}

async function set(cidr: string, fields: Partial<OverrideFields>, app: Needs): Promise<string> {
  return inTransaction(app.pool, async (tx) => {
    const known = await findOverride(tx, cidr)
    const empty = { abuse: '', name: '', asn: '', country: '' }
    const override = readOverride({
      ...(known ? overrideFields(known) : empty),
      ...fields,
      cidr,
    })
    if ('faults' in override) throw new UsageError(override.faults)
    await keepOverride(tx, override, { at: app.clock(), reporterId: null })
    return `${cidr}  ${saidBy(override)}`
  })
}

async function unset(cidr: string, app: Needs): Promise<string> {
  const deed = { at: app.clock(), reporterId: null }
  const isGone = await inTransaction(app.pool, (tx) => removeOverride(tx, cidr, deed))
  return isGone ? `Removed the override for ${cidr}.` : `There is no override for ${cidr}.`
}

async function list(app: Needs): Promise<string> {
  const page = { after: undefined, limit: OVERRIDES_MAX }
  const [sources, overrides] = await Promise.all([
    listSources(app.pool),
    listOverrides(app.pool, page),
  ])
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
    ...columns(overrides.map((override) => [override.cidr, saidBy(override)])),
  ].join('\n')
}

async function drop(source: string, app: Needs): Promise<string> {
  const blocks = await inTransaction(app.pool, async (tx) => {
    const dropped = await dropSource(tx, source)
    const detail = `${source}: ${dropped} blocks`
    const deed = { at: app.clock(), reporterId: null }
    if (dropped > 0) await insertAudit(tx, { ...deed, action: 'drop networks', detail })
    return dropped
  })
  if (blocks === 0)
    throw new UsageError([`Unknown source "${source}". "networks list" shows the sources.`])
  await tidyNetworks(app.pool)
  return `Dropped ${source}: ${blocks} blocks.`
}

type Said = Pick<FoundLayer, 'asn' | 'name' | 'country' | 'contacts' | 'isMuted'>

function saidBy({ asn, name, country, contacts, isMuted }: Said): string {
  const abuse = isMuted ? NOBODY : contacts.join(', ')
  const parts = [asn === null ? '' : `AS${asn}`, name ?? '', country ?? '']
  return [...parts.filter((part) => part !== ''), ...(abuse ? [`abuse: ${abuse}`] : [])].join(', ')
}

function dayOf(at: Date | null): string {
  return at ? at.toISOString().slice(0, 10) : '–'
}

function columns(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  )
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}
