import type { Piece } from './fold.ts'
import { uuidAt } from './karma.ts'
import { type Subject, subjectKindOf, subjectKinds } from './reputation.ts'

/** What a report says for or against each of the subjects of its message; amounts are not karma. */
export type Leaning = { good: number; bad: number }

/** A report as evidence. */
export type ReportEvidence = {
  reportId: string
  reporterId: string
  /** Of the reporter when the report was judged, 0 to 1: see `readKarmas`. */
  karma: number
  /** What the reporter says it is. */
  reportedAs: 'spam' | 'phishing' | 'not-spam'
  /** The class of the verdict, and how sure that is, 0 to 1. */
  verdict: { class: VerdictWord; confidence: number }
  campaignId: string | undefined
  /** With the autonomous system, where it is known. */
  subjects: readonly Subject[]
  /** When it was received. */
  at: Date
}

/** The classes of `verdict/verdict.ts`. */
type VerdictWord = 'spam' | 'phishing' | 'malware' | 'marketing' | 'legitimate' | 'undecided'

const nothing: Leaning = { good: 0, bad: 0 }
/** Mail that was asked for once is complained about more easily than mail nobody asked for. */
const MARKETING = 0.3
/** The word of the reporter alone: without it nothing would ever become known. */
const WORD_ALONE = 0.5

/**
 * Which way a report leans: as its reporter says, in full when the verdict says the same, by half
 * when it does not know. Where they contradict each other nobody is accused or praised.
 */
export function leaningOf({
  reportedAs,
  verdict,
}: Pick<ReportEvidence, 'reportedAs' | 'verdict'>): Leaning {
  const isPraise = reportedAs === 'not-spam'
  switch (verdict.class) {
    case 'undecided':
      return isPraise ? { good: WORD_ALONE, bad: 0 } : { good: 0, bad: WORD_ALONE }
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

/** How a report speaks of its campaign; undefined where it leans too little to be a witness. */
export function witnessSideOf(report: Pick<ReportEvidence, 'reportedAs' | 'verdict'>) {
  const { good, bad } = leaningOf(report)
  if (bad >= WORD_ALONE) return 'bad'
  return good >= WORD_ALONE ? 'good' : undefined
}

/** A subject with its key, 64 bits, signed; without its name where it is known already. */
export type KeyedSubject = { key: bigint; subject: Subject | undefined }

/** One report and the subjects it speaks of. */
export type PackedReport = { piece: Piece; subjects: readonly KeyedSubject[] }

/** What a report tells of its reporter, beside evidence: `side` as witness, or wanted mail. */
export type Testified = {
  reporterId: string
  campaignId: string | undefined
  what: TestifiedWhat
  karma: number
  at: number
}

/** What can be told of a reporter; the place is the stored number. */
const testifiedWhats = [
  'good',
  'bad',
  'wanted-mail',
  'nothing',
  'withdrawn',
  'not-wanted-mail',
  'retraction',
  'overruling',
] as const

/** One of them. */
export type TestifiedWhat = (typeof testifiedWhats)[number]

/** Longer names are not kept: they name one recipient, or nothing. */
export const NAME_BYTES_MAX = 250

const HEAD_BYTES = 4 + 1 + 4 + 4 + 4 + 2
const SUBJECT_BYTES = 8 + 1 + 1

/** Bytes of one report as evidence; many stand one after the other. */
export function packReport({ piece, subjects }: PackedReport): Buffer {
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
 * Reads what `packReport` wrote, any number of them.
 *
 * @throws RangeError for what it did not write
 */
export function unpackReports(bytes: Buffer, start = 0): PackedReport[] {
  const reports: PackedReport[] = []
  for (let at = start; at < bytes.length;) {
    const piece = {
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
      subjects.push({ key: bytes.readBigInt64BE(at), subject: kind && { kind, name } })
      at = end
    }
    reports.push({ piece, subjects })
  }
  return reports
}

/** How long one testimony is when it is packed. */
export const TESTIFIED_BYTES = 16 + 16 + 1 + 1 + 4
const NO_CAMPAIGN = '00000000-0000-0000-0000-000000000000'

/** Bytes of what a report tells of its reporter. */
export function packTestified(testified: Testified): Buffer {
  const bytes = Buffer.alloc(TESTIFIED_BYTES)
  bytes.write(testified.reporterId.replaceAll('-', ''), 0, 'hex')
  bytes.write((testified.campaignId ?? NO_CAMPAIGN).replaceAll('-', ''), 16, 'hex')
  bytes.writeUInt8(testifiedWhats.indexOf(testified.what), 32)
  bytes.writeUInt8(karmaByte(testified.karma), 33)
  bytes.writeUInt32BE(Math.floor(testified.at / 1000), 34)
  return bytes
}

/** Reads what `packTestified` wrote, any number of them. */
export function unpackTestified(bytes: Buffer): Testified[] {
  return Array.from({ length: Math.floor(bytes.length / TESTIFIED_BYTES) }, (_, index) => {
    const at = index * TESTIFIED_BYTES
    const campaignId = uuidAt(bytes, at + 16)
    return {
      reporterId: uuidAt(bytes, at),
      campaignId: campaignId === NO_CAMPAIGN ? undefined : campaignId,
      what: testifiedWhats[bytes.readUInt8(at + 32)] ?? 'nothing',
      karma: bytes.readUInt8(at + 33) / 255,
      at: bytes.readUInt32BE(at + 34) * 1000,
    }
  })
}

/** A karma in a byte. */
function karmaByte(karma: number): number {
  return Math.round(Math.min(1, Math.max(0, karma)) * 255)
}
