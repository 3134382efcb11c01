import { z } from 'zod'
import { type ActionContext, defineAction, textField } from '../actions.ts'
import { decideProposal, deleteMarketer, findMarketer, putMarketer } from '../db/marketers.ts'
import { storableText } from '../mail/text.ts'
import { refusal } from '../phrase.ts'
import { ownNamesOf } from '../verdict/lists/spare.ts'
import {
  checkMarketer,
  marketerFaultLine,
  readMarketers,
  writeMarketers,
} from '../verdict/marketers/marketer-file.ts'
import { isSameMarketer, type Marketer, writtenMarketer } from '../verdict/marketers/marketer.ts'
import { draftMarketer } from '../verdict/marketers/propose.ts'
import { allRegistered, findRegistered, shippedService } from './registry.ts'

const KEY_CHARS_MAX = 60
const NAME_CHARS_MAX = 255
const FIELD_CHARS_MAX = 12_000
const FILE_BYTES_MAX = 10 * 1024 * 1024
const PROOF_CHARS_MAX = 300

export const marketerKey = textField(KEY_CHARS_MAX, refusal('refused.marketer-key')).meta({
  argument: 'KEY',
})

function auditDetail({ key, name, state, signers, ranges }: Marketer): string {
  const proofs = [...signers, ...ranges].join(', ').slice(0, PROOF_CHARS_MAX)
  return `${key} (${name}), ${state}: ${proofs}`
}

/** Imports a file completely or not at all. Keeps marketers that are not in the file. */
export const importMarketers = defineAction({
  name: 'marketers import',
  summary: 'add and change marketers from a file; "-" is standard input',
  audit: 'set marketer',
  role: 'operator',
  input: z.object({
    content: z
      .string({ error: 'Give a file name, or - for standard input.' })
      .meta({ argument: 'FILE', fileBytesMax: FILE_BYTES_MAX }),
    dryRun: z.boolean().default(false),
  }),
  async run(tx, { content, dryRun }, { at, config }: ActionContext<'config'>) {
    const reading = readMarketers(content, ownNamesOf(config))
    if ('faults' in reading) {
      return { problems: reading.faults.map((fault) => ({ message: marketerFaultLine(fault) })) }
    }
    const known = new Map((await allRegistered(tx)).map((one) => [one.key, one]))
    const added = reading.marketers.filter(({ key }) => !known.has(key))
    const different = reading.marketers.filter((one) => {
      const before = known.get(one.key)
      return before !== undefined && !isSameMarketer(before, one)
    })
    const same = reading.marketers.length - added.length - different.length
    const counts = `${added.length} added, ${different.length} changed, ${same} unchanged.`
    if (dryRun) return { done: 'imported', text: `Dry run, nothing was saved: ${counts}` }
    const changed = [...added, ...different]
    for (const one of changed) await putMarketer(tx, one, at)
    return { done: 'imported', audit: changed.map(auditDetail), text: counts }
  },
})

const fieldText = z.string().transform((text) => storableText(text, FIELD_CHARS_MAX))
const field = (value: string) => fieldText.optional().meta({ value })
const names = fieldText
  .transform((text) => text.split(/[\s,]+/).filter((name) => name !== '' && name !== 'none'))
  .optional()
  .meta({ value: 'A,B|none' })
const nullable = fieldText
  .transform((text) => (text === '' || text === 'none' ? null : text))
  .optional()
  .meta({ value: 'TEXT|none' })

/**
 * Adds a marketer, or changes the given fields of an existing one. A changed shipped service
 * becomes an entry of the operators, which later versions of the program do not change.
 */
export const setMarketer = defineAction({
  name: 'marketers set',
  summary: 'add a marketer, or change fields of one',
  audit: 'set marketer',
  role: 'operator',
  input: z.object({
    key: marketerKey,
    new: z.boolean().default(false),
    kind: field('marketer|service'),
    state: field('S'),
    name: field('N'),
    signers: names,
    ranges: names,
    list_ids: names,
    authors: names,
    hosts: names,
    practice: field('TEXT'),
    website: nullable,
    contact: nullable,
    feedback: nullable,
    advice_en: field('TEXT'),
    advice_fr: field('TEXT'),
    advice_ru: field('TEXT'),
  }),
  async run(tx, { key, new: isNew, ...given }, { at, config }: ActionContext<'config'>) {
    const { advice_en: en, advice_fr: fr, advice_ru: ru, ...fields } = given
    const stated = withoutUndefined({ ...fields })
    const advice = withoutUndefined({ en, fr, ru })
    if (Object.keys({ ...stated, ...advice }).length === 0) {
      return {
        problems: [{ message: refusal('refused.marketer-empty') }],
      }
    }
    const before = await findRegistered(tx, key)
    if (before && isNew) {
      return { problems: [{ field: 'key', message: refusal('refused.marketer-exists') }] }
    }
    const draft = {
      ...(before ? writtenMarketer(before) : { key }),
      ...stated,
      advice: { ...before?.advice, ...advice },
    }
    const checked = checkMarketer(draft, ownNamesOf(config))
    if ('faults' in checked) {
      return { problems: checked.faults.map((one) => ({ field: one.field, message: one.reason })) }
    }
    await putMarketer(tx, checked.marketer, at)
    const text = writeMarketers([checked.marketer], 'yaml')
    return { done: 'kept', audit: auditDetail(checked.marketer), text }
  },
})

function withoutUndefined(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

/**
 * Deletes a marketer: reports of its mail no longer lead to advice. A shipped service is suspended
 * instead, so that an update of the program does not bring it back.
 */
export const removeMarketer = defineAction({
  name: 'marketers remove',
  summary: 'remove a marketer',
  audit: 'remove marketer',
  role: 'operator',
  input: z.object({ key: marketerKey }),
  async run(tx, { key }, { at }) {
    const service = shippedService(key)
    if (service) {
      await putMarketer(tx, { ...service, state: 'suspended' }, at)
      return { done: 'suspended', audit: key }
    }
    return (await deleteMarketer(tx, key))
      ? { done: 'removed', audit: key }
      : { unchanged: 'nothing' }
  },
})

/** Removes the operators' changes of a shipped service. */
export const resetService = defineAction({
  name: 'marketers reset',
  summary: 'undo the changes of a shipped service',
  audit: 'remove marketer',
  role: 'operator',
  input: z.object({ key: marketerKey }),
  async run(tx, { key }) {
    const isReset = shippedService(key) !== undefined && (await deleteMarketer(tx, key))
    return isReset ? { done: 'reset', audit: `${key}, as shipped` } : { unchanged: 'nothing' }
  },
})

const proposal = z.object({
  signer: textField(NAME_CHARS_MAX, refusal('refused.marketer-signer')).meta({
    argument: 'SIGNER',
  }),
  list_id: z.string().max(NAME_CHARS_MAX).default('').meta({ argument: 'LIST-ID' }),
})

function namesOf({ signer, list_id: listId }: z.output<typeof proposal>): string {
  return listId === '' ? signer : `${signer}, ${listId}`
}

/** Makes a draft of a proposed marketer, unless its key is taken. */
export const takeProposal = defineAction({
  name: 'marketers proposals take',
  summary: 'create a draft from a proposed marketer',
  audit: 'take marketer proposal',
  role: 'analyst',
  input: proposal,
  async run(tx, named, by) {
    const { signer, list_id: listId } = named
    const found = await decideProposal(tx, { signer, listId }, 'taken', by)
    if (!found) return { unchanged: 'gone' }
    const draft = draftMarketer(found)
    const before = await findMarketer(tx, draft.key)
    if (!before) await putMarketer(tx, draft, by.at)
    const text = writeMarketers([before ?? draft], 'yaml')
    return { done: 'taken', audit: `${namesOf(named)}: ${draft.key}`, text, id: draft.key }
  },
})

/** Dismisses a proposal: its signer is not proposed again. */
export const dismissProposal = defineAction({
  name: 'marketers proposals dismiss',
  summary: 'dismiss a proposed marketer',
  audit: 'dismiss marketer proposal',
  role: 'analyst',
  input: proposal,
  async run(tx, named, by) {
    const { signer, list_id: listId } = named
    const found = await decideProposal(tx, { signer, listId }, 'dismissed', by)
    return found ? { done: 'dismissed', audit: namesOf(named) } : { unchanged: 'gone' }
  },
})
