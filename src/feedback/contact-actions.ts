import { z } from 'zod'
import { type ActionContext, defineAction, oneOf, textField } from '../actions.ts'
import {
  listContactOverrides,
  listNotifiedContacts,
  type NotifiedContact,
  putContactOverride,
  removeContactOverride,
  type StoredOverride,
} from '../db/contact-overrides.ts'
import { listPagesWithUnasked } from '../db/page-notices.ts'
import type { Db } from '../db/pool.ts'
import type { ContactOverride } from '../mail/page-notice.ts'
import { storableText } from '../mail/text.ts'
import { NO_CONTACT, overriddenContacts, readOverriddenContacts } from '../origin/networks.ts'
import { notifyPage } from '../pages/queues.ts'
import { findPlatformNamed } from '../phishing/platforms.ts'
import { findCdnNamed, overrideOf } from '../phishing/stoppers.ts'
import { refusal } from '../phrase.ts'
import { send } from '../queue/boss.ts'

const NAME_CHARS_MAX = 200
const NOTE_CHARS_MAX = 500
/** How many of the latest pages get a contact that was set after they were looked up. */
const RENEWED_MAX = 1_000

export const contactRoles = [
  'registrar',
  'platform',
  'cdn',
] as const satisfies ContactOverride['role'][]
const whose = {
  role: oneOf(contactRoles).meta({ argument: 'registrar|platform|cdn' }),
  name: textField(NAME_CHARS_MAX, refusal('refused.contact-name')).meta({ argument: 'NAME' }),
}

/** Sets where notices about pages go, in place of the contact of the registry or of our table. */
export const setContact = defineAction({
  name: 'pages contacts set',
  summary: 'override the contact of a registrar, platform or CDN for notices about pages',
  audit: 'set contact',
  role: 'operator',
  input: z.object({
    ...whose,
    abuse: z.string().default('').meta({ value: 'A,B|none' }),
    note: z
      .string()
      .transform((text) => storableText(text.trim(), NOTE_CHARS_MAX))
      .optional(),
  }),
  async run(
    tx,
    { role, name: given, abuse, note },
    { at, reporterId, boss }: ActionContext<'boss'>,
  ) {
    const said = readOverriddenContacts(abuse)
    if ('fault' in said) return { problems: [{ field: 'abuse', message: said.fault }] }
    if (!said.isMuted && said.contacts.length === 0) {
      const message = refusal('refused.contacts', { none: NO_CONTACT })
      return { problems: [{ field: 'abuse', message }] }
    }
    const known = knownName(role, given)
    if (known === undefined) {
      return { problems: [{ field: 'name', message: refusal('refused.no-platform') }] }
    }
    const before = overrideOf({ role, name: known }, await listContactOverrides(tx))
    const name = before?.name ?? known
    const by = { note: note || null, setBy: reporterId, setAt: at }
    await putContactOverride(tx, { role, name, ...said, ...by })
    const pageIds = await listPagesWithUnasked(tx, { role, name }, RENEWED_MAX)
    await send(
      boss,
      notifyPage,
      pageIds.map((pageId) => ({ pageId })),
      tx,
    )
    const why = note ? ` (${note})` : ''
    const audit = `${role} ${name}: ${overriddenContacts(said)}${why}`
    return { done: 'set', audit, text: audit }
  },
})

/** An unknown platform is a typing error; registrars are known only once a page needs them. */
function knownName(role: ContactOverride['role'], name: string): string | undefined {
  if (role === 'registrar') return name
  return role === 'platform' ? findPlatformNamed(name)?.name : findCdnNamed(name)?.name
}

/** Removes what `setContact` set. */
export const unsetContact = defineAction({
  name: 'pages contacts unset',
  summary: 'use the contact of the registry or of our table again',
  audit: 'unset contact',
  role: 'operator',
  input: z.object(whose),
  async run(tx, whose) {
    const override = overrideOf(whose, await listContactOverrides(tx))
    if (!override) return { unchanged: 'nothing' }
    await removeContactOverride(tx, override)
    return { done: 'unset', audit: `${override.role} ${override.name}` }
  },
})

/** A registrar, platform or CDN that could stop a page, or for which an operator set a contact. */
export type PageContact = Pick<ContactOverride, 'role' | 'name'> & {
  /** Unique; the list is sorted by it. */
  key: string
  notified: NotifiedContact[]
  override: StoredOverride | undefined
}

/** Returns the registrars, platforms and CDNs after the one with the key `after`, by name. */
export async function readPageContacts(
  db: Db,
  { after = '', limit }: { after?: string | undefined; limit: number },
): Promise<PageContact[]> {
  const [told, overrides] = await Promise.all([listNotifiedContacts(db), listContactOverrides(db)])
  const keyOf = ({ role, name }: Pick<ContactOverride, 'role' | 'name'>) =>
    `${name.toLowerCase()} (${role})`
  const notified = Map.groupBy(told, keyOf)
  const names = new Map([...told, ...overrides].map((one) => [keyOf(one), one]))
  return [...names]
    .filter(([key]) => key > after)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .slice(0, limit)
    .map(([key, { role, name }]) => {
      const override = overrideOf({ role, name }, overrides)
      return { key, role, name, notified: notified.get(key) ?? [], override }
    })
}

/** Where a contact comes from. */
export function sourceOf({
  role,
  isOverride,
}: Pick<NotifiedContact, 'role' | 'isOverride'>): 'operator' | 'registry' | 'table' {
  if (isOverride) return 'operator'
  return role === 'registrar' ? 'registry' : 'table'
}
