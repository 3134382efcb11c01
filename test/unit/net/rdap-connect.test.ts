import { expect, test } from 'vitest'
import { createGuardedFetch, type Lookup } from '../../../src/net/guarded-http.ts'
import { reachOf } from '../../../src/net/rdap/get-json.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { startRdapServer } from '../../support/rdap-server.ts'

const server = await closeAfterTests(startRdapServer())
server.reply('here', { body: { found: true } })

const world = reachOf('https://data.iana.org/rdap')
const local = reachOf('http://127.0.0.1/')

/** Returns a DNS lookup that answers every name with the given addresses. */
function named(...addresses: string[]): Lookup {
  return (_host, _options, done) =>
    done(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    )
}

function get(host: string, reach: typeof world, lookup: Lookup): Promise<Response> {
  const url = new URL(`${server.base}here`)
  url.hostname = host
  const signal = AbortSignal.timeout(5_000)
  const options = { redirect: 'manual', headers: {}, signal } as const
  return createGuardedFetch(reach.mayConnect, lookup)(url, options)
}

test('a name with an allowed address is connected to', async () => {
  const answer = await get('registry.example', local, named('127.0.0.1'))
  expect(await answer.json()).toEqual({ found: true })
})

test.for([
  ['127.0.0.1'],
  ['::1'],
  ['::ffff:127.0.0.1'],
  ['10.0.0.1', '192.168.0.1'],
  ['169.254.169.254'],
  ['fe80::1', 'fd00::1'],
  ['64:ff9b::7f00:1'],
  ['0.0.0.0'],
  [],
])('without the test option, a name with only %j is not connected to', async (addresses) => {
  const before = server.asked.length
  await expect(get('registry.example', world, named(...addresses))).rejects.toThrow(
    'registry.example has an address that is not allowed.',
  )
  expect(server.asked).toHaveLength(before)
})

test('of several addresses only the allowed ones are tried', async () => {
  const answer = await get('registry.example', local, named('10.0.0.1', '127.0.0.1'))
  expect(answer.status).toBe(200)
})

test('a bare address that is not allowed is not connected to either', async () => {
  const lookup = named('127.0.0.1')
  await expect(get('127.0.0.1', world, lookup)).rejects.toThrow('not allowed')
  expect((await get('127.0.0.1', local, lookup)).status).toBe(200)
})

test('a name without addresses is a failure like any other', async () => {
  const nowhere: Lookup = (_host, _options, done) => done(new Error('ENOTFOUND'), [])
  await expect(get('registry.example', local, nowhere)).rejects.toThrow('ENOTFOUND')
})
