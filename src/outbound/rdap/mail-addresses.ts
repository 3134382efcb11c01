import { domainToASCII } from 'node:url'

// Narrower than RFC 5321: no quotes and no address literals, which no abuse desk has.
const localShape = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/
const domainShape = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/** Registries answer for the registry, not for what others do in the networks they gave out. */
const registryDomains =
  /(?:^|\.)(?:iana\.org|arin\.net|ripe\.net|apnic\.net|lacnic\.net|afrinic\.net)$/

const textCharsMax = 2_000

/**
 * A mail address that can be written to, its domain in lower case and ASCII; undefined for any
 * other text, such as `REDACTED FOR PRIVACY`, and for the address of a registry itself.
 */
export function mailAddress(text: string): string | undefined {
  const at = text.lastIndexOf('@')
  const local = text.slice(0, Math.max(at, 0))
  if (local.length > 64 || text.length > 254 || !localShape.test(local)) return undefined
  const domain = domainToASCII(text.slice(at + 1)).toLowerCase()
  if (domain.length > 253 || !domainShape.test(domain) || registryDomains.test(domain)) {
    return undefined
  }
  return `${local}@${domain}`
}

/** The mail addresses in a value that may hold several: separated, in angles, after `mailto:`. */
export function mailAddressesIn(text: string): string[] {
  return text
    .slice(0, textCharsMax)
    .split(/[\s,;<>()[\]"]+/)
    .map((word) => mailAddress(word.replace(/^mailto:/i, '').replace(/^'|[.']+$/g, '')))
    .filter((address) => address !== undefined)
}
