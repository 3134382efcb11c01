import { createTransport } from 'nodemailer'
import { afterEach, expect, test } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { composeReturnPath } from '../../src/mail/verp.ts'
import { bounceMessage, spamMessage } from '../support/messages.ts'
import { makeSite, type Site, sitePaths } from '../support/parts.ts'
import { runProgram } from '../support/process.ts'
import { type SmtpSink, startSmtpSink } from '../support/smtp-sink.ts'

const closers: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close()
})

async function site(env: Record<string, string> = {}): Promise<Site> {
  const made = await makeSite(env)
  closers.push(made.clear)
  return made
}

async function sink(): Promise<SmtpSink> {
  const made = await startSmtpSink()
  closers.push(() => made.close())
  return made
}

test('a report is sent as feedback, a bounce marks it as bounced', async () => {
  const far = await sink()
  const here = await site({ SMTP_URL: far.url })
  const lmtpPort = String(await freePort())
  const programs = await Promise.all([
    here.start('web'),
    here.start('work'),
    here.start('receive'),
    here.start('receive', { RECEIVE_PROTOCOL: 'lmtp', RECEIVE_PORT: lmtpPort }),
  ])
  const first = await here.client.post(spamMessage('bounces-by-smtp'))
  const second = await here.client.post(spamMessage('bounces-by-lmtp'))
  await far.received(2)
  for (const { id } of [first, second]) {
    const { status } = await here.client.untilEvent(id, 'sent')
    expect(status).toBe('forwarded')
    const from = returnPath(id)
    const mail = far.messages.find((one) => one.from === from)
    expect(mail?.to).toEqual(['abuse@access-two.example'])
    const text = mail?.raw.toString('latin1') ?? ''
    expect(text).toMatch(/^Content-Type: multipart\/report; report-type=feedback-report;/m)
    expect(text).toMatch(/^Source-IP: 198\.51\.100\.23\r$/m)
    expect(text).not.toContain('you@provider.example')
  }
  expect(await deliver(here.receivePort, returnPath(first.id))).toMatch(/^250/)
  expect(await deliver(Number(lmtpPort), returnPath(second.id), { lmtp: true })).toMatch(/^250/)
  for (const { id } of [first, second]) {
    await here.client.untilEvent(id, 'bounced')
    const { rows } = await here.database.pool.query(
      `select state, bounce_status from feedback_reports where report_id = $1`,
      [id],
    )
    expect(rows).toEqual([{ state: 'bounced', bounce_status: '5.1.1' }])
  }
  await Promise.all(programs.map((program) => program.stop()))
})

test('receive accepts mail only for its own return paths, and exits with a code', async () => {
  const here = await site()
  await here.start('receive')
  const genuine = returnPath('01999999-0000-7000-8000-000000000001')
  const forged = genuine.replace(/.(?=@)/, (last) => (last === 'a' ? 'b' : 'a'))
  const foreign = 'postmaster@elsewhere.example'
  expect(await deliver(here.receivePort, forged)).toMatch(/^550 5\.7\.1/)
  expect(await deliver(here.receivePort, foreign)).toMatch(/^550 5\.1\.1/)

  const pipe = async (to: string) => {
    const args = ['receive', '--stdin', '--to', to, '--from', '']
    return (await runProgram(args, here.env, bounceMessage('abuse@desk.example'))).code
  }
  expect(await Promise.all([pipe(genuine), pipe(forged), pipe(foreign)])).toEqual([0, 67, 67])
  const { rows } = await here.database.pool.query(`select rcpt_to from inbound_mails`)
  expect(rows).toEqual([{ rcpt_to: genuine }])
})

function returnPath(reportId: string): string {
  return composeReturnPath({ reportId, number: 1 }, sitePaths)
}

/** Sends a bounce to the address `to` and returns the final reply of the mail server. */
async function deliver(port: number, to: string, options: { lmtp?: boolean } = {}) {
  const transport = createTransport({ host: '127.0.0.1', port, ...options })
  try {
    const envelope = { from: '', to }
    const { response } = await transport.sendMail({ envelope, raw: bounceMessage(to) })
    return response
  } catch (error) {
    return error instanceof Error && 'response' in error ? String(error.response) : String(error)
  } finally {
    transport.close()
  }
}
