import { createHash } from 'node:crypto'
import { analyzePlainly, type PlainAnalysis } from '../../src/pieces/analyze.ts'
import { redactionKey } from '../../src/evidence/codes.ts'
import { answerKeys, answerLinks, composeAnswerAddress } from '../../src/mail/verp.ts'
import { leafBytes, type MimeLeaf, readMime } from '../../src/mail/mime-leaves.ts'
import { parseHeader } from '../../src/mail/header.ts'
import { encodeTransfer } from '../../src/mail/transfer-encoding.ts'
import { composeFeedback } from '../../src/parsing/compose-report.ts'
import type { FeedbackContent } from '../../src/parsing/feedback-content.ts'
import { recipientsIn } from '../../src/evidence/identity.ts'
import type { Secrets } from './leaks.ts'
import { ringOf } from './key-ring.ts'

/**
 * A message into which the data of its reporter was inserted in every known way, and the input of
 * its feedback report.
 */
export type ReportedMessage = {
  name: string
  /** The message with the reporter's data. */
  planted: Buffer
  content: FeedbackContent
  analysis: PlainAnalysis
  secrets: Secrets
  /** The domains of the recipients. */
  domains: string[]
}

const account = 'zoe.quarry4711@reporters.example'
const token = 'Zq9xK2vLw7Rt'
const subscriber = '90817263'

const settings = {
  domain: 'bounces.here.example',
  secret: ringOf('a secret of the tests, long enough'),
}

/** Returns the parameters of a test report: the whole message, in the Abuse Reporting Format. */
export function contentOf(index: number, changes: Partial<FeedbackContent> = {}): FeedbackContent {
  const tail = index.toString(16).padStart(12, '0')
  const key = { reportId: `01a1fa3a-814b-7f10-ace3-${tail}`, number: 1 }
  return {
    ...key,
    from: 'feedback@here.example',
    to: 'abuse@there.example',
    createdAt: new Date('2026-11-03T09:00:00Z'),
    domain: 'here.example',
    service: 'https://here.example',
    feedbackType: 'abuse',
    complaint: { kind: 'spam', verdict: 'spam', signs: ['A sign.'] },
    format: 'arf',
    form: 'whole',
    incidents: 1,
    answerAddress: composeAnswerAddress(key, settings),
    answerLinks: answerLinks(key, { publicUrl: 'https://here.example', secret: settings.secret }),
    answerKeys: answerKeys(key, settings),
    isUnsolicited: true,
    keepsTokens: false,
    network: {
      cidr: '192.0.2.0/24',
      asn: 64_500,
      name: 'There',
      country: 'US',
      abuse: 'abuse@there.example',
      contacts: ['abuse@there.example'],
    },
    reporter: { addresses: [account] },
    redactionKey: redactionKey(ringOf('a secret of the tests'), 'abuse@there.example'),
    ...changes,
  }
}

/**
 * Prepares the message for a report; undefined without an origin, because then no one is notified.
 */
export async function reportedMessage(
  { name, raw }: { name: string; raw: Buffer },
  index: number,
): Promise<ReportedMessage | undefined> {
  const { delivered, claimed } = recipientsIn(parseHeader(raw).fields)
  const recipients = [...new Set([...delivered, ...claimed])]
  const planted = withData(raw)
  const analysis = await analyzePlainly(planted, { trustedRelays: [], ignoreStamps: false })
  if (analysis.origin === null) return undefined
  const secrets: Secrets = {
    addresses: [account, ...recipients.filter((address) => /^[^@]+@[^@]+\.[^@]+$/.test(address))],
    words: ['zoe quarry', 'zoe.quarry4711', token, subscriber],
  }
  const domains = [account, ...recipients].map((address) => address.replace(/^.*@/, ''))
  return { name, planted, content: contentOf(index), analysis, secrets, domains }
}

/** Composes the feedback report on a message. */
export async function feedbackOn({ planted, analysis, content }: ReportedMessage): Promise<Buffer> {
  return (await composeFeedback(planted, analysis, content)).raw
}

/** Adds the data of the reporter to the header, and to the first text that can be written again. */
function withData(raw: Buffer): Buffer {
  const base64 = Buffer.from(`id=1&m=${account}`).toString('base64url')
  const lines = [
    `Delivered-To: ${account}`,
    `X-Planted: ${account.replace('@', '=')}; ${base64}`,
    `X-Planted-Id: ${token}:${subscriber}`,
    `List-Unsubscribe: <https://list.example/u/${token}?m=${account.replace('@', '%40')}>`,
    `Cc: "Quarry, Zoe" <${account}>`,
  ]
  // With other line ends, all fields of a message with bare CRs would be part of the last one here.
  const end = raw.includes('\n') ? '\r\n' : '\r'
  const header = Buffer.from(lines.map((line) => `${line}${end}`).join(''), 'latin1')
  const leaf = readMime(raw).leaves.find(isWritable)
  if (!leaf) return Buffer.concat([header, raw])
  const { content, encoding = 'identity' } = leaf
  const shown = `${textIn(leaf).replace(/\r?\n?$/, '')}\r\n${plantedText(base64)}\r\n`
  const text = end === '\r' ? shown.replaceAll(/\r?\n/g, end) : shown
  const written = encoding === 'identity' ? text : encodeTransfer(text, encoding)
  const start = content.byteOffset - raw.byteOffset
  const [before, after] = [raw.subarray(0, start), raw.subarray(start + content.length)]
  return Buffer.concat([header, before, Buffer.from(written, 'latin1'), after])
}

function isWritable({ type, encoding, charset = '' }: MimeLeaf): boolean {
  const isText = type.startsWith('text/') && encoding !== undefined
  return isText && !/utf-?(?:16|32)|ucs|2022|utf-?7|hz/i.test(charset)
}

function textIn(leaf: MimeLeaf): string {
  return leafBytes(leaf)?.toString('latin1') ?? ''
}

function plantedText(base64: string): string {
  const hex = Buffer.from(account).toString('hex')
  const twice = account.replace('@', '%2540')
  const hash = createHash('sha256').update(account).digest('hex')
  const entities = [...account].map((letter) => `&#${String(letter.charCodeAt(0))};`).join('')
  return [
    'Dear Zoe Quarry, dear zoe.quarry4711,',
    `you are ${account.toUpperCase()} or ${entities}.`,
    `https://list.example/open/${token}.gif?s=${subscriber}&m=${base64}`,
    `https://list.example/go?u=${hex}&h=${hash}`,
    `https://list.example/x?to=https%3A%2F%2Fshop.example%2F${token}%3Fmail%3D${twice}`,
  ].join('\r\n')
}
