import { houseOf } from '../../mail/domain.ts'
import type { HeaderIndex, Material, People } from './material.ts'

/** How it says that many get it; what each means says `verdict/facts/message-facts.ts`. */
export type BulkFeatures = {
  is_bulk: boolean
  unsubscribe_by_web: boolean
  unsubscribe_by_mail: boolean
  one_click: boolean
  unsubscribe_of_author: boolean
  unsubscribe_of_signer: boolean
  unsubscribe_missing: boolean
  precedence: string
  has_list_id: boolean
  list_id: string
  has_list_post: boolean
  has_feedback_id: boolean
  has_complaint_address: boolean
  is_automatic: boolean
}

const idCharsMax = 255

/** Reads the fields of lists and bulk mail (RFC 2369, 2919, 3834, 8058, 9477). */
export function bulkFeatures(
  { unsubscribe, authentication }: Material,
  header: HeaderIndex,
  { author }: People,
): BulkFeatures {
  const precedence = (header.value('precedence') ?? '').trim().toLowerCase().slice(0, 20)
  const isBulkPrecedence = /^(?:bulk|list|junk)$/.test(precedence)
  const house = houseOfUnsubscribe(unsubscribe)
  const signers = authentication?.dkim.filter(({ result }) => result === 'pass') ?? []
  const hasListId = header.count('list-id') > 0
  const hasFeedbackId = header.count('feedback-id') > 0
  return {
    is_bulk: isBulkPrecedence || unsubscribe !== null || hasListId || hasFeedbackId,
    unsubscribe_by_web: Boolean(unsubscribe?.https),
    unsubscribe_by_mail: Boolean(unsubscribe?.mailto),
    one_click: unsubscribe?.oneClick === true,
    unsubscribe_of_author: house !== undefined && house === author?.organization,
    unsubscribe_of_signer:
      house !== undefined && signers.some(({ domain }) => houseOf(domain) === house),
    unsubscribe_missing: isBulkPrecedence && unsubscribe === null,
    precedence,
    has_list_id: hasListId,
    list_id: hasListId ? listIdOf(header.value('list-id') ?? '') : '',
    has_list_post: header.count('list-post') > 0,
    has_feedback_id: hasFeedbackId,
    has_complaint_address: complaintFields.some((key) => header.count(key) > 0),
    is_automatic: /^auto-/i.test((header.value('auto-submitted') ?? '').trim()),
  }
}

const complaintFields = ['cfbl-address', 'x-complaints-to', 'x-abuse-reports-to', 'x-report-abuse']

function houseOfUnsubscribe(unsubscribe: Material['unsubscribe']): string | undefined {
  if (!unsubscribe) return undefined
  const { https, mailto } = unsubscribe
  if (https !== null) return houseOf(URL.parse(https)?.hostname)
  const host = /@([^?>\s]{1,253})/.exec(mailto ?? '')?.[1]
  return houseOf(host?.toLowerCase())
}

function listIdOf(written: string): string {
  const id = /<([^<>]{1,255})>/.exec(written.slice(0, 1_000))?.[1] ?? written
  return id.trim().toLowerCase().slice(0, idCharsMax).replaceAll('\0', '')
}
