import type { ReportKind } from '../db/reports.ts'
import campaigns from './sample-mail.json' with { type: 'json' }

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
  isBulk?: boolean
}

/** The campaigns of the sample data, in the bundled sample networks. */
export const sampleCampaigns = campaigns as readonly SampleCampaign[]

/** About how many reports the sample data has. */
export const sampleReportsAbout = Math.round(
  sampleCampaigns.reduce((sum, { days, perDay }) => sum + perDay * (days.first - days.last), 0),
)

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
