import { isSharedSuffix, registrableDomain } from '../../mail/address.ts'
import { isRoutable, parseIp } from '../../mail/ip.ts'
import { providerProfiles } from '../../origin/provider-profiles.ts'
import {
  freeHosting,
  freeMailDomains,
  freePages,
  shorteners,
} from '../../pieces/features/material.ts'
import services from '../marketers/services.json' with { type: 'json' }
import type { ListName } from './list.ts'

/** Domains of mailbox providers, free and paid. */
const mailboxDomains: ReadonlySet<string> = new Set([
  ...freeMailDomains,
  ...(
    'aim.com aol.fr bigpond.com bluewin.ch charter.net earthlink.net email.com email.cz ' +
    'fastmail.fm gmx.at gmx.ch hotmail.de hotmail.es hotmail.it inbox.lv live.co.uk live.nl ' +
    'mms.net neuf.fr protonmail.ch rogers.com shaw.ca talktalk.net tuta.com virgin.net ' +
    'yahoo.ca'
  ).split(' '),
])

/** Domains of URL shorteners and redirectors. The domain is not responsible for the target. */
const shortenerDomains: ReadonlySet<string> = new Set([
  ...shorteners,
  ...'aka.ms amzn.to bit.do fb.me goo.su ift.tt lnk.to mcaf.ee spoti.fi t.me wa.me youtu.be'.split(
    ' ',
  ),
])

/**
 * Platform domains, under which many unrelated people publish or send: the shipped mailing
 * services, storage, forms, social networks, standards.
 */
const platformDomains: ReadonlySet<string> = new Set([
  ...freePages.keys(),
  ...services.flatMap(({ signers, hosts = [] }) =>
    [...signers, ...hosts].map((name) => name.replace(/^\*\./, '')),
  ),
  ...(
    'adobe.com aliyuncs.com amazon.com amazonaws.com apple.com archive.org atlassian.net ' +
    'azure.com azureedge.net backblazeb2.com box.com calendly.com cloudflare.com ' +
    'cloudflarestorage.com digitaloceanspaces.com discord.com discordapp.com docusign.com ' +
    'docusign.net doubleclick.net dropboxusercontent.com ebay.com evernote.com ' +
    'facebook.com facebookmail.com fbcdn.net github.com githubusercontent.com gitlab.com ' +
    'googleusercontent.com gstatic.com instagram.com intuit.com issuu.com licdn.com ' +
    'linkedin.com list-manage.com live.net medium.com mega.nz microsoft.com ' +
    'microsoftonline.com notion.site notion.so office365.com onedrive.com outlook.com ' +
    'paypal.com pinterest.com pphosted.com reddit.com salesforce.com scribd.com ' +
    'sharepoint.com shopify.com slack.com squarespace.com stripe.com surveymonkey.com ' +
    'telegram.org trello.com tumblr.com twitter.com urldefense.com vimeo.com vk.com ' +
    'w3.org wetransfer.com whatsapp.com wikipedia.org windows.net wix.com wixsite.com ' +
    'wordpress.com x.com yahoo.net yahoodns.net youtube.com zendesk.com zoom.us'
  ).split(' '),
])

/** Returns the domains and hosts in the configuration of this installation. */
export function ownNamesOf(config: {
  mailFrom: string
  publicUrl: string
  returnPathDomain: string
  listsZone: string
}): OwnNames {
  const sender = config.mailFrom.slice(config.mailFrom.lastIndexOf('@') + 1)
  const { hostname } = new URL(config.publicUrl)
  return [hostname, sender, config.returnPathDomain, config.listsZone].map((name) =>
    name.toLowerCase(),
  )
}

/** Why a name is never listed, regardless of the evidence. */
export type Spared =
  | 'no such name'
  | 'no public address'
  | 'reserved name'
  | 'mailbox provider'
  | 'public suffix'
  | 'shared platform'
  | 'link shortener'
  | 'our own'

/** Domains and hosts of this installation, in lower case. */
export type OwnNames = readonly string[]

const providerDomains = new Set(
  providerProfiles
    .flatMap(({ hosts, borders, outboundHosts = [] }) => [...hosts, ...borders, ...outboundHosts])
    .map((end) => registrableDomain(end.replace(/^\./, '')))
    .filter((house) => house !== undefined),
)

/**
 * Returns why a name must not be listed although it may occur in spam: it does not exist, or a
 * listing would harm too many uninvolved people. A wrong accusation is worse than none. Undefined
 * when the name may be listed.
 */
export function whySpared(list: ListName, name: string, own: OwnNames): Spared | undefined {
  return list === 'addresses' ? whyAddressSpared(name) : whyNameSpared(list, name, own)
}

function whyAddressSpared(name: string): Spared | undefined {
  const address = parseIp(name)
  if (address?.text !== name) return 'no such name'
  if (!isRoutable(address)) return 'no public address'
  const isProvider = providerProfiles.some(
    ({ relays, outbound }) => outbound.has(address) || relays.has(address),
  )
  return isProvider ? 'mailbox provider' : undefined
}

function whyNameSpared(list: 'domains' | 'hosts', name: string, own: OwnNames): Spared | undefined {
  if (!hostName.test(name) || name.length > NAME_CHARS_MAX) return 'no such name'
  const domain = registrableDomain(name)
  if (reservedEnds.test(name)) return 'reserved name'
  if (domain === undefined || isSharedSuffix(name)) return 'public suffix'
  if (list === 'domains' && domain !== name) return 'no such name'
  if (own.some((one) => isWithin(one, name) || isWithin(name, one))) return 'our own'
  if (shortenerDomains.has(domain)) return 'link shortener'
  if (mailboxDomains.has(domain) || providerDomains.has(domain)) return 'mailbox provider'
  const isHoster = freeHosting.has(domain) && (name === domain || name === `www.${domain}`)
  if (isHoster) return 'shared platform'
  // Names below a shared suffix of the platform, such as pages.example, belong to its customers.
  const isCustomer = name !== domain && isSharedSuffix(name.slice(name.indexOf('.') + 1))
  return platformDomains.has(domain) && !isCustomer ? 'shared platform' : undefined
}

const NAME_CHARS_MAX = 180
const hostName = /^(?=.*[a-z])[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})+$/
/**
 * Reserved and internal suffixes: RFC 2606, 6761, 6762, 8375, 9476, and suffixes in use in private
 * networks.
 */
const reservedEnds =
  /\.(alt|arpa|corp|home|internal|invalid|lan|local|localdomain|localhost|onion|test)$/

function isWithin(name: string, domain: string): boolean {
  return name === domain || name.endsWith(`.${domain}`)
}
