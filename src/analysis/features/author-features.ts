import { domainToUnicode } from 'node:url'
import { registrableDomain } from '../../mail/domain.ts'
import { disguiseOf } from './disguise.ts'
import { freeMailDomains } from './known-hosts.ts'
import type { People, Person } from './material.ts'

/** Who says to have written; what each means says `verdict/facts/message-facts.ts`. */
export type AuthorFeatures = {
  domain: string
  organization: string
  top_level_domain: string
  domain_missing: boolean
  domain_not_public: boolean
  domain_free_mail: boolean
  domain_idn: boolean
  domain_disguised: boolean
  domain_labels: number
  domain_hyphens: number
  domain_digits: number
  local_chars: number
  local_digits: number
  local_random: boolean
  local_is_role: boolean
  name_missing: boolean
  name_chars: number
  name_has_address: boolean
  name_other_address: boolean
  name_other_domain: boolean
  name_disguised: boolean
  name_is_office: boolean
  name_is_recipient_domain: boolean
}

const textCharsMax = 253
const nobody: Person = { name: '', address: '', local: '', domain: '', organization: '' }

/** Reads the author as the header gives it. */
export function authorFeatures({ author = nobody, recipient }: People): AuthorFeatures {
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

/** What offices call themselves, in the languages that many read. */
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

/** Whether the name begins as a domain does that the author is not of: the reader's own. */
function namesOrganization(name: string, reader: string | undefined, own: string): boolean {
  const label = reader?.split('.', 1)[0] ?? ''
  if (label.length < 4 || reader === own) return false
  return !freeMailDomains.has(reader ?? '') && name.toLowerCase().includes(label)
}

function digitsIn(text: string): number {
  let count = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code >= 0x30 && code <= 0x39) count++
  }
  return count
}

/** Whether nobody would choose such a name: letters and digits in turns, or no vowel for long. */
function looksRandom(local: string): boolean {
  if (local.length < 8) return false
  const turns = local.match(/[a-z]\d|\d[a-z]/g)?.length ?? 0
  return turns >= 4 || /[bcdfghjklmnpqrstvwxz]{6}/.test(local)
}
