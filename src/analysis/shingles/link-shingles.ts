import { registrableDomain } from '../../mail/domain.ts'
import { parseIp } from '../../mail/ip.ts'
import type { Link } from '../links.ts'
import { pathPattern, plainLinks } from '../disguise/plain-link.ts'
import type { PlainLink } from '../disguise/plain-link.ts'
import type { BodyView } from '../pieces/body-view.ts'
import { findBankAccounts, findMailAddresses, findTelephones } from '../pieces/contacts.ts'
import { findCryptoAddresses } from '../pieces/crypto-addresses.ts'
import { findWrittenLinks } from '../pieces/written-links.ts'
import { networkOf } from './shapes.ts'
import type { ShingleList } from './shingle-list.ts'

/** So many links are taken apart; the others of a message are hardly different. */
const linksMax = 40
const imagesMax = 10

/** Adds where the message leads: links, forms, pictures from elsewhere. */
export function addLinks(list: ShingleList, links: readonly Link[], view: BodyView): void {
  const organizations = new Set<string>()
  const seen = new Set<string>()
  const add = (written: string, where: Link['where']) => {
    if (seen.has(written) || seen.size >= linksMax) return
    seen.add(written)
    for (const link of plainLinks(written)) {
      addLink(list, link)
      if (link.organization !== null) organizations.add(link.organization)
      if (where === 'form') list.add('form-organization', link.organization ?? link.host)
    }
  }
  for (const { url, where } of links) add(url, where)
  for (const written of findWrittenLinks(view.written, view.text)) add(written, 'text')
  list.add('link-set', [...organizations].sort().join(' '))
  for (const source of view.html.images.slice(0, imagesMax)) addImage(list, source)
}

/** Adds how the reader is to answer or pay, and gives the telephones. */
export function addContacts(list: ShingleList, { text }: BodyView): string[] {
  const telephones = findTelephones(text)
  for (const number of telephones) list.add('telephone', number)
  for (const address of findCryptoAddresses(text)) list.add('cryptocurrency-address', address)
  for (const account of findBankAccounts(text)) list.add('bank-account', account)
  for (const address of findMailAddresses(text)) {
    list.add('body-address', address)
    const domain = registrableDomain(address.slice(address.lastIndexOf('@') + 1))
    list.add('body-address-organization', domain)
  }
  return telephones
}

function addLink(list: ShingleList, link: PlainLink): void {
  list.add('link', link.full)
  list.add('link-path', `${link.host}${link.path}`)
  list.add('link-host', link.host)
  list.add('link-organization', link.organization)
  list.add('redirector', link.wrappedBy)
  const pattern = pathPattern(link.path)
  if (pattern.length > 1) list.add('link-pattern', pattern)
  if (link.parameters !== '') list.add('link-parameters', `${pattern}?${link.parameters}`)
  const address = link.isIp ? parseIp(link.host) : undefined
  if (!address) return
  list.add('link-ip', address.text)
  list.add('link-network', networkOf(address))
}

function addImage(list: ShingleList, source: string): void {
  if (!/^(?:https?:)?\/\//i.test(source)) return
  const [link] = plainLinks(source)
  if (!link) return
  list.add('image-link', `${link.host}${link.path}`)
  list.add('image-link-organization', link.organization)
}
