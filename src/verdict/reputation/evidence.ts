import { symbolScore, type SymbolBasis, type Verdict, type VerdictClass } from '../verdict.ts'
import { type Danger, dangers } from './detail.ts'
import type { Piece } from './fold.ts'
import { uuidAt } from './karma.ts'
import { type Subject, subjectKindOf, subjectKinds } from './subject.ts'

/**
 * The direction and strength of a report as evidence about each subject of its message, before
 * weighting by karma.
 */
export type Leaning = { good: number; bad: number }

/** Why a complaint is not taken at its word. */
export type ComplaintDoubt = 'bulk' | 'list' | 'unconfirmed' | 'unsupported'

export type ReportEvidence = {
  reportId: string
  reporterId: string
  /** Reports with one source count as those of one reporter. */
  sourceId: string
  /** Karma of the reporter when the report was judged, 0 to 1; see `readStandings`. */
  karma: number
  /** Whether an operator created the reporter's account. */
  isVouched: boolean
  /** Statement of the reporter. */
  reportedAs: 'spam' | 'phishing' | 'not-spam'
  /** Class of the verdict, and its confidence, 0 to 1. */
  verdict: { class: VerdictClass; confidence: number }
  /** Why the complaint is not taken at its word; see `doubtOf`. */
  doubt?: ComplaintDoubt | undefined
  /** Sum of the weights that do not depend on any report; positive for spam. */
  support: number
  campaignId: string | undefined
  /** The subjects, including the autonomous system if known. */
  subjects: readonly Subject[]
  /** When the report was received. */
  at: Date
}

const nothing: Leaning = { good: 0, bad: 0 }
/**
 * Weight of a complaint about marketing or other bulk mail. People complain more easily about mail
 * that they once subscribed to.
 */
const MARKETING = 0.3
/**
 * Weight of a report without a clear verdict. It is above 0, because otherwise nothing would ever
 * be learned.
 */
const UNDECIDED_WEIGHT = 0.5

/**
 * Returns the leaning of a report: the direction is the reporter's statement, with full weight when
 * the verdict agrees and half when it is undecided. Both amounts are 0 when the statement and the
 * verdict contradict each other, when the message is list mail, and until the reporter has
 * confirmed a complaint about mail that looks wanted. What a new reporter says alone is evidence:
 * it waits only to be forwarded.
 */
export function leaningOf({
  reportedAs,
  verdict,
  doubt,
}: Pick<ReportEvidence, 'reportedAs' | 'verdict' | 'doubt'>): Leaning {
  const isPraise = reportedAs === 'not-spam'
  if (doubt === 'bulk' && verdict.class !== 'legitimate') return { good: 0, bad: MARKETING }
  if (doubt !== undefined && doubt !== 'unsupported') return nothing
  switch (verdict.class) {
    case 'undecided':
      return isPraise ? { good: UNDECIDED_WEIGHT, bad: 0 } : { good: 0, bad: UNDECIDED_WEIGHT }
    case 'marketing':
      return isPraise ? { good: 1, bad: 0 } : { good: 0, bad: MARKETING }
    case 'legitimate':
      return isPraise ? { good: 1, bad: 0 } : nothing
    case 'spam':
    case 'phishing':
    case 'malware':
      return isPraise ? nothing : { good: 0, bad: 1 }
  }
}

/** Returns what makes the message of a complaint dangerous, unless the complaint is doubted. */
export function dangerOf({
  reportedAs,
  verdict,
  doubt,
}: Pick<ReportEvidence, 'reportedAs' | 'verdict' | 'doubt'>): Danger | undefined {
  const { class: its } = verdict
  const isDanger = its === 'phishing' || its === 'malware'
  return isDanger && doubt === undefined && reportedAs !== 'not-spam' ? its : undefined
}

/**
 * Returns the side that a report takes on its campaign; undefined when the leaning of the report is
 * too small for a testimony.
 */
export function witnessSideOf(report: Pick<ReportEvidence, 'reportedAs' | 'verdict' | 'doubt'>) {
  const { good, bad } = leaningOf(report)
  if (bad >= UNDECIDED_WEIGHT) return 'bad'
  return good >= UNDECIDED_WEIGHT ? 'good' : undefined
}

const unsupportive: readonly SymbolBasis[] = ['word', 'words', 'known']

/** Returns the sum of the weights of a verdict that depend on no report and on no word. */
export function supportOf({ symbols }: Pick<Verdict, 'symbols'>): number {
  return symbolScore(
    symbols.filter(({ basis }) => basis === undefined || !unsupportive.includes(basis)),
  )
}

/** Minimum sum of weights for a message to support a statement. */
const SUPPORT_MIN = 1

/**
 * Whether the message itself supports the statement: its content, authentication, blacklists and
 * the model, without any report. An attacker can write such a message: alone, this proves nothing.
 */
export function isSupported({
  reportedAs,
  support,
}: Pick<ReportEvidence, 'reportedAs' | 'support'>): boolean {
  return reportedAs === 'not-spam' ? support <= -SUPPORT_MIN : support >= SUPPORT_MIN
}

/**
 * A subject with its key (64 bits, signed); `subject` is undefined when its name is already stored.
 */
export type KeyedSubject = { key: bigint; subject: Subject | undefined }

export type PackedReport = { piece: Piece; subjects: readonly KeyedSubject[] }

/**
 * What a report adds to the karma of its reporter: the side that it takes on its campaign, a
 * complaint about wanted mail, or the reversal of either. `doubted`: a complaint that takes no
 * side.
 */
export type Testified = {
  reporterId: string
  campaignId: string | undefined
  what: TestifiedWhat
  /** Whether the message supports the statement. */
  isSupported: boolean
  karma: number
  at: number
}

/** Kinds of testimony; the index is the stored number. */
const testimonyKinds = [
  'good',
  'bad',
  'wanted-mail',
  'nothing',
  'withdrawn',
  'not-wanted-mail',
  'retraction',
  'overruling',
  'doubted',
  'not-doubted',
] as const

export type TestifiedWhat = (typeof testimonyKinds)[number]

/** Maximum length of a stored name in bytes. Longer names identify one recipient, or nothing. */
export const NAME_BYTES_MAX = 250

const HEAD_BYTES = 4 + 1 + 4 + 4 + 4 + 2
const SUBJECT_BYTES = 8 + 1 + 1
/**
 * The danger of a message is packed as one more subject, with this key and without a kind. The
 * version before takes it for a subject without a reputation, and skips it.
 */
const dangerKeys = new Map(
  Object.entries(dangers).map(([name, number]) => [BigInt(number), name]),
) as ReadonlyMap<bigint, Danger>

/** Packs one report as evidence. Packed reports can be concatenated. */
export function packReport({ piece, subjects: named }: PackedReport): Buffer {
  const { danger } = piece
  const own = danger ? [{ key: BigInt(dangers[danger]), subject: undefined }] : []
  const subjects: readonly KeyedSubject[] = [...named, ...own]
  const names = subjects.map(({ subject }) => Buffer.from(subject?.name ?? ''))
  const length = names.reduce((sum, name) => sum + SUBJECT_BYTES + name.length, HEAD_BYTES)
  const bytes = Buffer.allocUnsafe(length)
  let at = bytes.writeUInt32BE(piece.source, 0)
  at = bytes.writeUInt8(karmaByte(piece.karma), at)
  at = bytes.writeFloatBE(piece.good, at)
  at = bytes.writeFloatBE(piece.bad, at)
  at = bytes.writeUInt32BE(Math.floor(piece.at / 1000), at)
  at = bytes.writeUInt16BE(subjects.length, at)
  for (const [index, { key, subject }] of subjects.entries()) {
    const name = names[index] ?? Buffer.alloc(0)
    at = bytes.writeBigInt64BE(key, at)
    at = bytes.writeUInt8(subject ? subjectKinds[subject.kind] : 0, at)
    at = bytes.writeUInt8(name.length, at)
    at += name.copy(bytes, at)
  }
  return bytes
}

/**
 * Unpacks any number of reports packed by `packReport`.
 *
 * @throws RangeError for other input
 */
export function unpackReports(bytes: Buffer, start = 0): PackedReport[] {
  const reports: PackedReport[] = []
  for (let at = start; at < bytes.length;) {
    const piece: Piece = {
      source: bytes.readUInt32BE(at),
      karma: bytes.readUInt8(at + 4) / 255,
      good: bytes.readFloatBE(at + 5),
      bad: bytes.readFloatBE(at + 9),
      at: bytes.readUInt32BE(at + 13) * 1000,
    }
    const count = bytes.readUInt16BE(at + 17)
    at += HEAD_BYTES
    const subjects: KeyedSubject[] = []
    for (let index = 0; index < count; index++) {
      const end = at + SUBJECT_BYTES + bytes.readUInt8(at + 9)
      const kind = subjectKindOf(bytes.readUInt8(at + 8))
      const name = bytes.toString('utf8', at + SUBJECT_BYTES, end)
      const key = bytes.readBigInt64BE(at)
      const danger = dangerKeys.get(key)
      if (danger) piece.danger = danger
      else subjects.push({ key, subject: kind && { kind, name } })
      at = end
    }
    reports.push({ piece, subjects })
  }
  return reports
}

/** Size of a packed testimony in bytes. */
export const TESTIFIED_BYTES = 16 + 16 + 1 + 1 + 4
const SUPPORTED = 128
const NO_CAMPAIGN = '00000000-0000-0000-0000-000000000000'

/** Packs what a report adds to the karma of its reporter. */
export function packTestified(testified: Testified): Buffer {
  const bytes = Buffer.alloc(TESTIFIED_BYTES)
  bytes.write(testified.reporterId.replaceAll('-', ''), 0, 'hex')
  bytes.write((testified.campaignId ?? NO_CAMPAIGN).replaceAll('-', ''), 16, 'hex')
  const kind = testimonyKinds.indexOf(testified.what)
  bytes.writeUInt8(kind | (testified.isSupported ? SUPPORTED : 0), 32)
  bytes.writeUInt8(karmaByte(testified.karma), 33)
  bytes.writeUInt32BE(Math.floor(testified.at / 1000), 34)
  return bytes
}

/** Unpacks any number of testimonies packed by `packTestified`. */
export function unpackTestified(bytes: Buffer): Testified[] {
  return Array.from({ length: Math.floor(bytes.length / TESTIFIED_BYTES) }, (_, index) => {
    const at = index * TESTIFIED_BYTES
    const campaignId = uuidAt(bytes, at + 16)
    const kind = bytes.readUInt8(at + 32)
    return {
      reporterId: uuidAt(bytes, at),
      campaignId: campaignId === NO_CAMPAIGN ? undefined : campaignId,
      what: testimonyKinds[kind & ~SUPPORTED] ?? 'nothing',
      isSupported: (kind & SUPPORTED) !== 0,
      karma: bytes.readUInt8(at + 33) / 255,
      at: bytes.readUInt32BE(at + 34) * 1000,
    }
  })
}

function karmaByte(karma: number): number {
  return Math.round(Math.min(1, Math.max(0, karma)) * 255)
}
