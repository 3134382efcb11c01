import { userInfo } from 'node:os'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { composeReturnPath } from '../../src/mail/verp.ts'
import { makeSite, type Site, sitePaths } from '../support/parts.ts'
import { until } from '../support/process.ts'
import { openFolder } from './daemon.ts'
import { hand } from './handing.ts'
import { writePipeScript } from './pipe-script.ts'
import { type Postfix, startPostfix } from './postfix.ts'
import { recipe } from './recipes.ts'

const good = composeReturnPath(
  { reportId: '01999999-0000-7000-8000-000000000001', number: 1 },
  sitePaths,
)
const forged = good.replace(/.(?=@)/, (last) => (last === 'a' ? 'b' : 'a'))
const returned = Buffer.from('From: mx@far.example\r\nSubject: Undelivered\r\n\r\nBack.\r\n')
const domain = { 'bounces.example.org': sitePaths.domain }
const account = userInfo().username === 'root' ? 'nobody' : userInfo().username

let site: Site
let postfix: Postfix | undefined

beforeEach(async () => {
  site = await makeSite({ RECEIVE_PROTOCOL: 'lmtp' })
})
afterEach(async () => {
  await postfix?.clear()
  postfix = undefined
  await site.clear()
})

/**
 * Sends a returned mail to Postfix for both addresses, and waits until it has logged both results;
 * returns the log.
 */
async function deliver(server: Postfix): Promise<string> {
  for (const to of [good, forged]) {
    expect(await hand(server.port, returned, { from: '', to })).toBe(250)
  }
  return until('both deliveries', async () => {
    const log = await server.log()
    return [good, forged].every((to) => log.includes(`to=<${to}>`)) ? log : undefined
  })
}

async function kept() {
  const { rows } = await site.database.pool.query<{ rcptTo: string; from: string }>(
    'select rcpt_to as "rcptTo", mail_from as "from" from inbound_mails',
  )
  return rows
}

test('Postfix delivers by LMTP, and gets a separate reply for each recipient', async () => {
  await site.start('receive')
  const port = { 2525: site.receivePort }
  const main = recipe('/etc/postfix/main.cf, delivering by LMTP', { ...domain, ...port })
  postfix = await startPostfix(main)
  const log = await deliver(postfix)
  expect(log).toMatch(new RegExp(`to=<${good}>.*status=sent \\(250 2.6.0 Kept`))
  expect(log).toMatch(new RegExp(`to=<${forged}>.*status=bounced.*550 5.7.1`))
  expect(await kept()).toEqual([{ rcptTo: good, from: '' }])
})

test('Postfix delivers through a pipe, and interprets the exit codes correctly', async () => {
  const folder = await openFolder('pipe')
  const script = await writePipeScript(folder.at, site.env)
  const main = recipe('/etc/postfix/main.cf, delivering by a pipe', domain)
  const master = recipe('/etc/postfix/master.cf', {
    '/usr/local/bin/signalpost-receive': script,
    'user=signalpost': `user=${account}`,
  })
  postfix = await startPostfix(main, master)
  const log = await deliver(postfix)
  await folder.clear()
  expect(log).toMatch(new RegExp(`to=<${good}>.*status=sent`))
  expect(log).toMatch(new RegExp(`to=<${forged}>.*status=bounced`))
  expect(await kept()).toEqual([{ rcptTo: good, from: '' }])
})
