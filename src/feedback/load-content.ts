import type { App } from '../app.ts'
import { listPackedAnalyses } from '../db/analyses.ts'
import { type Consumer, listConsumersByIds } from '../db/consumers.ts'
import {
  type Feedback,
  listFeedback,
  feedbackName,
  type NewFeedback,
} from '../db/feedback-reports.ts'
import { listMerged } from '../db/feedback-waiting.ts'
import { listNoticesOfFeedback, type NoticeOfFeedback } from '../db/page-notices.ts'
import type { Db } from '../db/pool.ts'
import { listReporterEmails } from '../db/reporters.ts'
import { listRawMessages, listReportsByIds, type Report } from '../db/reports.ts'
import { type Packed, unpack } from '../db/rows.ts'
import type { MessageSource } from '../mail/feedback-text.ts'
import { blockOfAddress } from '../mail/ip-blocks.ts'
import { redactionKey } from '../evidence/codes.ts'
import { answerKeys, answerLinks, composeAnswerAddress } from '../mail/verp.ts'
import type { Network } from '../origin/networks.ts'
import { shippedMeanings } from '../judging/rule-versions.ts'
import {
  type FeedbackContent,
  messageSourceOf,
  type NoticedPage,
} from '../parsing/feedback-content.ts'
import type { PlainAnalysis } from '../pieces/analyze.ts'
import { inEnglish } from '../texts/phrases.ts'
import { topicOf } from '../verdict/choose-contact.ts'
import { type Complaint, isContinued } from '../verdict/complaint.ts'
import { hasContract, isOriginalAskable } from '../verdict/consumers.ts'
import { strongestAgainst, symbolsOfMessage, type Verdict } from '../verdict/verdict.ts'
import { uuidTime } from '../world.ts'

/** Maximum number of messages that one feedback report lists, including its own. */
const SOURCES_MAX = 1_000

/**
 * Returns the origins of the messages merged into feedback reports, by `feedbackName`: for each
 * feedback report up to 999, in the order of the merged reports. A digest has none, because it
 * describes each message separately.
 */
async function listMergedSources(
  db: Db,
  feedback: readonly Feedback[],
): Promise<Map<string, MessageSource[]>> {
  const heads = feedback.filter(({ incidents, isDigest }) => incidents > 1 && !isDigest)
  if (heads.length === 0) return new Map()
  const byHead = Map.groupBy(await listMerged(db, heads), ({ head }) => feedbackName(head))
  const sources = new Map<string, MessageSource[]>()
  for (const [head, merged] of byHead) {
    const ids = merged.slice(0, SOURCES_MAX - 1).map(({ member }) => member.reportId)
    const analyses = await listPackedAnalyses(db, ids)
    const sourceOf = new Map<string, MessageSource>()
    for (const { id, encoding, content } of analyses) {
      const json = (await unpack({ encoding, content })).toString()
      const source = messageSourceOf(JSON.parse(json) as PlainAnalysis)
      if (source) sourceOf.set(id, source)
    }
    sources.set(
      head,
      ids.flatMap((id) => sourceOf.get(id) ?? []),
    )
  }
  return sources
}

type FeedbackPart = {
  feedback: Feedback
  content: FeedbackContent
  packed: Packed
  analysis: Packed
}

/** A feedback report with all its parts: first its own, then those of the others in a digest. */
export type LoadedFeedback = {
  feedback: Feedback
  consumer: Consumer
  parts: readonly FeedbackPart[]
}

/** Rows that the caller has already read. */
export type LoadedRows = { consumers: readonly Consumer[]; reports: readonly Report[] }

type Settings = Pick<
  App['config'],
  'returnPathDomain' | 'publicUrl' | 'mailFrom' | 'operatorName' | 'secret'
>

/**
 * Maximum number of reports in a digest. Queries for the mails of other reports use the same limit.
 */
export const DIGEST_MAX = 100

/**
 * Loads the content of feedback reports, by `feedbackName`. A feedback report is absent if the
 * message or the analysis of its report was deleted. What still has to leave contains an original
 * only if the reporter agreed or the consumer has a contract now.
 */
export async function loadFeedback(
  db: Db,
  wanted: readonly Feedback[],
  settings: Settings,
  now: Date,
  read: LoadedRows = { consumers: [], reports: [] },
): Promise<Map<string, LoadedFeedback>> {
  const digests = wanted.filter(({ isDigest }) => isDigest)
  const members = digests.length > 0 ? await loadMembers(db, digests) : []
  const loaded = new Map<string, LoadedFeedback>()
  const all = [...wanted, ...members.map(({ feedback }) => feedback)]
  if (all.length === 0) return loaded
  const known = byId(read.consumers)
  const unknown = unique(all.map((one) => one.consumerId)).filter((id) => !known.has(id))
  const others = unknown.length > 0 ? await listConsumersByIds(db, unknown) : []
  const consumers = new Map([...known, ...others])
  const leaving = new Set(wanted.flatMap((one) => (isLeaving(one) ? [feedbackName(one)] : [])))
  const headOf = new Map(members.map(({ feedback, head }) => [feedbackName(feedback), head]))
  const allowed = all.map((one) => {
    const consumer = consumers.get(one.consumerId)
    const hasRight = one.kind === 'original' || (consumer && hasContract(consumer, now))
    const isOver = !hasRight && leaving.has(headOf.get(feedbackName(one)) ?? feedbackName(one))
    return isOver && one.hasOriginal ? { ...one, hasOriginal: false } : one
  })
  const partOf = await loadParts(db, allowed, { consumers, reports: read.reports }, settings)
  for (const feedback of wanted) {
    const consumer = consumers.get(feedback.consumerId)
    const itself = partOf.get(feedbackName(feedback))
    if (!consumer || !itself) continue
    const others = members.flatMap((one) => {
      const part =
        one.head === feedbackName(feedback) ? partOf.get(feedbackName(one.feedback)) : undefined
      return part ? [part] : []
    })
    loaded.set(feedbackName(feedback), { feedback, consumer, parts: [itself, ...others] })
  }
  return loaded
}

function isLeaving({ state }: Feedback): boolean {
  return state === 'queued' || state === 'waiting' || state === 'held'
}

async function loadMembers(
  db: Db,
  digests: readonly Feedback[],
): Promise<{ feedback: Feedback; head: string }[]> {
  const merged = await listMerged(db, digests)
  const headOf = new Map(
    merged.map(({ member, head }) => [feedbackName(member), feedbackName(head)]),
  )
  const rows = await listFeedback(db, unique(merged.map(({ member }) => member.reportId)))
  const taken = new Map<string, number>()
  return rows.flatMap((feedback) => {
    const head = headOf.get(feedbackName(feedback))
    if (head === undefined) return []
    const count = (taken.get(head) ?? 1) + 1
    taken.set(head, count)
    return count > DIGEST_MAX ? [] : [{ feedback, head }]
  })
}

async function loadParts(
  db: Db,
  all: readonly Feedback[],
  { consumers, reports }: { consumers: ReadonlyMap<string, Consumer>; reports: readonly Report[] },
  settings: Settings,
): Promise<Map<string, FeedbackPart>> {
  const ids = unique(all.map(({ reportId }) => reportId))
  const redeemed = unique(all.flatMap((one) => (one.kind === 'redeemed' ? [one.reportId] : [])))
  const aboutPages = all.filter(({ recipientRole }) => recipientRole === 'page')
  const [emailOf, analyses, raws, notified, others, pages] = await Promise.all([
    reporterEmailsOf(db, ids, reports),
    listPackedAnalyses(db, ids),
    listRawMessages(db, ids),
    redeemed.length > 0 ? listFeedback(db, redeemed) : [],
    listMergedSources(db, all),
    listNoticesOfFeedback(db, unique(aboutPages.map(({ reportId }) => reportId))),
  ])
  const [analysisOf, rawOf] = [byId(analyses), byId(raws)]
  const parts = new Map<string, FeedbackPart>()
  for (const feedback of all) {
    const analysis = analysisOf.get(feedback.reportId)
    const isAboutPage = feedback.recipientRole === 'page'
    const notice = isAboutPage ? pages.get(feedbackName(feedback)) : undefined
    const page = isAboutPage ? noticedPage(feedback, notice) : undefined
    if (isAboutPage && !page) continue
    const network = page ? nobody : analysis && networkOrAddress(analysis)
    const packed = rawOf.get(feedback.reportId)
    const reporterEmail = emailOf.get(feedback.reportId)
    const consumer = consumers.get(feedback.consumerId)
    if (!analysis || !network || !packed || reporterEmail === undefined || !consumer) continue
    const complaint = notified.find(
      (one) =>
        one.reportId === feedback.reportId &&
        one.consumerId === feedback.consumerId &&
        one.recipientRole === feedback.recipientRole &&
        one.kind === 'complaint',
    )
    const content = contentOf(feedback, consumer, settings, {
      network,
      reporter: { addresses: [reporterEmail] },
      ...(page ? contentOfPage(feedback, page) : contentOfJudgment(feedback, analysis.judgment)),
      others: others.get(feedbackName(feedback)),
      // The report may lead to several pages of one desk.
      takenBack: feedback.kind === 'redeemed' ? (notice ?? complaint)?.number : undefined,
    })
    parts.set(feedbackName(feedback), { feedback, content, packed, analysis })
  }
  return parts
}

/** Returns the reporters' addresses, by report. */
async function reporterEmailsOf(
  db: Db,
  ids: readonly string[],
  known: readonly Report[],
): Promise<Map<string, string>> {
  const read = new Set(known.map(({ id }) => id))
  const unknown = ids.filter((id) => !read.has(id))
  const others = unknown.length > 0 ? await listReportsByIds(db, unknown) : []
  const reports = [...known, ...others]
  const emails = await listReporterEmails(db, unique(reports.map(({ reporterId }) => reporterId)))
  return new Map(
    reports.flatMap(({ id, reporterId }) => {
      const email = emails.get(reporterId)
      return email === undefined ? [] : [[id, email]]
    }),
  )
}

/** What the analysis of a report knows of a feedback report that it has just created. */
export type CreatedFeedback = {
  row: NewFeedback
  consumer: Consumer
  network: Network
  reporterEmail: string
  verdict: Verdict
  complaint: Complaint
  /** The message, which may be unpacked already, and its packed analysis. */
  packed: Packed
  analysis: Packed
}

/**
 * Returns the content of a feedback report as `loadFeedback` would load it, from the values that
 * were stored a moment ago.
 */
export function contentOfCreated(created: CreatedFeedback, settings: Settings): LoadedFeedback {
  const { row, consumer, network, reporterEmail, verdict, complaint, packed, analysis } = created
  const feedback = asStored(row)
  const { cidr, asn, name, country, abuse } = network
  const stored = { cidr, asn, name, country, abuse, contacts: abuse === null ? [] : [abuse] }
  const content = contentOf(feedback, consumer, settings, {
    ...{
      network: stored,
      reporter: { addresses: [reporterEmail] },
      others: undefined,
      takenBack: undefined,
    },
    ...contentOfJudgment(feedback, { verdict, complaint }),
  })
  return { feedback, consumer, parts: [{ feedback, content, packed, analysis }] }
}

/** A feedback report as it is read after it was stored. */
export function asStored(row: NewFeedback): Feedback {
  return {
    ...{ reportId: row.reportId, number: row.number, consumerId: row.consumerId },
    ...{ kind: row.kind ?? 'complaint', state: 'queued' },
    isShadowed: row.state === 'shadowed',
    ...{ incidents: 1, isDigest: false },
    ...{ recipientRole: row.recipientRole ?? 'network', keepsTokens: row.keepsTokens ?? false },
    ...{ sharedParts: row.sharedParts ?? null, hasOriginal: row.hasOriginal ?? false },
    ...{ address: row.address, createdAt: row.createdAt, dueAt: null, finishedAt: null },
    ...{ mergedInto: null, mergedNumber: null, messageId: null, reply: null },
    ...{ bouncedAt: null, bounceStatus: null, bounceReason: null },
  }
}

type Known = Pick<
  FeedbackContent,
  'network' | 'reporter' | 'feedbackType' | 'complaint' | 'others' | 'takenBack' | 'page'
>

/** Notices about pages name no network of the sender. */
const nobody: Network = {
  ...{ cidr: '', asn: null, name: null, country: null, abuse: null, contacts: [] },
}

/**
 * The page of a notice. Its address is that of the report, because the copy of its message knows
 * what identifies its reporter; undefined if the report no longer leads to the page. A withdrawal
 * is sent all the same, with placeholders for what differs between recipients.
 */
function noticedPage(
  { kind }: Feedback,
  page: NoticeOfFeedback | undefined,
): NoticedPage | undefined {
  if (!page) return undefined
  const known = page.shared && kind !== 'original' ? page.url : page.reportUrl
  const url = known ?? (kind === 'redeemed' ? `https://${page.key}` : undefined)
  if (url === undefined) return undefined
  return {
    ...{ url, key: page.key, type: page.type, role: page.role, recipient: page.name },
    ips: page.ips.map((ip) => ip.replace(/\/\d+$/, '')),
    ...{ firstSeen: page.firstSeen, lastSeen: page.lastSeen, reports: Math.max(1, page.reports) },
    confirmedBy: page.confirmedBy ?? 'reporters',
    imitates: page.imitates ?? undefined,
    through: page.through,
    isShared: page.shared && url === page.url,
    isAgreed: kind === 'original',
  }
}

function contentOfPage(
  { kind }: Feedback,
  page: NoticedPage,
): Pick<FeedbackContent, 'feedbackType' | 'complaint' | 'page'> {
  const type = page.type === 'malware' ? 'virus' : 'fraud'
  return { feedbackType: kind === 'redeemed' ? 'not-spam' : type, complaint: undefined, page }
}

function contentOf(
  feedback: Feedback,
  consumer: Consumer,
  { returnPathDomain: domain, secret, publicUrl, mailFrom, operatorName }: Settings,
  known: Known,
): FeedbackContent {
  return {
    ...known,
    reportId: feedback.reportId,
    number: feedback.number,
    from: mailFrom,
    operator: operatorName,
    to: feedback.address,
    createdAt: feedback.createdAt,
    domain,
    service: publicUrl,
    format: consumer.format,
    form: consumer.form,
    incidents: feedback.isDigest ? 1 : feedback.incidents,
    answerAddress: composeAnswerAddress(feedback, { domain, secret }),
    answerLinks: answerLinks(feedback, { publicUrl, secret }),
    answerKeys: answerKeys(feedback, { domain, secret }),
    isUnsolicited: consumer.enrolledAt === null && consumer.state !== 'enrolled',
    keepsTokens: feedback.keepsTokens,
    sharedParts: feedback.sharedParts ?? undefined,
    hasOriginal: feedback.hasOriginal,
    mayAskOriginal: isOriginalAskable(feedback) && known.feedbackType === 'abuse',
    redactionKey: redactionKey(secret, feedback.consumerId, uuidTime(feedback.consumerId)),
  }
}

const feedbackTypes = { spam: 'abuse', phishing: 'fraud', malware: 'virus' } as const
/** Maximum number of signs that a feedback report lists, the strongest first. */
const SIGNS_MAX = 6

/** Returns what a feedback report says of the complaint and the verdict. */
function contentOfJudgment(
  { kind }: Feedback,
  { verdict, complaint }: { verdict: Verdict; complaint: Complaint },
): Pick<FeedbackContent, 'feedbackType' | 'complaint'> {
  if (kind === 'redeemed' || complaint.kind === 'not-spam') {
    return { feedbackType: 'not-spam', complaint: undefined }
  }
  const signs = strongestAgainst(symbolsOfMessage(verdict.symbols), SIGNS_MAX).map(
    ({ name, meaning = shippedMeanings().get(name) ?? name }) => inEnglish(meaning),
  )
  return {
    feedbackType: feedbackTypes[topicOf(verdict.class, complaint.kind)],
    complaint: {
      ...{ kind: complaint.kind, verdict: verdict.class, signs },
      continued: isContinued(complaint) ? complaint.before : undefined,
    },
  }
}

/**
 * Returns the network of the origin. For an unknown network, returns one that contains only the
 * origin's address, because domain consumers and marketers may still be notified.
 */
function networkOrAddress(analysis: {
  network: Network | null
  originIp: string | null
}): Network | undefined {
  if (analysis.network) return analysis.network
  const cidr = blockOfAddress(analysis.originIp ?? '')
  if (cidr === undefined) return undefined
  return { cidr, asn: null, name: null, country: null, abuse: null, contacts: [] }
}

function byId<T extends { id: string }>(rows: readonly T[]): Map<string, T> {
  return new Map(rows.map((row) => [row.id, row]))
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)]
}
