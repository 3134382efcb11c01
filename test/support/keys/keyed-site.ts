import { insertToken, scopes } from '../../../src/db/sessions.ts'
import { runForwardReport } from '../../../src/feedback/forward-report.ts'
import { handleInboundMail } from '../../../src/feedback/handle-inbound.ts'
import { queueLetter, runSendLetter } from '../../../src/letters/send-letter.ts'
import type { Logger } from '../../../src/log.ts'
import type { Mailer } from '../../../src/net/mailer.ts'
import { createToken } from '../../../src/people/credentials.ts'
import { runAnalyzeReport } from '../../../src/reports/analyze-report.ts'
import { type Role, roles } from '../../../src/roles.ts'
import { runIndexReports } from '../../../src/search/index-reports.ts'
import { type Browser, signedInBrowser } from '../../db/web/browser.ts'
import type { Person, WebSite } from '../../db/web/web-site.ts'
import { arrive } from '../inbound-mail.ts'
import { testJudge } from '../judge.ts'
import { type ShownSite, startShownSite } from '../pages/shown-site.ts'
import { parser } from '../parser.ts'
import { type Keys, makeEveryKey, needlesOf, settingsWithKeys } from './every-key.ts'
import {
  inboundMailWithKeys,
  type KeyTexts,
  messageWithKeys,
  textsWithKeys,
} from './mail-with-keys.ts'

/** A person with a role, or without one, with a session and a token. */
export type Holder = {
  role: Role | 'reporter'
  person: Person
  browser: Browser
  token: string
}

/** Which mail arrived for us: the answer to a feedback report, or a letter that came back. */
type Arrived = { purpose: 'feedback-answer' | 'letter-bounce'; about: object }

/** A site whose mail, letters, reports and dead letters contain a key of each kind. */
export type KeyedSite = {
  shown: ShownSite
  site: WebSite
  keys: Keys
  /** What is searched for each kind. */
  needles: Readonly<Record<string, string>>
  texts: KeyTexts
  /** Accepts mail, and quotes all keys in its reply. */
  mailer: Mailer
  /** What it was given. */
  sent: Buffer[]
  /** Reports a message with all keys; its feedback report is sent, or held. */
  report: (mark: string, isSent: boolean) => Promise<string>
  receive: (arrived: Arrived) => Promise<string>
  letter: (state: 'sent' | 'held') => Promise<string>
  /** A report whose feedback report was sent, and one whose feedback report is held. */
  reported: readonly string[]
  mails: readonly string[]
  letters: readonly string[]
  /** Ids that a route may ask for. */
  ids: readonly string[]
  holders: readonly Holder[]
  close: () => Promise<void>
}

/** Starts the site. */
export async function startKeyedSite(log?: Logger): Promise<KeyedSite> {
  const shown = await startShownSite(settingsWithKeys, log)
  const { site } = shown
  const { app } = site
  const keys = await makeEveryKey(shown)
  const texts = textsWithKeys(keys)
  const sent: Buffer[] = []
  const mailer: Mailer = {
    send(mail) {
      sent.push(mail.raw)
      return Promise.resolve({ outcome: 'accepted', reply: `250 taken ${texts.lines}` })
    },
    close: () => Promise.resolve(),
  }
  const made = { shown, site, keys, needles: needlesOf(keys), texts, mailer, sent }
  const report: KeyedSite['report'] = (mark, isSent) => reportWithKeys(made, mark, isSent)
  const receive: KeyedSite['receive'] = (arrived) => receiveWithKeys(made, arrived)
  const letter: KeyedSite['letter'] = (state) => writeLetter(made, state)
  const reported = [await report('sent-keys', true), await report('held-keys', false)]
  const about = { reportId: shown.told, number: 1 }
  const mails = [
    await receive({ purpose: 'feedback-answer', about }),
    await receive({ purpose: 'letter-bounce', about: { letterId: shown.letter } }),
  ]
  const rcptTo = keys['answer address of a feedback report']
  await app.pool.query('update inbound_mails set rcpt_to = $2 where id = $1', [mails[0], rcptTo])
  const letters = [await letter('sent'), await letter('held')]
  const error = { message: `It failed: ${texts.lines}` }
  await app.boss.send('dead-letter', { source_name: 'send-letter', source_output: error })
  await runIndexReports({ ...app, parser })
  const resets = await idsOfResets(made)
  const { told, consumer, campaign, banned, ann } = shown
  const ids = [...reported, told, ...mails, ...letters, ...resets, consumer, campaign, banned]
  return {
    ...{ ...made, report, receive, letter, reported, mails, letters },
    ids: [...ids, ann.id].filter((id) => id !== ''),
    holders: await Promise.all([null, ...roles].map((role) => hold(site, role))),
    close: shown.close,
  }
}

type Made = Pick<KeyedSite, 'shown' | 'site' | 'keys' | 'needles' | 'texts' | 'mailer'>

async function reportWithKeys(made: Made, mark: string, isSent: boolean): Promise<string> {
  const { site, shown, keys, texts, mailer } = made
  const { app } = site
  const reportId = await site.report(shown.ann, messageWithKeys(mark, keys, texts))
  const judge = testJudge(app.pool, app.clock)
  await runAnalyzeReport([{ reportId }], { ...app, parser, judge, rdap: undefined })
  const tools = { ...app, parser, mailer: isSent ? mailer : undefined }
  await runForwardReport([{ reportId, number: 1 }], tools)
  return reportId
}

async function receiveWithKeys({ site, keys, texts }: Made, arrived: Arrived): Promise<string> {
  const raw = inboundMailWithKeys(keys, texts)
  const { purpose, about } = arrived
  const mail = await arrive(site.app, raw, { purpose, mailFrom: 'abuse@desk.example', ...about })
  await handleInboundMail(mail, { ...site.app, parser })
  return mail.mailId
}

async function writeLetter(made: Made, state: 'sent' | 'held'): Promise<string> {
  const { site, shown, keys, needles, mailer } = made
  const { app } = site
  const kind = 'link that turns letters off'
  const link = { url: keys[kind], key: needles[kind] ?? '' }
  const letterId = await queueLetter(
    app.pool,
    {
      ...{ kind: 'advice', to: shown.ann.email, subject: 'Hello', text: `Off:\n${link.url}\n` },
      ...{ language: 'en', autoSubmitted: 'generated', isAnswerable: true },
      ...{ keys: [link.key], unsubscribe: link },
    },
    app,
    app.clock(),
  )
  await runSendLetter([{ letterId }], { ...app, mailer: state === 'sent' ? mailer : undefined })
  return letterId
}

async function idsOfResets({ site, shown }: Made): Promise<string[]> {
  const { rows } = await site.app.pool.query<{ id: string }>(
    `select id from letters where kind = 'account' and address = $1`,
    [shown.admin.email],
  )
  return rows.map(({ id }) => id)
}

async function hold(site: WebSite, role: Role | null): Promise<Holder> {
  const name = role ?? 'reporter'
  const person = await site.addPerson(`keys-${name}@desk.example`, role ? { role } : {})
  const { token, hash } = createToken()
  const made = { hash, reporterId: person.id, name: 'test', createdAt: new Date() }
  await insertToken(site.app.pool, { ...made, scopes, role })
  return { role: name, person, browser: await signedInBrowser(site.url, person), token }
}
