import { domainToUnicode } from 'node:url'
import { registrableDomainOf, registrableDomain } from '../../mail/address.ts'
import type { Authentication } from '../../origin/authenticity/authenticate.ts'
import {
  freeMailDomains,
  type HeaderIndex,
  type Material,
  type People,
  type Person,
} from './material.ts'
import { disguiseOf } from './text-features.ts'

const textCharsMax = 253
const noPerson: Person = { name: '', address: '', local: '', domain: '', organization: '' }

export function authorFeatures({ author = noPerson, recipient }: People) {
  const { name, local, domain, organization } = author
  return {
    domain: domain.slice(0, textCharsMax),
    organization: organization.slice(0, textCharsMax),
    top_level_domain: domain.slice(domain.lastIndexOf('.') + 1).slice(0, 63),
    ...domainFeatures(domain),
    local_chars: local.length,
    local_digits: digitsIn(local),
    local_random: looksRandom(local),
    local_is_role: /^(?:no-?reply|do-?not-?reply|info|support|admin|service|news)/.test(local),
    ...nameFeatures(author),
    name_is_office: isOffice(name) && freeMailDomains.has(domain),
    name_is_recipient_domain: namesOrganization(name, recipient?.organization, organization),
  }
}

function domainFeatures(domain: string) {
  const isIdn = domain.includes('xn--')
  const shown = isIdn ? domainToUnicode(domain) : domain
  const { hidden, lookAlikes } = disguiseOf(shown)
  return {
    domain_missing: domain === '',
    domain_not_public: domain !== '' && registrableDomain(domain) === undefined,
    domain_free_mail: freeMailDomains.has(domain),
    domain_idn: isIdn,
    domain_disguised: hidden + lookAlikes > 0,
    domain_labels: domain === '' ? 0 : domain.split('.').length,
    domain_hyphens: domain.split('-').length - 1,
    domain_digits: digitsIn(domain),
  }
}

function nameFeatures({ name, organization }: Person) {
  const address = /[\w.+-]{1,64}@([a-z\d-]{1,63}(?:\.[a-z\d-]{1,63}){1,6})/i.exec(name)?.[1]
  const written = address ?? /\b(?:[a-z\d-]{2,63}\.)+[a-z]{2,24}\b/i.exec(name)?.[0]
  const named = written === undefined ? undefined : registrableDomain(written.toLowerCase())
  const isOther = named !== undefined && organization !== '' && named !== organization
  const { hidden, lookAlikes } = disguiseOf(name)
  return {
    name_missing: name === '',
    name_chars: name.length,
    name_has_address: address !== undefined,
    name_other_address: address !== undefined && isOther,
    name_other_domain: address === undefined && isOther,
    name_disguised: hidden + lookAlikes > 0,
  }
}

/** Names of departments, in widely read languages. */
const offices = new RegExp(
  `\\b(?:${[
    'support|security|billing|helpdesk|service desk|customer (?:service|care)|admin(?:istrator)?',
    'account team|mail ?box|webmail|delivery|invoice|payroll|human resources|bank|post office',
    'service client|s.curit.|facturation|banque|assistance|kundenservice|sicherheit|rechnung',
    'servicio al cliente|seguridad|facturaci.n|banco|assistenza|sicurezza|banca|atendimento',
  ].join('|')})\\b`,
  'i',
)

function isOffice(name: string): boolean {
  return name !== '' && offices.test(name.slice(0, 100))
}

/**
 * Whether a word of the display name begins with the name of the recipient's domain, which is not
 * the author's. `reader` and `own` are the registrable domains of the recipient and the author. No
 * organization has the name of the domains for examples (RFC 2606 §3).
 */
function namesOrganization(name: string, reader = '', own: string): boolean {
  const [label = '', ownLabel] = [reader, own].map((domain) => domain.split('.', 1)[0])
  if (label.length < 4 || label === ownLabel || label === 'example') return false
  if (freeMailDomains.has(reader)) return false
  return name
    .toLowerCase()
    .split(/[^\p{L}\p{N}-]+/u)
    .some((word) => word.startsWith(label))
}

function digitsIn(text: string): number {
  let count = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code >= 0x30 && code <= 0x39) count++
  }
  return count
}

/** Whether a local part looks random: letters and digits alternate, or a long run has no vowel. */
function looksRandom(local: string): boolean {
  if (local.length < 8) return false
  const turns = local.match(/[a-z]\d|\d[a-z]/g)?.length ?? 0
  return turns >= 4 || /[bcdfghjklmnpqrstvwxz]{6}/.test(local)
}

const signersMax = 4
const notChecked: Partial<Authentication> = {}

/** Computes features from the results of SPF, DKIM, DMARC and ARC. */
export function authenticationFeatures(
  { authentication, claims }: Material,
  header: HeaderIndex,
  { author }: People,
) {
  const { spf, dkim = [], dmarc, arc } = authentication ?? notChecked
  const passes = dkim.filter(({ result }) => result === 'pass')
  const isSpfAligned =
    spf?.result === 'pass' &&
    author !== undefined &&
    registrableDomainOf(spf.domain) === author.organization
  const isDkimAligned = passes.some(({ aligned }) => aligned)
  const isUnsubscribeSigned = claims?.unsubscribeSigners?.some(
    (domain) => registrableDomainOf(domain) === author?.organization,
  )
  return {
    checked: authentication !== null,
    spf: spf?.result ?? '',
    spf_aligned: isSpfAligned,
    dkim_signatures: header.count('dkim-signature'),
    dkim_passes: passes.length,
    dkim_fails: dkim.filter(({ result }) => result === 'fail').length,
    dkim_aligned: isDkimAligned,
    unsubscribe_signed: isUnsubscribeSigned === true,
    dmarc: dmarc?.result ?? '',
    dmarc_policy: dmarc?.policy ?? '',
    arc: arc?.result ?? '',
    author_stands_behind: dmarc?.result === 'pass' || isDkimAligned || isSpfAligned,
    author_disowns: dmarc?.result === 'fail' && (dmarc.policy ?? 'none') !== 'none',
    signers: [...new Set(passes.map(({ domain }) => domain))].slice(0, signersMax),
  }
}

const idCharsMax = 255

/** Computes features from the fields of lists and bulk mail (RFC 2369, 2919, 3834, 8058, 9477). */
export function bulkFeatures(
  { unsubscribe, authentication }: Material,
  header: HeaderIndex,
  { author }: People,
) {
  const precedence = (header.value('precedence') ?? '').trim().toLowerCase().slice(0, 20)
  const isBulkPrecedence = /^(?:bulk|list|junk)$/.test(precedence)
  const house = unsubscribeDomain(unsubscribe)
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
      house !== undefined && signers.some(({ domain }) => registrableDomainOf(domain) === house),
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

function unsubscribeDomain(unsubscribe: Material['unsubscribe']): string | undefined {
  if (!unsubscribe) return undefined
  const { https, mailto } = unsubscribe
  if (https !== null) return registrableDomainOf(URL.parse(https)?.hostname)
  const host = /@([^?>\s]{1,253})/.exec(mailto ?? '')?.[1]
  return registrableDomainOf(host?.toLowerCase())
}

function listIdOf(written: string): string {
  const id = /<([^<>]{1,255})>/.exec(written.slice(0, 1_000))?.[1] ?? written
  return id.trim().toLowerCase().slice(0, idCharsMax).replaceAll('\0', '')
}
