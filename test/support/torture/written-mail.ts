import { chanceFrom } from '../chance.ts'
import { bounceMessage } from '../messages.ts'

/** The kinds of a report; `spam` is listed twice because it is the most frequent. */
const kinds = ['spam', 'spam', 'phishing', 'not-spam'] as const

export type Kind = (typeof kinds)[number]

/** A message as it is reported. */
export type Writing = { raw: Buffer; kind: Kind }

/** The mailbox of a reporter: its address, and the relays through which some of its mail comes. */
export type Mailbox = { email: string; relayIps: readonly string[] }

/** One mass mailing: its author, its origin, and its words. */
type Campaign = { domain: string; ips: readonly string[]; words: readonly string[] }

type Chance = () => number
type Body = { type: string; lines: readonly string[] }

const CAMPAIGNS = 7
const CAMPAIGN_WORDS = 60
const OUTBREAK_MESSAGES = 8

/**
 * Writes random messages: similar messages of a few campaigns, and single messages. They are plain
 * text or HTML, with links, pictures and files, and come from several networks. Some come directly
 * to a known provider, others through a relay of the mailbox, and a few are written by a mail
 * system. Equal seeds give equal campaigns. `number` is in the Message-ID, so no two have the same
 * bytes.
 */
export function createWriter(seed: number): {
  write: (chance: Chance, mailbox: Mailbox, number: string) => Writing
  /** Writes the first messages of a campaign that has not occurred yet. */
  outbreak: (chance: Chance, mailbox: Mailbox, number: string) => Writing[]
} {
  const ours = chanceFrom(seed)
  const campaigns = Array.from({ length: CAMPAIGNS }, (_, index) => campaignOf(ours, String(index)))
  return {
    write(chance, mailbox, number) {
      if (chance() < 0.03)
        return { raw: bounceMessage(`nobody-${number}@desk.example`), kind: 'spam' }
      const isRelayed = chance() < 0.15
      const kind = pick(chance, isRelayed ? accusing : kinds)
      const campaign = chance() < 0.6 ? pick(chance, campaigns) : single(chance, number)
      return { raw: compose(chance, campaign, { mailbox, number, isRelayed }), kind }
    },
    outbreak(chance, mailbox, number) {
      const campaign = campaignOf(chance, `new${number}`)
      return Array.from({ length: OUTBREAK_MESSAGES }, (_, index) => {
        const way = { mailbox, number: `${number}.${index}`, isRelayed: false }
        return { raw: compose(chance, campaign, way), kind: 'spam' }
      })
    },
  }
}

/**
 * The kinds of reports on relayed mail. No question is asked about wanted mail, so a later
 * statement about the relay would change nothing.
 */
const accusing = ['spam', 'phishing'] as const

/** Some addresses of each network in the sample table. */
const addresses = [
  '192.0.2.77',
  '192.0.2.78',
  '198.51.100.23',
  '198.51.100.130',
  '203.0.113.9',
  '203.0.113.44',
  '2001:db8:5::25',
]

const countries: Readonly<Record<number, string>> = {
  64496: 'FR',
  64497: 'DE',
  64498: 'GB',
  64499: 'US',
  64500: 'NL',
}

/** Returns the country of an address in the sample table. */
export function countryOf(ip: string): string | undefined {
  return countries[asnOf(ip)]
}

/** Returns the autonomous system of an address in the sample table. */
export function asnOf(ip: string): number {
  if (ip.includes(':')) return 64500
  const [first, , , last] = ip.split('.')
  if (first === '192') return 64496
  if (first === '203') return 64499
  return Number(last) < 128 ? 64497 : 64498
}

function campaignOf(chance: Chance, name: string): Campaign {
  return {
    domain: `house${name}.example`,
    ips: [pick(chance, addresses), pick(chance, addresses)],
    words: words(chance, CAMPAIGN_WORDS),
  }
}

function single(chance: Chance, number: string): Campaign {
  return {
    domain: chance() < 0.5 ? 'shop.example' : `s${number}.example`,
    ips: [pick(chance, addresses)],
    words: words(chance, 2 + Math.floor(chance() * 60)),
  }
}

type Way = { mailbox: Mailbox; number: string; isRelayed: boolean }

function compose(chance: Chance, campaign: Campaign, { mailbox, number, isRelayed }: Way): Buffer {
  const { domain } = campaign
  const ip = pick(chance, campaign.ips)
  const bracketed = ip.includes(':') ? `IPv6:${ip}` : ip
  const from = `from mail.${domain} (mail.${domain} [${bracketed}])`
  const body = bodyOf(chance, campaign, number)
  return Buffer.from(
    [
      `Return-Path: <bounce-${number}@${domain}>`,
      ...(isRelayed ? relayedBy(pick(chance, mailbox.relayIps), from) : takenByProvider(from)),
      `From: "${campaign.words.slice(0, 2).join(' ')}" <offers@${domain}>`,
      `To: <${mailbox.email}>`,
      `Subject: ${campaign.words.slice(0, 4).join(' ')} ${Math.floor(chance() * 1_000)}`,
      'Date: Mon, 16 Nov 2026 09:59:57 +0000',
      `Message-ID: <${number}@${domain}>`,
      ...(chance() < 0.3 ? [`List-Unsubscribe: <https://${domain}/leave/${number}>`] : []),
      'MIME-Version: 1.0',
      `Content-Type: ${body.type}`,
      '',
      ...body.lines,
      '',
    ].join('\r\n'),
  )
}

function takenByProvider(from: string): string[] {
  return [
    `Received: ${from}`,
    ' by mx.google.com with ESMTPS id d2e1a72fcca58-20a.123.2026.11.16.02.00.00',
    ' for <you@gmail.com>; Mon, 16 Nov 2026 02:00:00 -0800 (PST)',
  ]
}

function relayedBy(relayIp: string, from: string): string[] {
  return [
    `Received: from relay.provider.example (relay.provider.example [${relayIp}])`,
    ' by mx.home.example (Postfix) with ESMTPS id 4ABC',
    ' for <you@home.example>; Mon, 16 Nov 2026 10:00:02 +0000',
    `Received: ${from}`,
    ' by relay.provider.example (Postfix) with ESMTPS id 4ABD',
    ' for <you@home.example>; Mon, 16 Nov 2026 10:00:00 +0000',
  ]
}

/** Writes the words of the campaign, one of them occasionally changed, and a separate link. */
function bodyOf(chance: Chance, { domain, words: written }: Campaign, number: string): Body {
  const said = [...written]
  if (chance() < 0.5 && said.length > 40) said[Math.floor(chance() * said.length)] = word(chance)
  const text = said.join(' ')
  const link = `https://${domain}/offer?customer=${number}`
  const form = chance()
  if (form < 0.4) return { type: 'text/plain; charset=utf-8', lines: [text, link] }
  const html = `<html><body><h1>${said[0]}</h1><p>${text}</p><a href="${link}">${said[1]}</a>`
  const picture = `<img src="https://${domain}/pictures/${said[2]}.png" alt=""></body></html>`
  if (form < 0.8) return { type: 'text/html; charset=utf-8', lines: [html, picture] }
  return { type: 'multipart/mixed; boundary="part"', lines: withFile(chance, text, domain) }
}

function withFile(chance: Chance, text: string, domain: string): string[] {
  const size = 1_200 + Math.floor(chance() * 3) * 100
  const file = Buffer.alloc(size, `%PDF-1.4 ${domain} `).toString('base64')
  return [
    '--part',
    'Content-Type: text/plain; charset=utf-8',
    '',
    text,
    '--part',
    'Content-Type: application/pdf; name="invoice.pdf"',
    'Content-Disposition: attachment; filename="invoice.pdf"',
    'Content-Transfer-Encoding: base64',
    '',
    ...(file.match(/.{1,76}/g) ?? []),
    '--part--',
  ]
}

const syllables = ['ba', 'do', 'fe', 'gu', 'ka', 'lo', 'mi', 'nu', 'pa', 're', 'so', 'ti', 'vu']

function words(chance: Chance, count: number): string[] {
  return Array.from({ length: count }, () => word(chance))
}

function word(chance: Chance): string {
  const count = 2 + Math.floor(chance() * 3)
  return Array.from({ length: count }, () => pick(chance, syllables)).join('')
}

/** Returns a random element. */
export function pick<T>(chance: Chance, things: readonly T[]): T {
  return things[Math.floor(chance() * things.length)] as T
}
