import { pino } from 'pino'
import { expect, test } from 'vitest'
import { readConfig } from '../../../src/config.ts'
import { createCounterReader } from '../../../src/counting/reader.ts'
import { shingleHash } from '../../../src/pieces/shingles/hash.ts'
import { pieceTypes, type PieceName } from '../../../src/pieces/shingles/piece-types.ts'
import { openClientBlacklists } from '../../../src/processes/open-network.ts'
import { systemClock } from '../../../src/world.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { checkedMail } from '../../support/checked-mail.ts'
import { rollUpAll } from '../../support/counter-rows.ts'
import { startDnsServer } from '../../support/dns-server.ts'
import { openMilterClient } from '../../support/milter-client.ts'
import { openCheckSite } from './check-site.ts'

const mail = checkedMail('one', 'https://good.example/')
const dns = await closeAfterTests(startDnsServer())
for (const entry of ['2.0.0.127', '9.9.9.9']) {
  dns.put(`${entry}.bl.example`, { type: 'A', data: '127.0.0.2' })
}
const settings = { DNS_SERVERS: dns.address, BLACKLISTS: 'bl.example=addresses' }
const config = readConfig(settings, { cores: 2, cwd: '/nowhere' })
const log = pino({ level: 'silent' })
const { ask, close } = await openClientBlacklists(config, { clock: systemClock, log })
const site = await closeAfterTests(
  openCheckSite({ CHECK_MILTER_PORT: '0' }, { askAboutClient: ask }),
)
await closeAfterTests(Promise.resolve({ close: () => Promise.resolve(close()) }))

const listed = { ip: '9.9.9.9', helo: 'mx.shop.example', from: 'offers@shop.example' }

test('mail of a blacklisted client is settled before it is read, and counted', async () => {
  // On a busy machine, the test of the list may take longer than a check waits.
  await expect.poll(() => ask?.('9.9.9.9')).toHaveLength(1)
  const settled = { is_skipped: false, action: 'add header', symbols: { FIRST_FILTER: {} } }
  expect((await site.post('/checkv2', mail, listed)).json).toMatchObject(settled)
  expect((await site.post('/checkv2', '', listed)).json).toMatchObject(settled)
  const other = { ...listed, ip: '9.9.9.10' }
  expect((await site.post('/checkv2', mail, other)).json).toMatchObject({ action: 'no action' })
  const metrics = await (await fetch(`http://127.0.0.1:${site.port}/metrics`)).text()
  expect(metrics).toContain('signalpost_check_settled_total{by="blacklist"} 2')
  expect(metrics).toContain('signalpost_check_settled_total{by="message"} 1')
})

test('an envelope alone gets no verdict unless the first filter settles it', async () => {
  const skipped = { is_skipped: true, action: 'no action' }
  expect((await site.post('/checkv2', '', { ip: '9.9.9.11' })).json).toMatchObject(skipped)
  const user = { ...listed, user: 'ann' }
  expect((await site.post('/checkv2', '', user)).json).toMatchObject(skipped)
})

test('private addresses are never asked about', async () => {
  const before = dns.questions.length
  await site.post('/checkv2', mail, { ip: '192.168.0.1' })
  expect(dns.questions.slice(before)).toEqual([])
})

test('the milter asks about a client as it connects, but on other ports only at MAIL', async () => {
  const connect = async (ip: string, port: string) => {
    const { envelope, socket } = await openMilterClient(site.milterPort, { ip, port })
    return { envelope, socket, question: `A ${ip.split('.').toReversed().join('.')}.bl.example` }
  }
  const user = await connect('9.9.9.20', '587')
  const stranger = await connect('9.9.9.21', '587')
  const server = await connect('9.9.9.22', '25')
  await expect.poll(() => dns.questions).toContain(server.question)
  expect(dns.questions).not.toContain(stranger.question)
  await user.envelope({ user: 'ann' })
  await stranger.envelope()
  expect(dns.questions).toContain(stranger.question)
  expect(dns.questions).not.toContain(user.question)
  for (const { socket } of [user, stranger, server]) socket.destroy()
})

test('a slow name server does not delay a check for long', { retry: 2 }, async () => {
  const release = dns.hold()
  const start = performance.now()
  const { json } = await site.post('/checkv2', mail, { ip: '9.9.9.12' })
  expect(performance.now() - start).toBeLessThan(1_500)
  expect(json).toMatchObject({ is_skipped: false, action: 'no action' })
  release()
})

test('the address, the network and the return path of settled mail have counters', async () => {
  await site.stop()
  const now = systemClock()
  await rollUpAll(site.app.pool, now)
  const reader = createCounterReader(site.app, { keysMax: 10, freshMs: 0 })
  const spamOf = async (name: PieceName, piece: string) => {
    const [windows] = await reader.readWindows([shingleHash(pieceTypes[name].number, piece)])
    return windows?.checks?.today.spam
  }
  expect(await spamOf('origin-ip', '9.9.9.9')).toBe(2)
  expect(await spamOf('return-path-address', 'offers@shop.example')).toBe(2)
  expect(await spamOf('return-path-organization', 'shop.example')).toBe(2)
  expect(await spamOf('origin-helo', 'mx.shop.example')).toBe(2)
})
