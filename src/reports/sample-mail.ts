import type { ReportKind } from '../db/reports.ts'

/** A kind of invented mail that is reported for some days; days are counted back from today. */
export type SampleCampaign = {
  from: string
  domain: string
  ip: string
  subject: string
  text: string
  kind: ReportKind
  days: { first: number; last: number }
  perDay: number
  isBulk?: true
}

/** The campaigns of the sample data, in the bundled sample networks. */
export const sampleCampaigns: readonly SampleCampaign[] = [
  {
    from: 'Watch Outlet',
    domain: 'watches.example',
    ip: '198.51.100.23',
    subject: 'Luxury watches, 80 % off',
    text: 'Replicas nobody can tell apart. Buy today: https://watches.example/sale',
    kind: 'spam',
    days: { first: 30, last: 21 },
    perDay: 4,
  },
  {
    from: 'Parcel Service',
    domain: 'parcel-fee.example',
    ip: '203.0.113.61',
    subject: 'Your parcel is waiting: pay the fee',
    text: 'Your parcel could not be delivered. Pay 1.99 here: https://parcel-fee.example/pay',
    kind: 'phishing',
    days: { first: 24, last: 16 },
    perDay: 5,
  },
  {
    from: 'Example Bank',
    domain: 'bank-login.example',
    ip: '192.0.2.77',
    subject: 'Your account was blocked',
    text: 'We noticed an unusual payment. Confirm your password: https://bank-login.example/in',
    kind: 'phishing',
    days: { first: 12, last: 0 },
    perDay: 6,
  },
  {
    from: 'Crypto Desk',
    domain: 'coins.example',
    ip: '198.51.100.201',
    subject: 'Earn 900 euro a day from home',
    text: 'A secret of the banks, now for everyone: https://coins.example/start?c=77',
    kind: 'spam',
    days: { first: 18, last: 3 },
    perDay: 3,
  },
  {
    from: 'International Lottery',
    domain: 'lottery.example',
    ip: '192.0.2.140',
    subject: 'You won 950,000 euro',
    text: 'Your address was drawn. Write to our agent: agent@lottery.example, code EX-77.',
    kind: 'spam',
    days: { first: 28, last: 1 },
    perDay: 1,
  },
  {
    from: 'Pills Direct',
    domain: 'pills.example',
    ip: '2001:db8:77::25',
    subject: 'Cheaper than your pharmacy',
    text: 'No prescription needed. Order: https://pills.example/order?a=1',
    kind: 'spam',
    days: { first: 6, last: 0 },
    perDay: 7,
  },
  {
    from: 'Garden News',
    domain: 'garden.example',
    ip: '192.0.2.112',
    subject: 'November in the garden',
    text: 'Plant bulbs now: https://garden.example/bulbs',
    kind: 'spam',
    days: { first: 26, last: 2 },
    perDay: 1,
    isBulk: true,
  },
  {
    from: 'Maria Jones',
    domain: 'friends.example',
    ip: '198.51.100.90',
    subject: 'Dinner on Friday?',
    text: 'Shall we meet at seven? The photos are here: https://friends.example/photos',
    kind: 'not-spam',
    days: { first: 20, last: 0 },
    perDay: 0.4,
  },
]

/** Composes the `nth` message of a campaign, as a recipient's mail server received it. */
export function sampleMessage(
  { from, domain, ip, subject, text, isBulk }: SampleCampaign,
  { nth, to, at }: { nth: number; to: string; at: Date },
): Buffer {
  const literal = ip.includes(':') ? `IPv6:${ip}` : ip
  const date = at.toUTCString().replace('GMT', '+0000')
  const bulk = [
    `List-Id: <news.${domain}>`,
    `List-Unsubscribe: <https://${domain}/off/${nth}>`,
    'List-Unsubscribe-Post: List-Unsubscribe=One-Click',
    'Precedence: bulk',
  ]
  const lines = [
    `Return-Path: <news@${domain}>`,
    `Received: from mail.${domain} (mail.${domain} [${literal}])`,
    ` by mx.provider.example (Postfix) with ESMTPS id 4SP${nth}`,
    ` for <${to}>; ${date}`,
    `From: "${from}" <news@${domain}>`,
    `To: <${to}>`,
    `Subject: ${subject}`,
    `Date: ${date}`,
    `Message-ID: <sample-${nth}.${at.getTime()}@${domain}>`,
    ...(isBulk ? bulk : []),
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
    '',
    text,
    '',
  ]
  return Buffer.from(lines.join('\r\n'))
}
