import { z } from 'zod'
import { type ActionContext, defineAction, oneOf } from '../actions.ts'
import { ensureConsumers, markEnrolled } from '../db/consumers.ts'
import {
  type EnabledPartner,
  listEnabledPartners,
  putPartner,
  removePartner,
  sealOf,
} from '../db/partners.ts'
import type { Db } from '../db/pool.ts'
import { sealBytes } from '../db/sealed-bytes.ts'
import { type Partner, partners } from '../phishing/partners.ts'
import { refusal } from '../phrase.ts'
import { addressField } from './consumer-actions.ts'

const keys = partners.map(({ key }) => key) as [string, ...string[]]
const partner = oneOf(keys)
const keyMissing = {
  problems: [{ field: 'secret', message: refusal('refused.partner-key') }],
}
const unchecked = {
  problems: [
    {
      field: 'checked',
      message: refusal('refused.partner-unread'),
    },
  ],
}

/** Has a partner learn of all pages that are confirmed from now on. */
export const enablePartner = defineAction({
  name: 'partners enable',
  summary: 'tell a partner about all pages that are confirmed from now on',
  audit: 'enable partner',
  role: 'operator',
  input: z.object({
    partner,
    address: addressField.optional(),
    secret: z
      .string()
      .regex(/^[\x21-\x7e]{1,500}$/, refusal('refused.partner-key-shape'))
      .optional(),
    checked: z.string().optional(),
  }),
  async run(tx, given, { at, config }: ActionContext<'config'>) {
    const { partner: key, address, checked } = given
    const { mail = null, http, unconfirmed } = templateOf(key)
    const known = (await listEnabledPartners(tx)).find((one) => one.key === key)
    if (http) {
      if (unconfirmed !== undefined && checked === undefined) return unchecked
      const { secret } = given
      const fresh = secret && sealBytes(Buffer.from(secret), sealOf({ key }), config.secret)
      const sealedKey = http.keyHeader === null ? null : fresh || (known?.sealedKey ?? null)
      if (http.keyHeader !== null && sealedKey === null) return keyMissing
      await putPartner(tx, { key, contact: address ?? null, sealedKey, enabledAt: at })
      return { done: 'enabled', audit: key }
    }
    const contact = address ?? mail
    if (contact === null) {
      return { problems: [{ field: 'address', message: refusal('refused.partner-address') }] }
    }
    // The operator knows that the partner accepts our mail.
    const made = (await ensureConsumers(tx, [{ address: contact, source: 'operator' }], at)).get(
      contact,
    )
    if (made?.state === 'found') await markEnrolled(tx, made.id, at)
    await putPartner(tx, { key, contact, sealedKey: null, enabledAt: at })
    return { done: 'enabled', audit: `${key}: ${contact}` }
  },
})

export const disablePartner = defineAction({
  name: 'partners disable',
  summary: 'tell a partner about no more pages',
  audit: 'disable partner',
  role: 'operator',
  input: z.object({ partner }),
  async run(tx, { partner: key }) {
    const isChanged = await removePartner(tx, key)
    return isChanged ? { done: 'disabled', audit: key } : { unchanged: 'off' }
  },
})

/** Returns all partners; `enabled` is undefined for those that are off. */
export async function readPartners(
  db: Db,
): Promise<(Partner & { enabled: EnabledPartner | undefined })[]> {
  const enabled = new Map((await listEnabledPartners(db)).map((one) => [one.key, one]))
  return partners.map((one) => ({ ...one, enabled: enabled.get(one.key) }))
}

function templateOf(key: string) {
  const found = partners.find((one) => one.key === key)
  if (!found) throw new Error('The schema of the action allows an unknown partner.')
  return found
}
