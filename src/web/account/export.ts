import { Readable } from 'node:stream'
import type { Response, Router } from 'express'
import { ZipFile } from 'yazl'
import { listConsents } from '../../db/accounts.ts'
import {
  type ExportPage,
  listLettersToExport,
  listMailsToExport,
  listReportsToExport,
} from '../../db/export-rows.ts'
import { listAnswers } from '../../db/feedback-answers.ts'
import { listFeedback } from '../../db/feedback-reports.ts'
import { listHandOvers } from '../../db/mail-exchangers.ts'
import { listProbes } from '../../db/mail-probes.ts'
import { findLink } from '../../db/organization-links.ts'
import { listRelays } from '../../db/reporter-relays.ts'
import {
  findAccount,
  findMailInAddress,
  findReporterSettings,
  type Reporter,
} from '../../db/reporters.ts'
import { findRawMessage, type Report } from '../../db/reports.ts'
import { findKarmas } from '../../db/reputations.ts'
import { type Packed, unpack } from '../../db/rows.ts'
import { dateOf } from '../../durations.ts'
import { concealKeys } from '../../mail/conceal-keys.ts'
import { listSessions, listTokens } from '../../db/sessions.ts'
import { listWebhooks } from '../../db/webhooks.ts'
import { karmaOf } from '../../verdict/reputation/karma.ts'
import { describeReport } from '../api/reports.ts'
import type { FormReader } from '../pages/form.ts'
import { ownFormPage } from '../pages/form-page.ts'
import type { Site } from '../site.ts'
import { asksForCode, isProven, proofFault } from './password.ts'

/** The account's own data, without anything that gives access to it. */
async function describeAccount(
  { id, email, role }: Reporter,
  { pool, clock }: Pick<Site, 'pool' | 'clock'>,
) {
  const now = clock()
  const [account, settings, consents, tokens, sessions, mailIn, way, webhooks, karmas, link] =
    await Promise.all([
      findAccount(pool, id),
      findReporterSettings(pool, id),
      listConsents(pool, id),
      listTokens(pool, id),
      listSessions(pool, id, now),
      findMailInAddress(pool, id),
      describeWay(id, pool),
      listWebhooks(pool, id),
      findKarmas(pool, [id]),
      findLink(pool, id),
    ])
  return {
    exported_at: now,
    id,
    email,
    role,
    created_at: account?.createdAt,
    has_second_step: account?.hasTotp,
    settings,
    consents,
    karma: karmaOf(karmas[0], now),
    karma_counts: karmas[0]?.counts,
    tokens,
    sessions,
    organization: link && {
      issuer: link.issuer,
      subject: link.subject,
      linked_at: link.linkedAt,
    },
    mail_in_address_since: mailIn?.since ?? null,
    ...way,
    webhooks: webhooks.map(({ url, events, state, createdAt }) => ({
      url,
      events,
      state,
      created_at: createdAt,
    })),
  }
}

/** What is known of the way that mail takes to a reporter. */
async function describeWay(id: string, pool: Site['pool']) {
  const [relays, probes, handOvers] = await Promise.all([
    listRelays(pool, id),
    listProbes(pool, id),
    listHandOvers(pool, id),
  ])
  return {
    relays: relays.map(({ cidr, how, name, evidence, since }) => ({
      cidr,
      how,
      name,
      evidence,
      since,
    })),
    test_letters: probes.map(({ border, relays: servers, cameAt }) => ({
      received_by: border,
      servers,
      came_at: cameAt,
    })),
    handed_over_by: handOvers.map(({ ip, authorDomain, seenOn }) => ({
      server: ip,
      author_domain: authorDomain,
      seen_on: seenOn,
    })),
  }
}

type EntriesNeeds = Pick<Site, 'pool'>

const REPORTS_AT_ONCE = 100
const MAILS_AT_ONCE = 20

/**
 * The messages of a reporter, and for each hundred of them a file with one JSON line per report.
 */
async function* reportEntries(
  { id }: Reporter,
  { pool }: EntriesNeeds,
): AsyncGenerator<ArchiveEntry> {
  let file = 0
  const pages = paged(REPORTS_AT_ONCE, (page) => listReportsToExport(pool, id, page))
  for await (const page of pages) {
    const lines: string[] = []
    for (const report of page) {
      lines.push(JSON.stringify(await describeOne(report, pool)))
      const bytes = await findRawMessage(pool, report.id)
      if (bytes) yield { path: `messages/${report.id}.eml`, at: report.receivedAt, bytes }
    }
    const path = `reports/${String(++file).padStart(6, '0')}.jsonl`
    const at = page.at(-1)?.receivedAt ?? new Date(0)
    yield { path, at, bytes: Buffer.from(`${lines.join('\n')}\n`) }
  }
}

/** Our mail to the reporter, and the reporter's mail to us. */
async function* mailEntries(
  reporter: Reporter,
  { pool }: EntriesNeeds,
): AsyncGenerator<ArchiveEntry> {
  const letters = paged(MAILS_AT_ONCE, (page) => listLettersToExport(pool, reporter, page))
  for await (const page of letters) {
    for (const letter of page) yield await mailEntry('letters', letter.id, letter.createdAt, letter)
  }
  const mails = paged(MAILS_AT_ONCE, (page) => listMailsToExport(pool, reporter.id, page))
  for await (const page of mails) {
    for (const mail of page) yield await mailEntry('received', mail.id, mail.receivedAt, mail)
  }
}

/** A report as in the API, with the reporter's statements and the feedback about it. */
async function describeOne(report: Report, pool: Site['pool']) {
  const [described, notified, answers] = await Promise.all([
    describeReport(pool, report),
    listFeedback(pool, [report.id]),
    listAnswers(pool, [report.id]),
  ])
  return {
    ...described,
    channel: report.channel,
    message_id: report.messageId,
    received_via: report.receivedVia,
    told: notified.map(({ number, kind, address, state, finishedAt }) => ({
      kind,
      address,
      state,
      at: finishedAt?.toISOString() ?? null,
      answers: answers
        .filter((one) => one.number === number)
        .map(({ answer, said, at }) => ({
          ...{ answer, said: said && concealKeys(said), at: at.toISOString() },
        })),
    })),
  }
}

async function mailEntry(
  folder: string,
  id: string,
  at: Date,
  packed: Packed,
): Promise<ArchiveEntry> {
  return { path: `${folder}/${id}.eml`, at, bytes: await unpack(packed) }
}

/** Yields all rows, page by page, each page starting after the last id of the previous one. */
async function* paged<Row extends { id: string }>(
  limit: number,
  list: (page: ExportPage) => Promise<Row[]>,
): AsyncGenerator<Row[]> {
  for (let after: string | null = null; ;) {
    const rows: Row[] = await list({ after, limit })
    if (rows.length > 0) yield rows
    const last = rows.at(-1)
    if (rows.length < limit || !last) return
    after = last.id
  }
}

type ArchiveEntry = { path: string; at: Date; bytes: Buffer }

type ArchiveNeeds = Pick<Site, 'pool' | 'clock' | 'config'>

/**
 * Writes all data that we store about a reporter as a ZIP to `out`, file by file: each is read
 * after the previous one was sent, so memory use does not grow with the amount of data. Resolves
 * when everything is written; rejects when `gone` reports that the client has disconnected.
 */
export async function writeArchive(
  reporter: Reporter,
  site: ArchiveNeeds,
  out: NodeJS.WritableStream,
  gone: AbortSignal,
): Promise<void> {
  const zip = new ZipFile()
  zip.outputStream.pipe(out)
  for await (const entry of entriesOf(reporter, site)) await add(zip, entry, gone)
  const written = new Promise<void>((resolve) => zip.outputStream.once('end', resolve))
  zip.end()
  await Promise.race([written, untilGone(gone)])
}

async function* entriesOf(reporter: Reporter, site: ArchiveNeeds): AsyncGenerator<ArchiveEntry> {
  const account = await describeAccount(reporter, site)
  yield { path: 'account.json', at: site.clock(), bytes: jsonBytes(account) }
  yield* reportEntries(reporter, site)
  yield* mailEntries(reporter, site)
}

/** Formats a value as indented JSON, so that people can read it. */
function jsonBytes(value: unknown): Buffer {
  return Buffer.from(`${JSON.stringify(value, null, 2)}\n`)
}

/** Adds a file to the archive, and resolves when its bytes have been read. */
async function add(zip: ZipFile, { path, at, bytes }: ArchiveEntry, gone: AbortSignal) {
  const taken = new Promise<void>((resolve, reject) => {
    zip.addReadStreamLazy(path, { mtime: at }, (give) => {
      const stream = Readable.from([bytes], { objectMode: false })
      stream.once('error', reject).once('close', resolve)
      give(null, stream)
    })
  })
  await Promise.race([taken, untilGone(gone)])
}

function untilGone(gone: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const leave = () => reject(new Error('The reader of the archive has disconnected.'))
    if (gone.aborted) leave()
    else gone.addEventListener('abort', leave, { once: true })
  })
}

type Needs = Pick<Site, 'pool' | 'clock' | 'config' | 'credentials' | 'limits' | 'log'> & FormReader

/** The page to export all data that we store about a reporter. */
export function exportRoutes(site: Needs): Router {
  return ownFormPage(site, {
    at: '/account/export',
    view: 'pages/account/export',
    title: 'ownAccount.export.title',
    data: async ({ reporter }) => ({ asksForCode: await asksForCode(site, reporter) }),
    async take({ req, res, form, reporter }) {
      const isOwner = await isProven(req, form, reporter, site)
      if (!isOwner) return { faults: { now: proofFault(req) } }
      await sendArchive(res, reporter, site)
      return undefined
    },
  })
}

/**
 * Sends the archive. Destroys the response on an error, so that the browser does not keep a
 * truncated archive.
 */
async function sendArchive(res: Response, reporter: Reporter, site: Needs): Promise<void> {
  const day = dateOf(site.clock())
  res.statusCode = 200
  res.setHeader('content-type', 'application/zip')
  res.setHeader('content-disposition', `attachment; filename="signalpost-${day}.zip"`)
  res.setHeader('content-security-policy', "default-src 'none'; sandbox")
  res.setHeader('cache-control', 'no-store')
  const gone = new AbortController()
  res.once('close', () => gone.abort())
  try {
    await writeArchive(reporter, site, res, gone.signal)
  } catch (error) {
    if (!gone.signal.aborted) throw error
  }
}
