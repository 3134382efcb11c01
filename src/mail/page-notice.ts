import { dateOf } from '../durations.ts'
import { assembleReport, type MessageCopy, type ReportEnvelope } from './arf.ts'
import { defanged } from './feedback-text.ts'
import { cleanLine, fact, wrap } from './text.ts'
import { composeEncodedWords, foldText } from './seven-bit.ts'
import type { AnswerKind } from './verp.ts'
import { evidenceOf, type XarfEvidence, type XarfHead, xarfHead, xarfParts } from './xarf.ts'

/** In which role somebody can stop a page; a `partner` warns people of it. */
export type StopperRole = 'platform' | 'redirector' | 'host' | 'cdn' | 'registrar' | 'partner'

/**
 * What operators decided about a registrar, platform or CDN: its contacts, the best first, or that
 * no notices are sent.
 */
export type ContactOverride = {
  role: 'platform' | 'cdn' | 'registrar'
  name: string
  /** Empty if muted. */
  contacts: readonly string[]
  isMuted: boolean
}

/**
 * Why the address of a page is exact: several reporters received it, its reporter agreed, or no
 * part of it could identify a reporter. `coded`: it is not exact.
 */
export type Exactness = 'shared' | 'agreed' | 'plain' | 'coded'

/** What a notice says about a page. Nothing of it may identify a reporter. */
export type PageFacts = {
  /** With codes for what may identify the recipient, unless it is exact. */
  url: string
  exactness: Exactness
  /** What the network, registrar or platform is asked about: the name in `url` that it runs. */
  host: string
  /** Addresses of the host in the recipient's network. */
  ips: readonly string[]
  type: 'phishing' | 'malware'
  /** Whether a person of this service or independent reporters confirmed it. */
  confirmedBy: 'person' | 'reporters'
  /** The brand that it imitates. */
  imitates?: string | undefined
  firstSeen: Date
  lastSeen: Date
  reports: number
  role: StopperRole
  /** The name of the recipient as registries or our tables have it. */
  recipient: string
  /** Hosts that redirect to the page. */
  through: readonly string[]
}

/** A notice about a page, for somebody who can stop it. */
export type PageNotice = ReportEnvelope & {
  page: PageFacts
  service: string
  userAgent: string
  answers: Readonly<Record<AnswerKind, string>>
  isUnsolicited: boolean
  /** Whether it withdraws an earlier notice. */
  isWithdrawal: boolean
  /** The composed copy of a message that led to the page, and its text for people. */
  original: MessageCopy
  readable: string
}

/**
 * Composes a notice about a page as an XARF 4 mail of the category `content`: a text with
 * everything that a person needs to act, and the same as JSON. A withdrawal has the text alone,
 * because XARF cannot express it.
 *
 * Throws a RangeError when an address or the token could break the header.
 */
export function composePageNotice(notice: PageNotice): Buffer {
  const { machine, last } = xarfParts(xarfReport(notice), notice.userAgent)
  machine.push(['Reported-Domain', notice.page.host], ['Reported-URI', notice.page.url])
  const written = composeEncodedWords(Buffer.from(subjectOf(notice)).toString('latin1'))
  const subject = foldText(written, 'Subject: '.length)
  const text = noticeText(notice)
  return assembleReport(notice, { subject, text, machine, last })
}

const kinds = { phishing: 'Phishing', malware: 'Malware' } as const
const SUBJECT_CHARS_MAX = 200

function subjectOf({ page, isWithdrawal }: PageNotice): string {
  const { type, imitates, role } = page
  const where = role === 'redirector' ? 'Link to a' : 'A'
  const what = `${where} ${type} page: ${placeOf(page)}`
  const brand = imitates === undefined ? '' : ` (imitates ${cleanLine(imitates)})`
  const subject = `${isWithdrawal ? 'Withdrawn: ' : ''}${what}${brand}`
  return [...subject].slice(0, SUBJECT_CHARS_MAX).join('')
}

/** The name of the page in the Subject: never a platform alone. */
function placeOf({ url, host, role }: PageFacts): string {
  if (role !== 'platform' && role !== 'redirector') return defangedHost(host)
  return cleanLine(
    defanged(url)
      .replace(/^[a-z]+:\/\//i, '')
      .replace(/[?#].*/, ''),
  )
}

/** The JSON of an XARF 4 report of the category `content`. */
type XarfContent = XarfHead & {
  timestamp: string
  source_identifier: string
  category: 'content'
  type: 'phishing' | 'malware'
  url: string
  domain?: string
  registrar?: string
  hosting_provider?: string
  dns_records?: { a?: string[]; aaaa?: string[] }
  target_brand?: string
  verification_method: 'user_report'
  attack_vector: 'phishing' | 'malware'
  evidence_source: 'user_report'
  description: string
  tags: string[]
  evidence: XarfEvidence[]
}

/** A domain as the schema of XARF has it. */
const xarfDomain = /^(?:[a-z0-9]+(?:-[a-z0-9]+)*\.)+[a-z]{2,}$/

function xarfReport(notice: PageNotice): XarfContent {
  const { page, original, service } = notice
  const { host, type, role, recipient, imitates } = page
  return {
    ...xarfHead(notice, service),
    timestamp: page.lastSeen.toISOString(),
    source_identifier: host,
    category: 'content',
    type,
    url: page.url,
    ...(xarfDomain.test(host) && { domain: host }),
    ...(role === 'registrar' && { registrar: cleanLine(recipient) }),
    ...(role === 'host' && { hosting_provider: cleanLine(recipient) }),
    ...(page.ips.length > 0 && { dns_records: recordsOf(page.ips) }),
    ...(imitates !== undefined && { target_brand: cleanLine(imitates) }),
    verification_method: 'user_report',
    attack_vector: type,
    evidence_source: 'user_report',
    description: descriptionOf(notice),
    tags: [`message:${type}`, `url:${page.exactness}`],
    evidence: [evidenceOf(original)],
  }
}

function recordsOf(ips: readonly string[]): NonNullable<XarfContent['dns_records']> {
  const [aaaa = [], a = []] = [true, false].map((is) => ips.filter((ip) => ip.includes(':') === is))
  return { ...(a.length > 0 && { a }), ...(aaaa.length > 0 && { aaaa }) }
}

const DESCRIPTION_CHARS_MAX = 1_000

function descriptionOf(notice: PageNotice): string {
  const { page, token } = notice
  const note = page.exactness === 'coded' ? ` ${codedNote}` : ''
  const text = `${whatHappened(page)}${note} Quote ${token} when you answer.`
  return text.slice(0, DESCRIPTION_CHARS_MAX)
}

function noticeText(notice: PageNotice): string {
  const { page, isWithdrawal, isUnsolicited } = notice
  const paragraphs = isWithdrawal
    ? [headLines(notice), wrap(withdrawal, ''), stopLines(notice)]
    : [
        headLines(notice),
        ['What we ask you to do:', ...wrap(requests[page.role](page), '- ')],
        wrap(`${whatHappened(page)} ${confirmations[page.confirmedBy]}`, ''),
        wrap(notOpened, ''),
        wrap(`${exactnessNotes[page.exactness]}${canAsk(page) ? askNote : ''}`, ''),
        answerLines(notice),
        copyLines(notice),
        legalLines(notice),
        ...(isUnsolicited ? [wrap(unsolicitedOf(page), '')] : []),
      ]
  const closing = [
    ...fact('Our service', notice.service),
    '',
    ...wrap(
      'Addresses are written with "hxxp" and "[.]" so that nobody opens them by mistake. The ' +
        'third part (XARF 4, JSON) has them with "http" and ".", and the copy of the message.',
      '',
    ),
  ]
  return [...paragraphs, closing].map((lines) => `${lines.join('\n')}\n`).join('\n')
}

/** The lines that a person looks for first. */
function headLines({ page, token }: PageNotice): string[] {
  const { url, host, ips, type, imitates, through, role } = page
  return [
    // A long address must not be cut.
    `  ${'Page:'.padEnd(15)} ${defanged(cleanLine(url))}`,
    ...fact(role === 'registrar' ? 'Domain' : 'Host', defangedHost(host)),
    ...fact('Host address', ips.join(', ')),
    ...fact('Kind', kinds[type]),
    ...fact('Imitates', imitates),
    ...through.flatMap((name) => fact('Reached through', defangedHost(name))),
    ...fact('First message', hour(page.firstSeen)),
    ...fact('Last message', hour(page.lastSeen)),
    ...fact('Messages', String(page.reports)),
    ...fact('Why you', `${roleNames[role]}: ${cleanLine(page.recipient)}`),
    ...fact('Report number', token),
  ]
}

const roleNames: Record<StopperRole, string> = {
  platform: 'platform of the page',
  redirector: 'service that redirects to the page',
  host: 'network of the host',
  cdn: 'content delivery network of the host',
  registrar: 'registrar of the domain',
  partner: 'organization that warns people',
}

function whatHappened({ type, imitates, reports, firstSeen, lastSeen }: PageFacts): string {
  const messages =
    reports === 1
      ? `An email message that was reported to us on ${dateOf(lastSeen)} leads its reader`
      : `${reports} email messages that were reported to us from ${dateOf(firstSeen)} to ` +
        `${dateOf(lastSeen)} lead their readers`
  if (type === 'malware') return `${messages} to this page, which spreads malware.`
  const does = imitates === undefined ? 'deceives people' : `pretends to be ${cleanLine(imitates)}`
  return `${messages} to this page. The sender ${does}.`
}

const confirmations = {
  person: 'A person of our service read the message and calls it an attack.',
  reporters:
    'People who have nothing to do with each other reported this, and what the message says ' +
    'supports them.',
} as const

const notOpened =
  'We never open reported pages: a visit could tell the sender who reported them. Please look at ' +
  'the page yourself; it may show its content only to some visitors, or only for a while.'

/** What each recipient can do about the page alone. */
const requests: Record<StopperRole, (page: PageFacts) => string> = {
  platform: () =>
    'Please disable this page, and look at the account that published it. We report only this ' +
    'address, not your service as a whole.',
  redirector: () =>
    'Please disable the links of your service that lead to this page, and look at the account ' +
    'that made them. We report only these links, not your service as a whole.',
  host: () =>
    'Please find the customer who runs this host, and remove the page. If the site of your ' +
    'customer was broken into, please tell the customer to clean it.',
  cdn: () =>
    'Please stop delivering this page, and pass this notice on to the network where the site is ' +
    'hosted.',
  registrar: ({ host }) =>
    `Please check ${defangedHost(host)} and stop the abuse, for example by suspending the ` +
    'domain. If the domain belongs to somebody whose site was broken into, please tell the ' +
    'owner instead.',
  partner: () =>
    'Please look at this page, and warn people of it if you agree with us. We notify those who ' +
    'can stop it ourselves.',
}

const codedNote =
  'The address of the page is not complete. Codes ("redacted-...") replace parts of it that may ' +
  'identify the person who reported it; the other parts are as we received them.'

const exactnessNotes: Record<Exactness, string> = {
  shared:
    'The address of the page is exact. Several people who have nothing to do with each other ' +
    'received it.',
  plain: 'The address of the page is exact. We found no part in it that identifies a recipient.',
  agreed:
    'The address of the page is exact. It may identify the person who reported it, who agreed to ' +
    'give it to you. Please use it only to stop the page, and do not pass it on.',
  coded: codedNote,
}

const askNote = ' If you need the exact address, use the link after "Need more" below.'

const answerNames: readonly [AnswerKind, string][] = [
  ['resolved', 'Removed'],
  ['not-ours', 'Not ours'],
  ['wrong', 'Not abuse'],
  ['stop', 'Stop'],
]

function answerLines({ answers, page }: PageNotice): string[] {
  const isAskable = canAsk(page)
  const more: readonly [AnswerKind, string][] = isAskable ? [['original', 'Need more']] : []
  return [
    ...wrap(
      'Please tell us the result with one of these links (each leads to a page with a button), ' +
        'or reply with one of these words: "removed", "not ours", "not abuse", "stop"' +
        (isAskable ? ', "need more".' : '.'),
      '',
    ),
    ...[...answerNames, ...more].flatMap(([kind, name]) => fact(name, answers[kind])),
    ...wrap(
      'Removed: the page or its domain is switched off. Not ours: you cannot do anything about ' +
        'it; we then ask somebody else. Not abuse: the page is harmless. Stop: send us no more ' +
        'reports, also about other pages.' +
        (isAskable
          ? ' Need more: we ask the person who reported the page whether we may give you its ' +
            'exact address.'
          : ' If you need more, reply to this mail and say what you need; a person reads it.'),
      '',
    ),
  ]
}

/** Whether the recipient may ask for the exact address: not a partner, who cannot stop the page. */
function canAsk({ exactness, role }: PageFacts): boolean {
  return exactness === 'coded' && role !== 'partner'
}

function stopLines({ answers }: PageNotice): string[] {
  return [
    ...wrap('No answer is needed. To stop our reports, open this page or reply "stop".', ''),
    ...fact('Stop', answers.stop),
  ]
}

const withdrawal =
  'We withdraw our notice about this page. It is no phishing page, as far as we know now. Please ' +
  'undo what you did because of it. We apologize for the trouble.'

/** Maximum number of lines of the message that the text quotes; the third part has all. */
const COPY_LINES_MAX = 80

/** The message that led to the page, as a person saw it. */
function copyLines({ original, readable }: PageNotice): string[] {
  const fields = original.fields.filter(({ key }) => shownFields.has(key))
  const header = fields.map(({ name, value }) => `${name}: ${cleanLine(value)}`)
  const lines = [...header, '', ...readable.trim().split('\n')]
  const more = lines.length - COPY_LINES_MAX
  return [
    ...wrap(
      'A message that led to the page. This is not the original: we wrote it anew, and codes ' +
        '("redacted-...") replace what may identify its recipient.',
      '',
    ),
    ...lines.slice(0, COPY_LINES_MAX).map((line) => `| ${defangedText(line)}`.trimEnd()),
    ...(more > 0 ? [`| (${more} more lines)`] : []),
  ]
}

const shownFields = new Set(['from', 'subject'])

/**
 * What laws and contracts ask of a notice: who gives it, and that it is given in good faith
 * (Article 16 of Regulation (EU) 2022/2065, section 3.18 of ICANN's agreement with registrars).
 */
function legalLines({ from, operator, service, page }: PageNotice): string[] {
  const except = page.exactness === 'coded' ? 'apart from the codes that stand for parts, ' : ''
  const law =
    page.role === 'registrar'
      ? "section 3.18 of ICANN's Registrar Accreditation Agreement"
      : 'Article 16 of the Digital Services Act (Regulation (EU) 2022/2065)'
  const underLaw = page.role === 'partner' ? '' : ` It is a notice under ${law}.`
  return [
    ...fact('Notifier', operator ?? service),
    ...fact('Email', from),
    ...wrap(
      `To the best of our knowledge, ${except}what this notice says is accurate and complete, ` +
        `and we give it in good faith.${underLaw} Please preserve the records of the account or ` +
        'the registration that may help the police.',
      '',
    ),
  ]
}

function unsolicitedOf({ role, host, recipient }: PageFacts): string {
  const isRegistered = role === 'registrar' || role === 'host'
  const known = isRegistered ? 'registries publish it as' : 'it is known as'
  return (
    `You did not ask for our reports. We sent you this one about ${defangedHost(host)} to your ` +
    `address because ${known} the abuse contact (${cleanLine(recipient)}). To stop our reports, ` +
    'open the page after "Stop" or reply "stop". This takes effect immediately.'
  )
}

function defangedHost(host: string): string {
  return host.replaceAll('.', '[.]')
}

/** A text in which mail programs make no links. */
function defangedText(text: string): string {
  return text.replace(/\bhttps?:\/\/[^\s"<>]{1,2000}/gi, defanged)
}

/** The date and the hour. */
function hour(date: Date): string {
  return `${date.toISOString().slice(0, 16)}Z (to the hour)`
}
