import { findFeedback } from '../../../src/db/feedback-reports.ts'
import { consumerLink } from '../../../src/feedback/enroll.ts'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { importNetworks } from '../../../src/processes/import-networks.ts'
import { insertAdvice } from '../../../src/db/advices.ts'
import { putMarketer, keepProposal } from '../../../src/db/marketers.ts'
import { updateOwnTest } from '../../../src/db/models.ts'
import { putPageReports, touchPages, updatePage } from '../../../src/db/pages.ts'
import { insertSenderAlert } from '../../../src/db/sender-alerts.ts'
import { insertMarkedReports } from '../../../src/db/simulations.ts'
import { runAnalyzeReport } from '../../../src/reports/analyze-report.ts'
import { handleInboundMail } from '../../../src/feedback/handle-inbound.ts'
import { runPublishLists } from '../../../src/lists/publish-lists.ts'
import { queueLetter, runSendLetter } from '../../../src/letters/send-letter.ts'
import { listFeedback } from '../../../src/db/feedback-reports.ts'
import { insertOriginalRequest } from '../../../src/db/original-requests.ts'
import { keepModel } from '../../../src/judging/models.ts'
import type { Logger } from '../../../src/log.ts'
import { openMarketers } from '../../../src/marketers/live-marketers.ts'
import { answerLinks, lettersOffLink } from '../../../src/mail/verp.ts'
import { createParserPool, type ParserPool } from '../../../src/parsing/parser-pool.ts'
import { figuresOf, ownFiguresOf } from '../../../src/verdict/model/figures.ts'
import { shardOf, uuidv7 } from '../../../src/world.ts'
import { Browser, signedInBrowser } from '../../db/web/browser.ts'
import { type Person, startWebSite, type WebSite } from '../../db/web/web-site.ts'
import { exampleShop, newsletter, newsletterDns } from '../../db/marketers/newsletters.ts'
import { arrive, reply } from '../inbound-mail.ts'
import { testJudge } from '../judge.ts'
import { linkTo, realLetter } from '../letters.ts'
import { know } from '../listed.ts'
import { relayedMessage, replyMessage, sampleNetworks, spamMessage } from '../messages.ts'
import { sureModel } from '../models.ts'
import { ruleText } from '../rule-facts.ts'
import { createSentFeedback, keepCopy } from '../sent-feedback.ts'
import { addPublishedMonths } from './published-months.ts'

type Link = 'answer' | 'own' | 'desk' | 'confirm' | 'lettersOff' | 'delisting' | AccountLink
type AccountLink = 'signUp' | 'reset' | 'move' | 'erased'

/** A site on which every page has content, and the addresses of that content. */
export type ShownSite = {
  site: WebSite
  ann: Person
  admin: Person
  /**
   * Ids of reports by Ann: one with an answer by a notified desk, one with a question about
   * machines, one to be confirmed, one about a newsletter.
   */
  told: string
  asking: string
  unconfirmed: string
  newsletter: string
  /** A reporter whose reports are held. */
  banned: string
  campaign: string
  /** A confirmed page behind phishing. */
  page: string
  massAction: string
  /** An account with a role, and an erasure. */
  staff: string
  erasure: string
  /** Paths that contain a secret. */
  links: Record<Link, string>
  consumer: string
  letter: string
  mail: string
  close: () => Promise<void>
}

/** Starts the site. `env` adds settings. */
export async function startShownSite(
  env: Record<string, string> = {},
  log?: Logger,
): Promise<ShownSite> {
  const folder = await mkdtemp(path.join(tmpdir(), 'signalpost-pages-'))
  const given = { LISTS_DIR: folder, LISTS_PUBLIC: 'yes', RDAP_BOOTSTRAP_URL: 'none' }
  const site = await startWebSite({ ...given, ...env }, undefined, log)
  const parser = createParserPool(1)
  await importNetworks(sampleNetworks, site.app)
  const ann = await site.addPerson('ann@reporters.example')
  const admin = await site.addPerson('admin@desk.example', { role: 'administrator' })
  const desk = await signedInBrowser(site.url, admin)
  const reports = await fillReports(site, parser, ann)
  const mail = await fillInbox(site, parser, reports.told)
  const links = {
    ...(await fillLinks(site, ann, reports.told)),
    ...(await fillAccounts(site, ann)),
  }
  await fillAdmin(site, desk)
  await addPublishedMonths(site.app.pool, site.app.clock())
  await desk.post('/admin/statistics', { public: 'on' })
  await fillBans(site, desk)
  const banned = await firstOf(site, 'shadow_bans', 'reporter_id')
  const [letter, consumer] = [await firstOf(site, 'letters'), await firstOf(site, 'consumers')]
  const campaign = await addCampaign(site, reports.told)
  const page = await addPages(site, ann, reports.told)
  await parser.close()
  const close = async () => {
    await site.close()
    await rm(folder, { recursive: true })
  }
  const massAction = await actOnMany(desk)
  const staff = (await site.addPerson('staff@desk.example', { role: 'viewer' })).id
  const erasure = await firstOf(site, 'erasures')
  return {
    ...{ site, ann, admin, ...reports, banned, campaign, massAction, staff, erasure },
    ...{ links, letter, consumer, mail, page, close },
  }
}

/** Adds two pages behind phishing, one of them confirmed; returns the id of that one. */
async function addPages({ app: { pool } }: WebSite, ann: Person, reportId: string) {
  const at = new Date()
  const seen = ['login.page.example', 'bank.page.example'].map((host) => ({
    ...{ id: uuidv7(at), host, key: `${host}/a`, url: `https://${host}/a`, lastSeen: at },
    ...({ scope: 'host', type: 'phishing' } as const),
    ...{ imitates: 'PayPal', through: [] },
  }))
  const [first, second] = await touchPages(pool, seen)
  if (!first || !second) throw new Error('The pages are missing.')
  const confirmed = { state: 'confirmed', confirmedBy: 'person', confirmedAt: at } as const
  await updatePage(pool, { ...first, ...confirmed, decision: 'phishing', reports: 1 })
  await putPageReports(pool, [
    {
      ...{ pageId: first.id, reportId, url: first.url, seenAt: at, campaignId: null },
      ...{ reporterId: ann.id, isVouched: true, isProven: true, isYoung: true, circle: 0 },
      ...{ recipient: Buffer.alloc(8), isAccusing: true, isSupported: true },
      ...({ decision: 'phishing', signs: ['brand'] } as const),
    },
  ])
  return first.id
}

async function fillReports(site: WebSite, parser: ParserPool, ann: Person) {
  const { app } = site
  const judge = testJudge(app.pool, app.clock)
  const marketers = await openMarketers(app)
  const at = new Date()
  await putMarketer(app.pool, exampleShop, at)
  const told = await site.report(ann, spamMessage('told'))
  await keepCopy(app, parser, await createSentFeedback(app, parser, told))
  const [sent] = await listFeedback(app.pool, [told])
  await insertOriginalRequest(app.pool, {
    ...{ reportId: told, number: 1, consumerId: sent?.consumerId ?? '', reporterId: ann.id },
    ...{ askedAt: at, endsAt: new Date(at.getTime() + 86_400_000) },
  })
  const asking = await site.report(ann, relayedMessage('asking'))
  const never = { ...app.config, originConfidenceMin: 1 }
  const asked = { ...app, config: never, parser, judge, rdap: undefined }
  await runAnalyzeReport([{ reportId: asking }], asked)
  const unconfirmed = await site.report(ann, replyMessage('unconfirmed'))
  await runAnalyzeReport([{ reportId: unconfirmed }], { ...asked, config: app.config })
  const mailing = await site.report(ann, Buffer.from(await newsletter({ mark: 'shown' })))
  const tools = { ...app, parser, judge, rdap: undefined, dns: newsletterDns(), marketers }
  await runAnalyzeReport([{ reportId: mailing }], tools)
  await marketers.close()
  for (const day of ['2026-10-01', '2026-10-22']) {
    const advice = { reporterId: ann.id, about: 'marketer example-shop', reportId: mailing }
    await insertAdvice(app.pool, { ...advice, week: new Date(day), at: new Date(day) })
  }
  await site.report(ann, spamMessage('fresh'))
  return { told, asking, unconfirmed, newsletter: mailing }
}

/** Stores a person's answer to a feedback report; returns the id of the mail. */
async function fillInbox(site: WebSite, parser: ParserPool, reportId: string): Promise<string> {
  const raw = reply('bob@desk.example', ['Which customer do you mean?'], [])
  const purpose = { purpose: 'feedback-answer', mailFrom: 'bob@desk.example' } as const
  const mail = await arrive(site.app, raw, { reportId, number: 1, ...purpose })
  await handleInboundMail(mail, { ...site.app, parser })
  return mail.mailId
}

async function fillLinks(site: WebSite, ann: Person, reportId: string) {
  const { pool, config, clock } = site.app
  const place = { publicUrl: '', secret: config.secret }
  const visitor = new Browser(site.url)
  const at = clock()
  await know(pool, [
    { kind: 'address', name: '192.0.2.7', bad: 18, at },
    { kind: 'address', name: '192.0.2.9', bad: 300, at },
    { kind: 'link-host', name: 'www.bad.example', bad: 18, at },
  ])
  await runPublishLists(site.app)
  const wish = { asker: 'Ann', contact: 'ann@host.example', done: 'The account is closed.' }
  const subject = { list: 'addresses', name: '192.0.2.9', ...wish }
  const delisting = (await visitor.post('/lookup/delist', subject)).headers.get('location')
  const enroll = linksOfEnrolling(site, visitor)
  const confirmed = await visitor.post(await enroll('abuse@first.example'), {})
  return {
    answer: answerLinks({ reportId, number: 1 }, place).resolved,
    lettersOff: lettersOffLink(ann.id, 'news', place).url,
    delisting: delisting ?? '',
    own: (confirmed.headers.get('location') ?? '').replace(/\?.*/, ''),
    desk: await deskPageOf(site, reportId),
    confirm: await enroll('abuse@second.example'),
  }
}

/** Returns the path of the page of the desk that was told of a report. */
async function deskPageOf({ app }: WebSite, reportId: string): Promise<string> {
  const feedback = await findFeedback(app.pool, { reportId, number: 1 })
  const settings = { publicUrl: '', secret: app.config.secret }
  return consumerLink(feedback?.consumerId ?? '', settings).url
}

/** Requests reports to an address; returns the paths in the letter sent there. */
function linksOfEnrolling({ app }: WebSite, visitor: Browser) {
  const telling = { scopes: '192.0.2.0/24 AS64496', format: 'arf', form: 'headers', pace: 'digest' }
  return async (address: string): Promise<string> => {
    await visitor.post('/consumers/enroll', { address, ...telling, takes: 'phishing' })
    const { rows } = await app.pool.query<{ id: string }>(
      'select id from letters order by id desc limit 1',
    )
    const raw = await realLetter(app.pool, rows[0]?.id ?? '')
    const text = raw.toString().replace(/=\r\n/g, '')
    return /\/consumers\/enroll\/[\w-]+/.exec(text)?.[0] ?? ''
  }
}

/**
 * Creates a user who signs up and a user who was erased; Ann has forgotten her password and changes
 * her address.
 */
async function fillAccounts(site: WebSite, ann: Person): Promise<Record<AccountLink, string>> {
  const { pool } = site.app
  const visitor = new Browser(site.url)
  const newcomer = 'newcomer@reporters.example'
  await visitor.post('/sign-up', { email: newcomer, language: 'en', agree: 'yes' })
  await visitor.post('/forgotten', { email: ann.email })
  const reset = await linkTo(pool, ann.email)
  const own = await signedInBrowser(site.url, ann)
  const moved = 'ann@elsewhere.example'
  const move = { email: moved, now: ann.password }
  await own.post('/account/address', move)
  const gone = await site.addPerson('gone@reporters.example')
  const leaving = await signedInBrowser(site.url, gone)
  const erase = { how: 'keep', now: gone.password }
  const erased = (await leaving.post('/account/erase', erase)).headers.get('location') ?? ''
  return { signUp: await linkTo(pool, newcomer), reset, move: await linkTo(pool, moved), erased }
}

/** Creates a reporter whose reports are held. */
async function fillBans(site: WebSite, desk: Browser): Promise<void> {
  const eve = await site.addPerson('eve@reporters.example')
  await desk.post('/admin/limits/shadow', { email: eve.email, reason: 'Reports rivals.' })
  await site.report(eve, spamMessage('aside'))
}

async function fillAdmin({ app }: WebSite, desk: Browser): Promise<void> {
  const { pool, clock, boss } = app
  const at = clock()
  const letter = { kind: 'advice', to: 'ann@reporters.example', subject: 'Hello' } as const
  const said = { ...letter, text: 'How to leave the list.', language: 'en' as const }
  const letterId = await queueLetter(pool, { ...said, autoSubmitted: 'generated' }, app, at)
  await runSendLetter([{ letterId }], { ...app, mailer: undefined })
  const scored = [0, 1, 2, 3].map((n) => ({ probability: n / 4, isUnwanted: n > 1, isSure: n > 2 }))
  const rows = { train: { phishing: 30, ham: 20 }, test: { ham: 9 }, leftOut: 3 }
  const split = { sources: ['40 files'], split: 'campaign', seed: 1, rows } as const
  const importance = [{ feature: 'links', share: 0.75 }]
  const pieces = [{ text: 'your account', weight: 0.5 }]
  const sizes = { campaigns: 37, features: 12, importance, pieces }
  const report = { ...split, ...sizes, ...figuresOf(scored) }
  const calibration = { slope: 1, intercept: 0 }
  const model = { format: 'catboost', content: sureModel(1), calibration, report } as const
  const by = { at, reporterId: null }
  const version = await keepModel(pool, { ...model, origin: 'a test', trainedAt: at }, by)
  const tested = { testedAt: at.toISOString(), rows: { spam: 2, ham: 2 } }
  await updateOwnTest(pool, version, { ...tested, ...ownFiguresOf(scored) })
  const seen = { author: 'example.net', name: 'Example Net', messages: 7, reportersAtLeast: 5 }
  const days = { firstSeen: at, lastSeen: at, subjects: ['News'], unsubscribeHost: 'example.net' }
  await keepProposal(pool, { signer: 'example.net', listId: '', ...seen, ...days })
  const rules = { content: ruleText('WORD', 'report.kind == "spam"', 5), base: '0', note: 'Why' }
  const shown = await (await desk.post('/admin/rules/edit', { ...rules, do: 'try' })).text()
  const proof = /name="proof" value="([^"]+)"/.exec(shown)?.[1] ?? ''
  await desk.post('/admin/rules/edit', { ...rules, proof, do: 'apply' })
  const day = { sent: 40, unwanted: 30, recipients: 90, complaints: 0, bounces: 2, reads: 0 }
  const counts = { ...day, sentLastHour: 12, unwantedLastHour: 11 }
  const suspect = {
    at: at.toISOString(),
    queueId: '4ABC',
    recipients: 3,
    class: 'spam',
    score: 7.2,
  }
  const messages = [{ ...suspect, symbols: ['LINK_BAD_REPUTATION'] }]
  const alert = { id: uuidv7(at), system: '', user: 'ann', cause: 'unwanted', counts } as const
  await insertSenderAlert(pool, { ...alert, messages }, { key: 1n, now: at })
  const letters = { source_name: 'forward-report', source_output: { message: 'It broke.' } }
  await boss.send('dead-letter', letters)
  const trap = { address: '@trap.example', kind: 'trap', note: 'Closed in 2019', do: 'add' }
  await desk.post('/admin/sources', trap)
  const list = { list: 'casino-words', kind: 'words', note: 'Gambling' }
  await desk.post('/admin/rule-lists', { ...list, do: 'add' })
  const entries = 'free spins\ncasino bonus'
  await desk.post('/admin/rule-lists/casino-words/add', { entries, note: 'Seen', days: '90' })
  const border = { domain: 'reporters.example', host: '192.0.2.0/28', note: 'Since 2019' }
  await desk.post('/admin/mail-servers', { ...border, do: 'add' })
  const exercise = { name: 'Spring 2026', vendor: 'knowbe4', signers: 'training.example.org' }
  await desk.post('/admin/simulations', { ...exercise, recipients: '40', do: 'add' })
  const mark = { reportId: uuidv7(at), vendor: 'gophish', seenAt: at } as const
  await insertMarkedReports(pool, [mark])
  await desk.post('/admin/suppressions', { address: 'stop@desk.example', note: 'They asked.' })
}

async function firstOf({ app }: WebSite, table: string, key = 'id'): Promise<string> {
  const { rows } = await app.pool.query<{ id: string }>(
    `select ${key} as id from ${table} order by 1`,
  )
  return rows[0]?.id ?? ''
}

/** Starts an action on many reports that no worker does. */
async function actOnMany(desk: Browser): Promise<string> {
  const given = { kind: 'drop', q: 'kind:spam', reason: 'never shown', do: 'delete' }
  const answer = await desk.post('/admin/reports/actions', given)
  return /actions\/([0-9a-f-]{36})/.exec(answer.headers.get('location') ?? '')?.[1] ?? ''
}

/** Adds a campaign that began with a report: its message is too short to have one. */
async function addCampaign({ app }: WebSite, reportId: string): Promise<string> {
  const id = uuidv7(app.clock())
  await app.pool.query(
    `insert into campaigns (id, shard, first_report_id, fingerprints) values ($1, $2, $3, '{}')`,
    [id, shardOf(id), reportId],
  )
  return id
}
