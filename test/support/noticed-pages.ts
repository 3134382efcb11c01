import { createMailer } from '../../src/net/mailer.ts'
import { putPageReports, touchPages, updatePage } from '../../src/db/pages.ts'
import { accusable } from '../../src/phishing/accusable.ts'
import type { WorkApp } from '../../src/app.ts'
import { runForwardReport } from '../../src/feedback/forward-report.ts'
import { runNotifyPage } from '../../src/feedback/notify-page.ts'
import { runAnalyzeReport } from '../../src/reports/analyze-report.ts'
import { type DnsAnswer, uuidv7 } from '../../src/world.ts'
import { closeAfterTests } from './after-tests.ts'
import { openTestApp } from './app.ts'
import { parser } from './parser.ts'
import { startSmtpSink } from './smtp-sink.ts'

/** A phishing message for one recipient; the link has a token of its own. */
export function phishingMessage(mark: string, link: string): Buffer {
  return Buffer.from(
    [
      'Return-Path: <service@sender.example>',
      'Received: from mail.sender.example (mail.sender.example [198.51.100.23])',
      ' by mx.provider.example (Postfix) with ESMTPS id 4ABC',
      ` for <person-${mark}@provider.example>; Mon, 16 Nov 2026 10:00:00 +0000`,
      'From: "PayPal Service" <service@sender.example>',
      `To: person-${mark}@provider.example`,
      'Subject: Your account is locked',
      `Message-ID: <${mark}@sender.example>`,
      'MIME-Version: 1.0',
      'Content-Type: text/html; charset=utf-8',
      '',
      `<p>Your account is locked. <a href="${link}">Unlock it now</a> within a day.</p>`,
      '',
    ].join('\r\n'),
  )
}

type Rdap = NonNullable<WorkApp['rdap']>

/** Registries that know one network, and one registrar. */
function registries(asked: string[]): Rdap {
  const network = { cidrs: ['8.8.4.0/24'], holdsFor: ['8.8.4.0/24'], name: 'HOST-NET' }
  const contacts = ['abuse@host-net.example', 'noc@host-net.example']
  return {
    mayAsk: () => true,
    ask: () =>
      Promise.resolve({
        ...{ is: 'found', contacts, network: { ...network, country: 'US', registry: 'arin' } },
      }),
    askDomain(domain) {
      asked.push(domain)
      const found = { name: domain, registrar: 'Example Registrar', ianaId: '1' }
      const rest = { registeredOn: null, nameServers: [], isHeld: false, registry: 'r.example' }
      const its = { is: 'found', domain: { ...found, ...rest } } as const
      return Promise.resolve({ ...its, contacts: ['abuse@registrar.example'] })
    },
  }
}

/** Opens an application in which pages are confirmed by hand; mail goes to an SMTP server. */
export async function openNoticingApp(env: Record<string, string> = {}) {
  const asked: string[] = []
  const app = await closeAfterTests(openTestApp(env))
  const sink = await closeAfterTests(startSmtpSink())
  const mailer = await closeAfterTests(createMailer(sink.url) ?? Promise.reject(new Error('none')))
  const answers = new Map<string, DnsAnswer>()
  const dns = {
    resolve(name: string, type: string): Promise<DnsAnswer> {
      asked.push(name)
      const usual: DnsAnswer = { is: 'found', records: ['8.8.4.4'] }
      return Promise.resolve(answers.get(name) ?? (type === 'A' ? usual : { is: 'none' }))
    },
  }
  const tools = { ...app, parser, mailer, rdap: registries(asked), dns }
  let made = 0
  return {
    ...{ app, sink, tools, asked, answers },
    /** Stores a confirmed page to which reports of messages lead; returns its id. */
    async confirmed(
      urls: readonly string[],
      given: {
        key?: string
        shared?: boolean
        type?: 'phishing' | 'malware'
        through?: string[]
      } = {},
    ) {
      const { shared = false, type = 'phishing', through = [] } = given
      const [first = ''] = urls
      const { hostname: host, pathname } = new URL(first)
      const now = app.clock()
      const payloads: { reportId: string }[] = []
      for (const url of urls) {
        const reporterId = ++made % 2 === 0 ? app.ann : app.bob
        const raw = phishingMessage(`m${made}`, url)
        const { id } = await app.report(raw, { kind: 'phishing', reporterId })
        payloads.push({ reportId: id })
      }
      await runAnalyzeReport(payloads, { ...app, parser })
      const accused = accusable(new URL(first), [])
      const scope = 'scope' in accused ? accused.scope : 'host'
      const key = given.key ?? `${host}${pathname}`
      const seen = { key, url: first, host, scope, type, imitates: 'PayPal', lastSeen: now }
      const [page] = await touchPages(app.pool, [{ ...seen, id: uuidv7(now), through }])
      if (!page) throw new Error('The page was not stored.')
      await putPageReports(
        app.pool,
        payloads.map(({ reportId }, at) => ({
          ...{ pageId: page.id, reportId, url: urls[at] ?? first, seenAt: now, campaignId: null },
          ...{ reporterId: app.ann, isVouched: false, isProven: true, isYoung: false, circle: at },
          ...{ recipient: Buffer.alloc(8, at), isAccusing: true, isSupported: true },
          ...{ decision: null, signs: [] },
        })),
      )
      const state = { state: 'confirmed', confirmedBy: 'reporters', confirmedAt: now } as const
      await updatePage(app.pool, { ...page, ...state, shared, reports: urls.length })
      return { pageId: page.id, reportIds: payloads.map(({ reportId }) => reportId) }
    },
    notify: (...pageIds: string[]) =>
      runNotifyPage(
        pageIds.map((pageId) => ({ pageId })),
        tools,
      ),
    /** Sends the queued notices, and returns the mail that arrived. */
    async send() {
      const before = sink.messages.length
      const keys = await app.rows(
        `select report_id as "reportId", number from feedback_reports
         where told_as = 'page' and state = 'queued'`,
      )
      await runForwardReport(keys as { reportId: string; number: number }[], tools)
      return sink.messages.slice(before)
    },
    /** The contacts of a page: role, contact, and the state of the notice or of the feedback. */
    async contacts(pageId: string) {
      const rows = await app.rows(
        `select role, contact, coalesce(feedback_reports.state, page_notices.state) as state
         from page_notices left join feedback_reports using (report_id, number)
         where page_id = $1 order by place`,
        [pageId],
      )
      return rows.map(({ role, contact, state }) => `${role} ${contact} ${state}`)
    },
  }
}
