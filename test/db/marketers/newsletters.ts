import type { DnsTools } from '../../../src/origin/authenticity/ask-dns.ts'
import { runAnalyzeReport } from '../../../src/reports/analyze-report.ts'
import { runAdviseReporter } from '../../../src/letters/advise-reporter.ts'
import { findLetterMessage } from '../../../src/db/letters.ts'
import { putMarketer } from '../../../src/db/marketers.ts'
import { unpack } from '../../../src/db/rows.ts'
import { inTransaction } from '../../../src/db/pool.ts'
import { openMarketers } from '../../../src/marketers/live-marketers.ts'
import type { Marketer } from '../../../src/verdict/marketers/marketer.ts'
import { openTestApp, type TestApp } from '../../support/app.ts'
import { parser } from '../../support/parser.ts'
import { fakeDns, rsaKey, signed } from '../../support/signing.ts'

const key = rsaKey()
const oneClick = [
  'List-Unsubscribe: <https://news.example.org/off?who=42>, <mailto:off@example.org?subject=off%2042>',
  'List-Unsubscribe-Post: List-Unsubscribe=One-Click',
]
const usual = 'From:To:Subject:Date:Message-ID:List-Id:List-Unsubscribe:List-Unsubscribe-Post'

/** Properties of a newsletter; by default it is valid. */
export type NewsletterOptions = {
  mark: string
  domain?: string
  /** The first label of the List-Id. */
  list?: string
  /** Additional fields of the header. */
  fields?: readonly string[]
  covered?: string
  /** Whether the signed content is replaced. */
  forged?: boolean
}

/**
 * Composes a newsletter, signed by its domain, with everything that one-click unsubscribing needs.
 * By default, the domain is example.org.
 */
export async function newsletter({
  mark,
  domain = 'example.org',
  list = 'news',
  fields = oneClick,
  covered = usual,
  forged = false,
}: NewsletterOptions): Promise<Buffer> {
  const raw = [
    `Return-Path: <news@${domain}>`,
    `Received: from mail.${domain} (mail.${domain} [198.51.100.23])`,
    ' by mx.provider.example (Postfix) with ESMTPS id 4ABC',
    ' for <you@provider.example>; Mon, 16 Nov 2026 10:00:00 +0000',
    `From: "The Example Shop" <news@${domain}>`,
    'To: you@provider.example',
    `Subject: What is new in autumn ${mark}`,
    'Date: Mon, 16 Nov 2026 09:59:57 +0000',
    `Message-ID: <${mark}@${domain}>`,
    `List-Id: The Example Shop <${list}.${domain}>`,
    ...fields,
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
    '',
    `Dear customer, here is what is new this autumn: ${mark}.`,
    '',
  ].join('\r\n')
  const whole = await signed(Buffer.from(raw), { domain, key, covering: covered })
  return forged ? Buffer.from(whole.toString().replace('Dear customer', 'Dear victim')) : whole
}

/** A confirmed marketer that signs as example.org. */
export const exampleShop: Marketer = {
  key: 'example-shop',
  kind: 'marketer',
  name: 'The Example Shop',
  state: 'confirmed',
  signers: ['example.org'],
  ranges: [],
  listIds: [],
  authors: [],
  hosts: [],
  practice: '',
  website: 'https://www.example.org/',
  advice: { en: 'Open your account and choose “No mail”.', fr: 'Ouvrez votre compte.' },
  contact: null,
  feedback: null,
  sources: {},
}

/** The DNS answers for the keys of the newsletters. */
export function newsletterDns(): DnsTools {
  const { resolve } = fakeDns({
    'TXT s1._domainkey.example.org': [key.record],
    'TXT s1._domainkey.example.net': [key.record],
  })
  return { resolve, listings: () => Promise.resolve([]) }
}

/** An application that accepts newsletters, analyzes them and writes advice. */
export type Newsletters = Awaited<ReturnType<typeof openNewsletters>>

export async function openNewsletters() {
  const app: TestApp = await openTestApp()
  const dns = newsletterDns()
  const keep = (marketer: Marketer) =>
    inTransaction(app.pool, (tx) => putMarketer(tx, marketer, new Date()))
  /** Analyzes reports with the current registry. */
  async function analyze(...ids: string[]): Promise<void> {
    const marketers = await openMarketers(app)
    const payloads = ids.map((reportId) => ({ reportId }))
    const outcomes = await runAnalyzeReport(payloads, { ...app, parser, dns, marketers })
    await marketers.close()
    if (outcomes.some((outcome) => outcome !== 'done')) throw new Error(JSON.stringify(outcomes))
  }
  async function report(
    options: NewsletterOptions,
    more: Parameters<TestApp['report']>[1] = {},
  ): Promise<string> {
    const { id } = await app.report(await newsletter(options), more)
    await analyze(id)
    return id
  }
  return {
    app,
    keep,
    analyze,
    report,
    advise: (...ids: string[]) =>
      runAdviseReporter(
        ids.map((reportId) => ({ reportId })),
        app,
      ),
    /** Returns the jobs of a queue about a report. */
    jobsOf: async (queue: string, reportId: string) =>
      (
        await app.rows(`select id from pgboss.job where name = $1 and data ->> 'reportId' = $2`, [
          queue,
          reportId,
        ])
      ).length,
    letterOf: async (reportId: string) => {
      const [letter] = await app.rows(`select id from letters where report_id = $1 order by id`, [
        reportId,
      ])
      const copy = letter && (await findLetterMessage(app.pool, String(letter['id'])))
      return copy && (await unpack(copy)).toString()
    },
    close: () => app.close(),
  }
}
