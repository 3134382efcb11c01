import { type MailListener, receive, usualLimits } from '../../../src/processes/receive/receive.ts'
import { composeAnswerAddress, composeReturnPath } from '../../../src/mail/verp.ts'
import { uuidv7 } from '../../../src/world.ts'
import type { TestApp } from '../../support/app.ts'
import { type SmtpTalk, smtpTalk } from '../../support/smtp-talk.ts'

type Limits = Partial<typeof usualLimits>

/**
 * Starts a listener on a free port. `change` replaces settings of the application, and `limits`
 * replaces the usual limits.
 */
export async function listenFor(
  app: TestApp,
  change: Partial<TestApp['config']> = {},
  limits: Limits = {},
): Promise<MailListener> {
  const config = { ...app.config, receivePort: 0, ...change }
  return receive({ ...app, config }, { ...usualLimits, ...limits })
}

/** Returns a valid return path of an arbitrary report. */
export function returnPath({ config }: TestApp, number = 1): string {
  const settings = { domain: config.returnPathDomain, secret: config.secret }
  return composeReturnPath({ reportId: uuidv7(new Date()), number }, settings)
}

/** Returns a valid answer address of an arbitrary report. */
export function answerAddress({ config }: TestApp): string {
  const settings = { domain: config.returnPathDomain, secret: config.secret }
  return composeAnswerAddress({ reportId: uuidv7(new Date()), number: 1 }, settings)
}

/** Opens a connection and sends the greeting. */
export async function greeted(port: number, hello = 'EHLO peer.example'): Promise<SmtpTalk> {
  const talk = smtpTalk(port)
  await talk.hear()
  await talk.say(hello)
  return talk
}

/** Opens a connection up to the point where the data may be sent. */
export async function ready(
  port: number,
  recipients: readonly string[],
  hello?: string,
): Promise<SmtpTalk> {
  const talk = await greeted(port, hello)
  await talk.say('MAIL FROM:<>')
  for (const rcpt of recipients) await talk.say(`RCPT TO:<${rcpt}>`)
  await talk.say('DATA')
  return talk
}

/** Composes a short mail that differs from all others. */
export function freshMail(more = ''): string {
  const id = uuidv7(new Date())
  return `From: <mx@peer.example>\r\nMessage-ID: <${id}@peer.example>\r\n${more}\r\nBack.\r\n`
}

/** Returns the mails stored for a recipient. */
export function keptFor(app: TestApp, rcptTo: string) {
  return app.rows(
    `select mail_from as "mailFrom", purpose, report_id as "reportId", number,
       host(peer_ip) as peer, state
     from inbound_mails where rcpt_to = $1`,
    [rcptTo],
  )
}
