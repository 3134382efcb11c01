import { registrableDomainOf } from '../../mail/address.ts'
import { parseIp } from '../../mail/ip.ts'
import { providerOfHost, senderProfile } from '../../origin/providers.ts'
import type { TracedHop } from '../../origin/trace.ts'
import { attachmentFeatures } from './attachment-features.ts'
import { authenticationFeatures, authorFeatures, bulkFeatures } from './author-features.ts'
import { headerFeatures } from './header-features.ts'
import { linkFeatures } from './link-features.ts'
import { indexHeader, type Material, peopleOf } from './material.ts'
import { textFeatures } from './text-features.ts'

function originFeatures({ hops, origin, submitter }: Material) {
  const line = origin ? hops[origin.hop] : undefined
  const notes = new Set(hops.flatMap((hop) => hop.notes.map(({ code }) => code)))
  const forged = hops.filter(({ trust }) => trust === 'forged').length
  return {
    found: origin !== null,
    confidence: origin?.confidence ?? 0,
    hops: hops.length,
    hops_below: origin ? hops.length - 1 - origin.hop : 0,
    forged_hops: forged,
    has_forged_hop: forged > 0,
    time_runs_backwards: notes.has('time-runs-backwards'),
    reserved_address: notes.has('reserved-address'),
    posing_literal: notes.has('posing-literal'),
    broken_chain: notes.has('broken-chain'),
    borrowed_name: notes.has('borrowed-name'),
    ...peerFeatures(line),
    is_ipv6: origin?.ip.includes(':') === true,
    submitter_known: submitter !== null,
    submitter_by_web: hops.some(({ auth, trust }) => auth === 'HTTP' && trust === 'believed'),
  }
}

function peerFeatures(line: TracedHop | undefined) {
  const { rdns = null, helo = null, ip = null } = line?.from ?? {}
  const address = ip === null ? undefined : parseIp(ip)
  const name = (rdns ?? '').toLowerCase()
  const greeting = (helo ?? '').toLowerCase()
  const house = registrableDomainOf(name)
  const isNamedProvider = name !== '' && providerOfHost(name) !== undefined
  return {
    rdns_missing: line !== undefined && name === '',
    rdns_generic: isGenericName(name),
    rdns_organization: house ?? '',
    helo_missing: line !== undefined && greeting === '',
    helo_literal: greeting.startsWith('[') || parseIp(greeting) !== undefined,
    helo_bare: greeting !== '' && !/[.:]/.test(greeting),
    helo_fits_rdns: house !== undefined && registrableDomainOf(greeting) === house,
    is_encrypted: /smtps|tls/i.test(line?.with ?? ''),
    is_known_provider: (address && senderProfile(address) !== undefined) || isNamedProvider,
    is_authenticated: line !== undefined && line.auth !== null,
  }
}

const pools = new RegExp(
  `\\b(?:${[
    'a?dsl|dyn(?:amic)?|dhcp|dial(?:up|in)?|pools?|cable|ppp(?:oe)?|broadband',
    'customers?|client',
  ].join('|')})\\b`,
)

/**
 * Whether a lower-case reverse DNS name is that of an access line: it contains four numbers, or a
 * word for an access line. Names that begin like those of mail servers are excluded.
 */
export function isGenericName(name: string): boolean {
  if (name === '' || /^(?:mail|mx|smtp|mta|out|relay)[\d.-]*/.test(name)) return false
  const isNumbered = /(?:\d{1,3}[.-]){3}\d{1,3}|^(?:[a-z-]{0,12})[0-9a-f]{8}\./.test(name)
  return isNumbered || pools.test(name.replaceAll(/[\d_]+/g, '-'))
}

/**
 * Computes the features of a message from the findings of its analysis. Linear time; no lookups.
 */
export function messageFeatures(material: Material) {
  const header = indexHeader(material.fields)
  const people = peopleOf(header)
  const { kind, bytes, body, unsubscribe } = material
  return {
    message: {
      kind,
      is_reduced: material.isReduced === true,
      is_machine_answer: kind !== 'message',
      kilobytes: Math.round(bytes / 102.4) / 10,
      has_text: body.text.trim() !== '',
      has_html: body.html !== '',
      has_attachment: body.attachments.length > 0,
      has_list_unsubscribe: unsubscribe !== null,
    },
    headers: headerFeatures(material, header, people),
    author: authorFeatures(people),
    bulk: bulkFeatures(material, header, people),
    authentication: authenticationFeatures(material, header, people),
    origin: originFeatures(material),
    links: linkFeatures(material, people),
    attachments: attachmentFeatures(material),
    text: textFeatures(material),
  }
}

/**
 * All features of a message, by group: plain data that survives structured cloning.
 * `verdict/facts/message-facts.ts` gives their meanings.
 */
export type MessageFeatures = ReturnType<typeof messageFeatures>
