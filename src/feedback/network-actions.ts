import { z } from 'zod'
import { type ActionContext, defineAction, textField } from '../actions.ts'
import { removeCorrection } from '../db/feedback-answers.ts'
import {
  dropSource,
  findOverride,
  putOverride,
  removeOverride,
  tidyNetworks,
} from '../db/networks.ts'
import { parseBlock } from '../mail/ip-blocks.ts'
import { storableText } from '../mail/text.ts'
import {
  manualSource,
  overriddenContacts,
  overrideFields,
  readOverride,
} from '../origin/networks.ts'
import { refusal } from '../phrase.ts'

const FIELD_CHARS_MAX = 1_000
const blockError = refusal('refused.block')

const cidrField = z
  .string({ error: blockError })
  .transform((text) => parseBlock(text.trim()) ?? '')
  .pipe(z.string().min(1, blockError))
  .meta({ argument: 'CIDR' })

const property = (value: string) =>
  z
    .string()
    .transform((text) => storableText(text, FIELD_CHARS_MAX))
    .optional()
    .meta({ value })

/** Sets properties of a network in place of the imported ones. Properties not given are kept. */
export const setNetwork = defineAction({
  name: 'networks set',
  summary: 'override imported properties of a network',
  audit: 'set network',
  role: 'operator',
  input: z
    .object({
      cidr: cidrField,
      abuse: property('A,B|none'),
      name: property('N'),
      asn: property('N'),
      country: property('CC'),
    })
    .refine(({ abuse, name, asn, country }) => (abuse ?? name ?? asn ?? country) !== undefined, {
      error: refusal('refused.network-empty'),
    }),
  async run(tx, { cidr, ...fields }, { at }) {
    const known = await findOverride(tx, cidr)
    const empty = { abuse: '', name: '', asn: '', country: '' }
    const given = Object.fromEntries(
      Object.entries(fields).filter(([, text]) => text !== undefined),
    )
    const override = readOverride({ ...(known ? overrideFields(known) : empty), ...given, cidr })
    if ('faults' in override) return { problems: override.faults.map((message) => ({ message })) }
    await putOverride(tx, override, at)
    const { asn, name, country } = override
    const said = [
      `abuse ${overriddenContacts(override) || 'from the imported tables'}`,
      ...(name === null ? [] : [`name ${name}`]),
      ...(asn === null ? [] : [`AS${asn}`]),
      ...(country === null ? [] : [country]),
    ]
    const audit = `${cidr}: ${said.join('; ')}`
    return { done: 'set', audit, text: audit }
  },
})

/** Removes the override of exactly this block. */
export const unsetNetwork = defineAction({
  name: 'networks unset',
  summary: 'remove the override of a network',
  audit: 'unset network',
  role: 'operator',
  input: z.object({ cidr: cidrField }),
  async run(tx, { cidr }) {
    const isGone = await removeOverride(tx, cidr)
    return isGone ? { done: 'unset', audit: cidr } : { unchanged: 'nothing' }
  },
})

export const dropNetworks = defineAction({
  name: 'networks drop',
  summary: 'remove an imported table',
  audit: 'drop networks',
  role: 'operator',
  input: z.object({
    source: textField(FIELD_CHARS_MAX, 'Name a source.')
      .refine((source) => source !== manualSource, {
        error: 'Overrides cannot be dropped together. Remove each with "networks unset CIDR".',
      })
      .meta({ argument: 'SOURCE' }),
  }),
  async run(tx, { source }, { pool }: ActionContext<'pool'>) {
    const count = await dropSource(tx, source)
    const message = 'Unknown source. "networks list" shows the sources.'
    if (count === 0) return { problems: [{ field: 'source', message }] }
    return {
      done: 'dropped',
      count,
      audit: `${source}: ${count} blocks`,
      afterwards: () => tidyNetworks(pool),
    }
  },
})

/** Deletes a correction, so that the abuse desk receives reports about the block again. */
export const removeNetworkCorrection = defineAction({
  name: 'networks restore',
  summary: 'remove a correction, so that the abuse team gets reports about the block again',
  audit: 'lift correction',
  role: 'operator',
  input: z.object({
    cidr: cidrField,
    address: textField(320, refusal('refused.desk-address')).meta({ argument: 'ADDRESS' }),
  }),
  async run(tx, correction) {
    const gone = await removeCorrection(tx, correction)
    return gone
      ? { done: 'lifted', audit: `${gone.cidr}: ${gone.address}` }
      : { unchanged: 'nothing' }
  },
})
