import { afterAll, beforeAll, expect, test } from 'vitest'
import { spamMessage } from '../support/messages.ts'
import { makeSite, type Site } from '../support/parts.ts'
import { runProgram } from '../support/process.ts'
import { entity, network, recordedAnswer } from '../support/rdap-answers.ts'
import { type RdapServer, startRdapServer } from '../support/rdap-server.ts'

let server: RdapServer
let site: Site
let env: Record<string, string>

beforeAll(async () => {
  ;[server, site] = await Promise.all([startRdapServer(), makeSite()])
  env = { RDAP_BOOTSTRAP_URL: server.bootstrapUrl }
  server.reply('ip/2001:db8:100::7', { body: recordedAnswer('apnic') })
  const entities = [entity('D', ['abuse'], ['abuse@unknown.example'])]
  server.reply('ip/3fff::8', { body: network('3fff::', '3fff::ffff', { entities }) })
  server.reply('ip/192.0.2.8', { body: network('192.0.2.0', '192.0.2.255') })
  server.reply('ip/192.0.2.9', { status: 503, headers: { 'retry-after': '60' }, body: {} })
})
afterAll(() => Promise.all([site.clear(), server.close()]))

test('contact prints the registry’s answer for an address', async () => {
  const { code, stdout, stderr } = await runProgram(['contact', '2001:db8:100::7'], env)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout.split('\n')).toEqual([
    'address   2001:db8:100::7',
    'network   2001:db8:100:0:0:0:0:0/40',
    'name      EXAMPLE-APNIC',
    'country   AU',
    'registry  127.0.0.1',
    'contacts  abuse@apnic-holder.example helpdesk@apnic-holder.example',
    '',
  ])
})

test.for([
  ['192.0.2.8', /^No abuse contact is registered for 192\.0\.2\.0\/24/],
  ['192.0.2.9', /^127\.0\.0\.1 is not available: it answered 503\. Try again after 2/],
] as const)('contact says why there is none for %s, and exits with 1', async ([ip, why]) => {
  const { code, stderr } = await runProgram(['contact', ip], env)
  expect(code).toBe(1)
  expect(stderr).toMatch(why)
})

test('the workers look up the contact of a network that no table has', async () => {
  await Promise.all([site.start('web'), site.start('work', env)])
  const { id } = await site.client.post(spamMessage('unknown', { ip: 'IPv6:3fff::8' }))
  const { timeline, origin } = await site.client.untilEvent(id, 'held')
  const events = timeline.map(({ event }) => event)
  expect(events).toEqual(['received', 'analyzed', 'looked-up', 'held'])
  expect(origin).toMatchObject({ network: { cidr: '3fff::/112', name: 'EXAMPLE-NET' } })
})
