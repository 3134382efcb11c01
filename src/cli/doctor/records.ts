import { createPublicKey } from 'node:crypto'
import { publicForms } from '../../health/heartbeat.ts'

export type DnsRecord = { name: string; type: 'MX' | 'TXT' | 'A' | 'AAAA'; value: string }

/**
 * The addresses that may send mail with bounces to a domain (RFC 7208). Without any, the record
 * allows the machines that receive its mail, and says nothing about others: it must not make
 * receivers refuse our mail.
 */
export function spfRecord(domain: string, addresses: readonly string[]): DnsRecord {
  const terms = addresses.map((ip) => `${ip.includes(':') ? 'ip6' : 'ip4'}:${ip}`)
  return {
    name: domain,
    type: 'TXT',
    value: terms.length > 0 ? `v=spf1 ${terms.join(' ')} -all` : 'v=spf1 mx ?all',
  }
}

/** The public key of a private key in PEM (RFC 6376 §3.6.1, RFC 8463). */
export function dkimRecord(domain: string, selector: string, privateKey: string): DnsRecord {
  const type = createPublicKey(privateKey).asymmetricKeyType ?? 'rsa'
  const value = `v=DKIM1; k=${type}; p=${publicForms(privateKey)[0] ?? ''}`
  return { name: `${selector}._domainkey.${domain}`, type: 'TXT', value }
}

/** A first DMARC policy, which changes nothing and asks for summaries (RFC 9989). */
export function dmarcRecord(domain: string, mailFrom: string): DnsRecord {
  return {
    name: `_dmarc.${domain}`,
    type: 'TXT',
    value: `v=DMARC1; p=none; rua=mailto:${mailFrom}`,
  }
}

/** Where mail to a domain is delivered. */
export function mxRecord(domain: string, host: string): DnsRecord {
  return { name: domain, type: 'MX', value: `10 ${host}.` }
}

/**
 * Formats a record as a line of a zone file. A string of a TXT record has at most 255 bytes, so
 * longer values are split (RFC 1035 §3.3).
 */
export function zoneLine({ name, type, value }: DnsRecord): string {
  if (type !== 'TXT') return `${name}. IN ${type} ${value}`
  const parts = value.match(/.{1,255}/gs) ?? []
  return `${name}. IN TXT ${parts.map((part) => `"${part}"`).join(' ')}`
}
