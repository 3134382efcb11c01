import { isReadable } from '../evidence/readable.ts'
import { parseIp } from '../mail/ip.ts'
import { pathPattern, plainLinks } from '../pieces/disguise/plain-link.ts'
import { type Accusable, ownerOf } from './accusable.ts'

/**
 * Returns the part of a host about which DNS and registries may be asked: it ends before the first
 * label, from the right, that may identify the recipient. Otherwise the sender, who runs the name
 * servers, learns who reported. The domain of the owner always stays. `isShared`: whether
 * independent reporters received the label, which then is nobody's token.
 */
export function askableHost(host: string, isShared: (label: string) => boolean): string {
  const [name, ...labels] = partsOf(host)
  let askable = name
  for (const label of labels.toReversed()) {
    if (!isWord(label) && !isShared(label)) break
    askable = `${label}.${askable}`
  }
  return askable
}

/** Whether a label is readable and has at most two digits: more could number the recipients. */
function isWord(label: string): boolean {
  return isReadable(label, 'label') && label.replace(/\D/g, '').length <= 2
}

/**
 * Returns what is the same for all recipients of a page: host and path, with placeholders for what
 * may be a token. On a platform, the address names the page and stays as it is, with its query if
 * the path has no id: other customers have pages with the same pattern. Undefined for what is no
 * web address.
 */
export function pageKey(url: URL, { scope, platform }: Accusable): string | undefined {
  const plain = plainLinks(url.href).at(-1)
  if (!plain) return undefined
  const { host, path, full } = plain
  const pattern = pathPattern(path)
  if (scope === 'host' || !platform) return `${hostPattern(host)}${pattern}`
  return pattern === path.toLowerCase() ? full : `${host}${path}`
}

/** Returns a host with `*` for labels that may identify the recipient. */
function hostPattern(host: string): string {
  const [name, ...labels] = partsOf(host)
  return [...labels.map((label) => (isReadable(label, 'label') ? label : '*')), name].join('.')
}

/** The domain of the owner, and the labels before it in their order. */
function partsOf(host: string): [string, ...string[]] {
  const owner = parseIp(host) ? host : ownerOf(host)
  const own = host.slice(0, Math.max(0, host.length - owner.length - 1))
  return own === '' ? [owner] : [owner, ...own.split('.')]
}
