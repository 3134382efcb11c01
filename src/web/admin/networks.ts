import { type Request, type Response, Router } from 'express'
import {
  findOverride,
  type FoundLayer,
  keepOverride,
  listLayers,
  listOverrides,
  removeOverride,
} from '../../db/networks.ts'
import type { OperatorAction } from '../../db/audit-log.ts'
import { inTransaction } from '../../db/pool.ts'
import { parseBlock } from '../../mail/ip-blocks.ts'
import { parseIp } from '../../mail/ip.ts'
import { storableText } from '../../mail/text.ts'
import {
  mergeLayers,
  overrideFields,
  type OverrideFields,
  readOverride,
} from '../../origin/networks.ts'
import { type FormReader, readShortForm } from '../pages/form.ts'
import { pageOf, queryOf } from '../pages/render.ts'
import { requireReporter } from '../pages/signed-in.ts'
import type { Site } from '../site.ts'
import { sendAdminPage } from './send-admin-page.ts'

type Needs = Pick<Site, 'pool' | 'clock'> & FormReader

const LINES = 50
const ADDRESS_CHARS_MAX = 64
const FIELD_CHARS_MAX = 1_000

const deeds = {
  set: 'Override saved. It applies from now on.',
  unset: 'Override removed.',
  nothing: 'This block has no override.',
}

/**
 * The page that shows the abuse contact of an address and its sources, with a form to override it.
 */
export function networkRoutes(site: Needs): Router {
  const router = Router()
  router.get('/', (req, res) => sendNetworks(req, res, site, { faults: [], form: undefined }))
  router.post('/', async (req, res) => {
    const sent = await readShortForm(req, res, site)
    const administrator = requireReporter(req, res)
    if (!administrator) return
    const field = (name: string) => storableText(sent.text(name) ?? '', FIELD_CHARS_MAX)
    const form: OverrideFields = {
      cidr: field('cidr'),
      abuse: field('abuse'),
      name: field('name'),
      asn: field('asn'),
      country: field('country'),
    }
    const deed = { at: site.clock(), reporterId: administrator.id }
    const done =
      field('do') === 'unset' ? await unset(form, deed, site) : await set(form, deed, site)
    if (typeof done !== 'string') return sendNetworks(req, res, site, { ...done, form })
    res.redirect(303, `/admin/networks${queryOf({ ip: field('ip'), done })}`)
  })
  return router
}

type Done = keyof typeof deeds | { faults: string[] }

async function set(form: OverrideFields, deed: OperatorAction, site: Needs): Promise<Done> {
  const override = readOverride(form)
  if ('faults' in override) return override
  await inTransaction(site.pool, (tx) => keepOverride(tx, override, deed))
  return 'set'
}

async function unset(form: OverrideFields, deed: OperatorAction, site: Needs): Promise<Done> {
  const cidr = parseBlock(form.cidr)
  if (cidr === undefined) return { faults: ['The block is not an IP address or a CIDR block.'] }
  const isGone = await inTransaction(site.pool, (tx) => removeOverride(tx, cidr, deed))
  return isGone ? 'unset' : 'nothing'
}

/** The errors in a form, and its fields as submitted. */
type Attempt = { faults: readonly string[]; form: OverrideFields | undefined }

async function sendNetworks(req: Request, res: Response, site: Needs, attempt: Attempt) {
  const given = new URL(req.originalUrl, 'http://site').searchParams
  const text = storableText(given.get('ip')?.trim() ?? '', ADDRESS_CHARS_MAX)
  const ip = parseIp(text)?.text
  const faults = [...attempt.faults]
  if (text !== '' && ip === undefined) faults.push('This is not an IP address.')
  const layers = ip === undefined ? [] : await listLayers(site.pool, [ip], site.clock())
  const merged = mergeLayers(layers)
  const block = parseBlock(given.get('cidr') ?? '') ?? blockToSpeakOf(ip, layers)
  const after = parseBlock(given.get('after') ?? '')
  const rows = await listOverrides(site.pool, { after, limit: LINES + 1 })
  const { lines, next } = pageOf(rows, LINES, ({ cidr }) => ({ after: cidr }))
  const done = given.get('done')
  sendAdminPage(req, res, {
    view: 'admin/networks',
    title: 'Networks',
    status: faults.length > 0 ? 422 : 200,
    data: {
      text,
      ip,
      faults,
      done: done !== null && Object.hasOwn(deeds, done) ? deeds[done as keyof typeof deeds] : null,
      merged,
      layers: layers.map((layer) => ({
        ...layer,
        isForeign: merged?.foreign.includes(layer),
        isFirst: Object.fromEntries(
          Object.entries(merged?.from ?? {}).map(([field, from]) => [field, from === layer]),
        ),
      })),
      form: attempt.form ?? (await formFor(block, site)),
      overrides: lines.map((line) => ({ ...line, ...overrideFields(line) })),
      next,
      isFirst: after === undefined,
    },
  })
}

/** Returns the block of an existing override, otherwise the block of the address. */
function blockToSpeakOf(ip: string | undefined, layers: readonly FoundLayer[]) {
  const byHand = layers.filter(({ source }) => source === 'manual')
  return mergeLayers(byHand.length > 0 ? byHand : layers)?.network.cidr ?? ip
}

async function formFor(block: string | undefined, site: Needs): Promise<OverrideFields> {
  const empty = { cidr: block ?? '', abuse: '', name: '', asn: '', country: '' }
  const cidr = block === undefined ? undefined : parseBlock(block)
  const known = cidr === undefined ? undefined : await findOverride(site.pool, cidr)
  return known ? overrideFields(known) : empty
}
