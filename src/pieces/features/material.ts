import { domainOf, parseMailboxes, registrableDomainOf } from '../../mail/address.ts'
import { decodeHeaderText } from '../../mail/encoded-word.ts'
import type { HeaderField } from '../../mail/header.ts'
import type { Unsubscribe } from '../../mail/list-unsubscribe.ts'
import type { MessageKind } from '../../mail/message.ts'
import type { MessageBody } from '../../mail/message-body.ts'
import type { Authentication } from '../../origin/authenticity/authenticate.ts'
import type { Submitter } from '../../origin/forwarders.ts'
import type { Origin } from '../../origin/origin.ts'
import type { TracedHop } from '../../origin/trace.ts'
import type { Attachment, FileFault } from '../attachment.ts'
import type { BodyView } from '../body-view.ts'
import type { Link } from '../links.ts'
import type { ListClaims } from '../list-claims.ts'
import type { PackedShingles } from '../shingles/packed-shingles.ts'

/** Domains of free mailbox providers; general knowledge, not complete. */
export const freeMailDomains: ReadonlySet<string> = new Set(
  (
    'gmail.com googlemail.com outlook.com hotmail.com live.com msn.com hotmail.fr hotmail.co.uk ' +
    'outlook.fr outlook.de live.fr yahoo.com ymail.com rocketmail.com yahoo.fr yahoo.co.uk ' +
    'yahoo.de yahoo.it yahoo.es yahoo.co.jp yahoo.com.br aol.com icloud.com me.com mac.com ' +
    'proton.me protonmail.com pm.me gmx.com gmx.net gmx.de gmx.fr web.de mail.com mail.ru bk.ru ' +
    'list.ru inbox.ru yandex.ru yandex.com ya.ru rambler.ru tutanota.com tuta.io zoho.com ' +
    'zohomail.com fastmail.com orange.fr wanadoo.fr free.fr sfr.fr laposte.net bbox.fr ' +
    'libero.it virgilio.it alice.it tiscali.it t-online.de freenet.de seznam.cz centrum.cz ' +
    'wp.pl o2.pl onet.pl interia.pl abv.bg uol.com.br bol.com.br terra.com.br qq.com foxmail.com ' +
    '163.com 126.com yeah.net sina.com sohu.com naver.com daum.net hanmail.net nate.com ' +
    'rediffmail.com docomo.ne.jp ezweb.ne.jp softbank.ne.jp comcast.net verizon.net att.net ' +
    'sbcglobal.net bellsouth.net cox.net btinternet.com sky.com virginmedia.com ntlworld.com ' +
    'ukr.net i.ua meta.ua hushmail.com mailfence.com posteo.de mailbox.org disroot.org'
  ).split(' '),
)

/** Services that hide the target of a link; general knowledge, not complete. */
export const shorteners: ReadonlySet<string> = new Set(
  (
    'bit.ly bitly.com tinyurl.com t.co goo.gl ow.ly is.gd v.gd buff.ly rebrand.ly cutt.ly ' +
    'shorturl.at rb.gy t.ly tiny.cc bl.ink adf.ly ouo.io s.id lnkd.in soo.gd clck.ru vk.cc ' +
    'u.to qr.ae qrco.de surl.li urlz.fr shorte.st trib.al dlvr.it short.io t2m.io kutt.it ' +
    'tiny.one shrtco.de 1url.com hyperurl.co x.co j.mp po.st snip.ly linktr.ee l.ead.me ' +
    'n9.cl acortar.link me2.do url.kr reurl.cc han.gl bitly.ws shorturl.com l1nk.dev gg.gg'
  ).split(' '),
)

/** Domains of free web hosting, where each host name belongs to a customer. */
export const freeHosting: ReadonlySet<string> = new Set(
  (
    'github.io gitlab.io pages.dev workers.dev r2.dev web.app firebaseapp.com netlify.app ' +
    'vercel.app herokuapp.com onrender.com glitch.me repl.co replit.app surge.sh fly.dev ' +
    'weebly.com weeblysite.com wixsite.com wix.com wordpress.com blogspot.com tumblr.com ' +
    'godaddysites.com square.site webflow.io framer.app framer.website carrd.co strikingly.com ' +
    'jimdosite.com jimdofree.com yolasite.com ucraft.net webnode.page 000webhostapp.com ' +
    'infinityfreeapp.com byethost.com ueniweb.com mystrikingly.com notion.site gitbook.io ' +
    'typedream.app softr.app bubbleapps.io azurewebsites.net azurestaticapps.net windows.net ' +
    'cloudfront.net amazonaws.com digitaloceanspaces.com backblazeb2.com appspot.com ' +
    'translate.goog ipfs.io dweb.link cf-ipfs.com fleek.co trycloudflare.com ngrok.io ' +
    'ngrok-free.app ngrok.app duckdns.org no-ip.org ddns.net hopto.org zapto.org myftp.org'
  ).split(' '),
)

/** Public forms and pages on large sites: URL prefixes by domain. */
export const freePages: ReadonlyMap<string, readonly string[]> = new Map([
  ['google.com', ['docs.google.com/forms', 'sites.google.com/', 'drive.google.com/']],
  ['forms.gle', ['forms.gle/']],
  ['googleapis.com', ['storage.googleapis.com/', 'firebasestorage.googleapis.com/']],
  ['office.com', ['forms.office.com/']],
  ['1drv.ms', ['1drv.ms/']],
  ['dropbox.com', ['www.dropbox.com/s', 'dropbox.com/s']],
  ['we.tl', ['we.tl/']],
  ['jotform.com', ['form.jotform.com/', 'www.jotform.com/']],
  ['typeform.com', ['']],
  ['canva.com', ['www.canva.com/design']],
  ['telegra.ph', ['telegra.ph/']],
])

export type Material = {
  bytes: number
  isReduced?: true
  kind: MessageKind
  fields: readonly HeaderField[]
  body: MessageBody
  view: BodyView
  links: readonly Link[]
  /** How many more links there are. */
  moreLinks?: number
  attachments: readonly Attachment[]
  hops: readonly TracedHop[]
  origin: Origin | null
  submitter: Submitter | null
  authentication: Authentication | null
  unsubscribe: Unsubscribe | null
  claims?: Pick<ListClaims, 'unsubscribeSigners'>
  shingles: PackedShingles
  /** See `FileFindings`. */
  fileFaults?: readonly FileFault[]
}

export type HeaderIndex = {
  /** Returns the value of the first field with that lower-case name. */
  value: (key: string) => string | undefined
  count: (key: string) => number
}

export function indexHeader(fields: readonly HeaderField[]): HeaderIndex {
  const known = new Map<string, { first: HeaderField; count: number }>()
  for (const field of fields) {
    const its = known.get(field.key)
    if (its) its.count++
    else known.set(field.key, { first: field, count: 1 })
  }
  return {
    value: (key) => known.get(key)?.first.value,
    count: (key) => known.get(key)?.count ?? 0,
  }
}

export type Person = {
  /** The decoded display name. */
  name: string
  /** In lower case; empty when there is none. */
  address: string
  local: string
  domain: string
  /** The registrable domain, or the domain itself if there is none. */
  organization: string
}

/** Author, reply address, return path and recipients of a message. */
export type People = {
  author: Person | undefined
  authors: number
  replyTo: Person | undefined
  sender: Person | undefined
  /** The organization of the return path; undefined when there is none. */
  returnPathOrganization: string | undefined
  recipient: Person | undefined
  recipients: number
}

const valueCharsMax = 4_000
const nameCharsMax = 300

/**
 * Returns the author, the reply address, the return path and the recipients that a header states.
 */
export function peopleOf(header: HeaderIndex): People {
  const list = (key: string) => {
    const value = header.value(key)
    return value === undefined ? [] : parseMailboxes(value.slice(0, valueCharsMax))
  }
  const first = (key: string) => personOf(list(key)[0])
  const from = list('from')
  const to = list('to')
  const returnPath = header.value('return-path')
  const bounces = returnPath === undefined ? undefined : personOf(parseMailboxes(returnPath)[0])
  return {
    author: personOf(from[0]),
    authors: from.length,
    replyTo: first('reply-to'),
    sender: first('sender'),
    returnPathOrganization: bounces?.organization || undefined,
    recipient: personOf(to.find(({ address }) => address !== '')),
    recipients: to.filter(({ address }) => address !== '').length + list('cc').length,
  }
}

function personOf(mailbox: { name: string; address: string } | undefined): Person | undefined {
  if (!mailbox) return undefined
  const address = decodeHeaderText(mailbox.address).toLowerCase()
  const domain = domainOf(address) ?? ''
  return {
    name: decodeHeaderText(mailbox.name).trim().slice(0, nameCharsMax),
    address,
    local: address.slice(0, Math.max(0, address.lastIndexOf('@'))),
    domain,
    organization: registrableDomainOf(domain) ?? domain,
  }
}

/** Whether two organizations are both known and differ. */
export function areForeign(one: string | undefined, other: string | undefined): boolean {
  return Boolean(one) && Boolean(other) && one !== other
}
