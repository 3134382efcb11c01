import { simpleParser } from 'mailparser'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { composeFeedback } from '../../../src/parsing/compose-report.ts'
import type { FeedbackContent, NoticedPage } from '../../../src/parsing/feedback-content.ts'
import { analyzePlainly } from '../../../src/pieces/analyze.ts'
import { wrongLines } from '../../support/copied-message.ts'
import { contentOf } from '../../support/feedback-reports.ts'

/** What the schemas of XARF 4 for content/phishing and content/malware say of what we write. */
const contact = z.strictObject({
  org: z.string().max(200),
  contact: z.email(),
  domain: z.hostname(),
})
const xarf = z.strictObject({
  xarf_version: z.string().regex(/^4\.\d+\.\d+$/),
  report_id: z.uuidv4(),
  timestamp: z.iso.datetime(),
  reporter: contact,
  sender: contact,
  source_identifier: z.string(),
  category: z.literal('content'),
  type: z.enum(['phishing', 'malware']),
  url: z.url(),
  domain: z
    .string()
    .regex(/^([a-z0-9]+(-[a-z0-9]+)*\.)+[a-z]{2,}$/)
    .optional(),
  registrar: z.string().optional(),
  hosting_provider: z.string().optional(),
  dns_records: z.strictObject({ a: z.array(z.ipv4()), aaaa: z.array(z.ipv6()) }).optional(),
  target_brand: z.string().optional(),
  verification_method: z.literal('user_report'),
  attack_vector: z.enum(['phishing', 'malware']),
  evidence_source: z.literal('user_report'),
  description: z.string().max(1000),
  tags: z.array(z.string().regex(/^[a-z0-9][a-z0-9_+-]*:[a-z0-9][a-z0-9_+-]*$/)).max(20),
  evidence: z.array(
    z.strictObject({
      content_type: z.literal('message/rfc822'),
      payload: z.base64(),
      description: z.string().max(500),
      hash: z.string().regex(/^sha256:[a-f0-9]+$/),
      size: z.int().min(0).max(5_242_880),
    }),
  ),
})

const account = 'zoe.quarry4711@reporters.example'
const token = 'Zq9xK2vLw7RtB41nPs80'

function messageWith(link: string): Buffer {
  return Buffer.from(
    [
      'Received: from out.sender.example (out.sender.example [192.0.2.44]) by mx.reporters.example',
      ' with ESMTPS id 4ABC; Tue, 3 Nov 2026 08:15:00 +0000',
      'From: "PayPal Service" <service@sender.example>',
      `To: "Zoe Quarry" <${account}>`,
      'Subject: Your account is locked',
      'Content-Type: text/html; charset=utf-8',
      '',
      `<p>Dear Zoe Quarry,</p><p>your account is locked. <a href="${link}">Unlock it</a>.</p>`,
      '',
    ].join('\r\n'),
  )
}

const page: NoticedPage = {
  url: `https://secure.evil-shop.com/Login-12/${token}?u=1`,
  key: 'secure.evil-shop.com/login-0/*',
  isShared: false,
  isAgreed: false,
  type: 'phishing',
  confirmedBy: 'reporters',
  imitates: 'PayPal',
  firstSeen: new Date('2026-11-02T07:00:00Z'),
  lastSeen: new Date('2026-11-03T08:15:00Z'),
  reports: 35,
  role: 'registrar',
  recipient: 'Example Registrar Inc.',
  through: [],
  ips: [],
}

async function noticeOn(
  changes: Partial<NoticedPage> = {},
  content: Partial<FeedbackContent> = {},
) {
  const its = { ...page, ...changes }
  const raw = messageWith(its.url)
  const analysis = await analyzePlainly(raw, { trustedRelays: [], ignoreStamps: false })
  const reporter = { addresses: [account] }
  const given = contentOf(1, { feedbackType: 'fraud', reporter, ...content, page: its })
  const mail = await composeFeedback(raw, analysis, given)
  const parsed = await simpleParser(mail.raw)
  const json = parsed.attachments.find(({ contentType }) => contentType === 'application/json')
  const report = xarf.parse(JSON.parse(json?.content.toString() ?? ''))
  const evidence = Buffer.from(report.evidence[0]?.payload ?? '', 'base64').toString()
  return { ...mail, report, evidence, text: parsed.text ?? '', subject: parsed.subject }
}

test('a notice is valid XARF 4 of the category content, and its text suffices to act', async () => {
  const { raw, report, text, subject, evidence } = await noticeOn({ isShared: true })
  expect(wrongLines(raw)).toEqual([])
  expect(report).toMatchObject({
    timestamp: '2026-11-03T08:00:00.000Z',
    source_identifier: 'evil-shop.com',
    type: 'phishing',
    url: page.url,
    domain: 'evil-shop.com',
    registrar: 'Example Registrar Inc.',
    target_brand: 'PayPal',
    tags: ['message:phishing', 'url:shared'],
  })
  expect(subject).toBe('A phishing page: evil-shop[.]com (imitates PayPal)')
  expect(text).toContain(
    `Page:           ${page.url.replace('https', 'hxxps').replaceAll('.', '[.]')}`,
  )
  const plain = text.replace(/\s+/g, ' ')
  for (const said of [
    '35 email messages that were reported to us from 2026-11-02 to 2026-11-03',
    'The sender pretends to be PayPal',
    'The address of the page is exact. Several people',
    'suspending the domain',
    "section 3.18 of ICANN's Registrar Accreditation Agreement",
    'Email: feedback@here.example',
    'in good faith',
    'Removed: https://here.example/answer/',
    'Stop: https://here.example/answer/',
    '| Subject: Your account is locked',
    '| your account is locked',
  ]) {
    expect(plain).toContain(said)
  }
  expect(plain).not.toContain('Need more: https')
  expect(evidence).toContain('Subject: Your account is locked')
  // The log of the sender has these of each recipient.
  for (const shown of [text, evidence]) expect(shown).not.toMatch(/08:15|4ABC|192\.0\.2\.44/)
})

test('a host is asked about its host name, under the Digital Services Act', async () => {
  const ips = ['192.0.2.7', '2001:db8::7']
  const { report, text } = await noticeOn({ role: 'host', recipient: 'EXAMPLE-NET', ips })
  expect(report).toMatchObject({
    source_identifier: 'secure.evil-shop.com',
    hosting_provider: 'EXAMPLE-NET',
    dns_records: { a: ['192.0.2.7'], aaaa: ['2001:db8::7'] },
  })
  expect(text).toContain('Host address:   192.0.2.7, 2001:db8::7')
  expect(text.replace(/\s+/g, ' ')).toContain('Article 16 of the Digital Services Act')
})

function written(form: 'base64' | 'hex'): string {
  return Buffer.from(account).toString(form)
}

/** Forms in which an address may identify Zoe. */
const tokens = {
  'a token in the path': `https://secure.evil-shop.com/login/${token}`,
  'a token in the host': `https://${token.toLowerCase()}.evil-shop.com/login`,
  'a token in the query': `https://secure.evil-shop.com/login?id=${token}`,
  'a number in the query': 'https://secure.evil-shop.com/login?user=90817263',
  'the address': `https://secure.evil-shop.com/login?e=${account}`,
  'the address in the path': `https://secure.evil-shop.com/${account}/login`,
  'the address in base64': `https://secure.evil-shop.com/login#${written('base64')}`,
  'the address in hex': `https://secure.evil-shop.com/${written('hex')}`,
  'the name': 'https://zoe-quarry.evil-shop.com/login',
  'a short token': 'https://secure.evil-shop.com/x/7f3a91bc',
} as const

function partOf(url: string): string {
  return (
    /7f3a91bc|90817263|zoe[^/?]*?(?=\.evil)|(?<=#|e=).+|(?<=id=).+|[^/]*@[^/]*/i.exec(url)?.[0] ??
    token
  )
}

test.for(Object.entries(tokens))('with %s, nothing of a notice shows it', async ([, url]) => {
  const { host, pathname } = new URL(url)
  const key = `${host}${pathname}`.toLowerCase()
  const { raw, copy, text, report, evidence } = await noticeOn({ url, key, role: 'host' })
  for (const shown of [raw.toString(), copy.toString(), text, JSON.stringify(report), evidence]) {
    const readable = shown.replaceAll('[.]', '.').replaceAll('=\r\n', '')
    expect(readable.toLowerCase()).not.toContain(partOf(url).toLowerCase())
    expect(readable).not.toMatch(/zoe|quarry/i)
  }
  expect(report.url).toContain('redacted-')
  expect(report.tags).toContain('url:coded')
  const plain = text.replace(/\s+/g, ' ')
  expect(plain).toContain('The address of the page is not complete.')
  expect(plain).toContain('Need more: https://here.example/answer/')
})

test('a placeholder of the key becomes a code also where the part reads as a word', async () => {
  const url = 'https://invoice.evil-shop.com/account/welcome'
  const { report } = await noticeOn({ url, key: '*.evil-shop.com/account/*', role: 'host' })
  expect(report.url).toMatch(
    /^https:\/\/redacted-[a-z2-7]+\.evil-shop\.com\/account\/redacted-[a-z2-7]+$/,
  )
})

test('an address that several received is coded if it has the name of the reporter', async () => {
  const url = `https://secure.evil-shop.com/login?e=${account}`
  const { report } = await noticeOn({ url, isShared: true })
  expect(report.url).not.toContain('zoe')
  expect(report.tags).toContain('url:coded')
})

test('an address without tokens is exact', async () => {
  const url = 'https://secure.evil-shop.com/login/index.php'
  const { report, text } = await noticeOn({ url, key: 'secure.evil-shop.com/login/index.php' })
  expect(report.url).toBe(url)
  expect(text).toContain('We found no part in it')
})

test('if the reporter agrees, the address is exact, and nothing else changes', async () => {
  const { report, text, evidence } = await noticeOn({ isAgreed: true })
  expect(report.url).toBe(page.url)
  expect(text.replace(/\s+/g, ' ')).toContain('who agreed to give it to you')
  expect(evidence).not.toMatch(/zoe|quarry/i)
})

test('the subject to a platform never names the platform alone', async () => {
  const url = 'https://short.example/y7parcel?x=1'
  const { subject } = await noticeOn({ url, key: 'short.example/y7parcel', role: 'platform' })
  expect(subject).toBe('A phishing page: short[.]example/y7parcel (imitates PayPal)')
})

test('a withdrawal says so, and asks for nothing', async () => {
  const { text, subject } = await noticeOn({}, { feedbackType: 'not-spam', takenBack: 1 })
  expect(subject).toMatch(/^Withdrawn: A phishing page/)
  const plain = text.replace(/\s+/g, ' ')
  expect(plain).toContain('We withdraw our notice')
  expect(plain).not.toContain('What we ask you to do')
})

test('the stored copy has no keys', async () => {
  const { raw, copy } = await noticeOn()
  const keys = contentOf(1).answerKeys
  expect(keys.every((key) => raw.includes(key))).toBe(true)
  expect(keys.some((key) => copy.includes(key))).toBe(false)
  expect(copy.length).toBe(raw.length)
})

test.for(['platform', 'redirector', 'host', 'cdn', 'registrar', 'partner'] as const)(
  'lines of the text to a %s are short enough to read',
  async (role) => {
    const { text } = await noticeOn({ role, imitates: undefined, reports: 1, type: 'malware' })
    const long = text
      .split('\n')
      .filter((line) => line.length > 78 && !/^\||hxxp|https:/.test(line))
    expect(long).toEqual([])
    expect(text).toContain('An email message that was reported to us on 2026-11-03')
  },
)
