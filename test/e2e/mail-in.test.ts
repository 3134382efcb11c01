import { createTransport } from 'nodemailer'
import { afterEach, expect, test } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { makeMailInAddress } from '../../src/reports/take-mailed.ts'
import { systemClock } from '../../src/world.ts'
import { attached, forwardOf, greeting } from '../support/forwards.ts'
import { spamMessage } from '../support/messages.ts'
import { makeSite, type Site, siteSettings } from '../support/parts.ts'
import { runProgram } from '../support/process.ts'
import { startSmtpSink } from '../support/smtp-sink.ts'
import { ringOf } from '../support/key-ring.ts'

const closers: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close()
})

async function addressOf({ database, env }: Site): Promise<string> {
  const { pool, url: databaseUrl } = database
  const { rows } = await pool.query<{ id: string }>('select id from reporters')
  const config = { ...readConfig(env, { cores: 1, cwd: '/nowhere' }), databaseUrl }
  const app = {
    pool,
    clock: systemClock,
    config: { ...config, secret: ringOf(siteSettings.secret) },
  }
  return makeMailInAddress(app, rows[0]?.id ?? '')
}

test('mail from a reporter is reported, forwarded to networks, and confirmed', async () => {
  const far = await startSmtpSink()
  closers.push(() => far.close())
  const here = await makeSite({ SMTP_URL: far.url })
  closers.push(here.clear)
  await Promise.all([here.start('receive'), here.start('work')])
  const to = await addressOf(here)
  const transport = createTransport({ host: '127.0.0.1', port: here.receivePort })
  const envelope = { from: 'ann@reporters.example', to }
  const raw = forwardOf([greeting, attached(spamMessage('by-smtp'))])
  const { response } = await transport.sendMail({ envelope, raw })
  transport.close()
  expect(response).toMatch(/^250 /)
  const mails = await far.received(2)
  expect(mails.map((mail) => mail.to[0]).toSorted()).toEqual([
    'abuse@access-two.example',
    'ann@reporters.example',
  ])
  const letter = mails.find((mail) => mail.to[0] === 'ann@reporters.example')
  expect(letter?.raw.toString('latin1')).toContain('Subject: Your report by mail has arrived\r\n')

  const piped = forwardOf([attached(spamMessage('by-pipe'))])
  const args = ['receive', '--stdin', '--to', to, '--from', 'ann@reporters.example']
  expect((await runProgram(args, here.env, piped)).code).toBe(0)
  // The second report causes no letter: only its network is notified.
  expect((await far.received(3)).at(-1)?.to).toEqual(['abuse@access-two.example'])
})
