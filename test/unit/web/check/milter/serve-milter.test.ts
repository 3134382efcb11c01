import { once } from 'node:events'
import pino from 'pino'
import { expect, test } from 'vitest'
import { formatPacket } from '../../../../../src/web/check/milter/packets.ts'
import { serveMilter } from '../../../../../src/web/check/milter/serve-milter.ts'
import type { CheckAnswer } from '../../../../../src/web/check/protocol.ts'
import { closeAfterThisTest } from '../../../../support/after-tests.ts'
import { checkedMail } from '../../../../support/checked-mail.ts'
import {
  connectMilter,
  connectPacket,
  openMilterClient,
  POSTFIX_OFFER,
} from '../../../../support/milter-client.ts'

const answer: CheckAnswer = {
  ...{ is_skipped: false, action: 'no action', score: 0, required_score: 15 },
  ...{ symbols: {}, messages: {}, time_real: 0, milter: { remove_headers: {} } },
}
const mail = checkedMail('one', 'https://good.example/')

type Needs = Parameters<typeof serveMilter>[1]

/** A milter whose envelope check settles nothing, until its message is checked. */
function openMilter(more: Partial<Needs> = {}) {
  const milter = serveMilter(
    { host: '127.0.0.1', port: 0 },
    {
      ask: (given) => Promise.resolve({ ...answer, is_skipped: given === 'envelope' }),
      prepare: () => Promise.resolve(),
      policy: { firstFilter: 'mark', reject: 'reject' },
      bytesMax: 25_000_000,
      log: pino({ level: 'silent' }),
      ...more,
    },
  )
  return closeAfterThisTest(milter)
}

test.for([
  ['bytes of another protocol', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
  ['the length of a huge packet', Buffer.from('7fffffff42', 'hex')],
  ['a command out of order', formatPacket('R', '<you@home.example>')],
] as const)('after %s the mail passes, and the connection ends', async ([, bytes]) => {
  const { port, metrics } = await openMilter()
  const { socket, ask } = await connectMilter(port)
  expect((await ask(bytes)).command).toBe('a')
  socket.destroy()
  expect(await metrics()).toContain('signalpost_milter_failed_total{reason="protocol"} 1')
  await expect.poll(metrics).toContain('signalpost_milter_sessions 0')
})

test('a mail server that sends and does not read is disconnected', async () => {
  const { port, metrics } = await openMilter({ limits: { unreadBytes: 1_000 } })
  const { socket, ask } = await connectMilter(port)
  await ask(formatPacket('O', 2, 0x3f, 0x7f))
  socket.on('error', () => undefined)
  const many = Buffer.concat(Array.from({ length: 100_000 }, () => formatPacket('U')))
  const flood = () => socket.writableLength === 0 && socket.write(many)
  const failures = () => {
    flood()
    return metrics()
  }
  await expect
    .poll(failures, { interval: 5, timeout: 120_000 })
    .toContain('signalpost_milter_failed_total{reason="protocol"} 1')
  socket.destroy()
})

test('a failure of ours lets the mail pass', async () => {
  const { port, metrics } = await openMilter({ ask: () => Promise.reject(new Error('broken')) })
  const server = await openMilterClient(port)
  expect((await server.envelope()).command).toBe('a')
  expect(await metrics()).toContain('signalpost_milter_failed_total{reason="internal"} 1')
  server.socket.destroy()
})

test.for([
  ['says nothing', Buffer.alloc(0)],
  ['stops in the middle of a packet', Buffer.from('0000', 'hex')],
] as const)('a mail server that %s is released in time', async ([, bytes]) => {
  const { port, metrics } = await openMilter({ limits: { busyMs: 50 } })
  const { socket, ask } = await connectMilter(port)
  expect((await ask(bytes)).command).toBe('a')
  socket.destroy()
  expect(await metrics()).toContain('signalpost_milter_failed_total{reason="slow"} 1')
})

test('all mail passes in connections above the limit, which are closed above another', async () => {
  const { port, metrics } = await openMilter({ limits: { sessions: 1, connections: 2 } })
  const first = await openMilterClient(port)
  const second = await connectMilter(port)
  await second.ask(POSTFIX_OFFER)
  expect((await second.ask(connectPacket('mx.a', '192.0.2.1'))).command).toBe('a')
  const third = await connectMilter(port)
  await once(third.socket.resume(), 'close')
  await first.envelope()
  expect((await first.message(mail)).at(-1)?.command).toBe('c')
  const text = await metrics()
  expect(text).toContain('signalpost_milter_failed_total{reason="sessions"} 1')
  expect(text).toContain('signalpost_milter_failed_total{reason="connections"} 1')
  first.socket.destroy()
  second.socket.destroy()
})

test('messages that do not fit into memory together pass', async () => {
  const given: string[] = []
  const ask: Needs['ask'] = (one) => {
    if (typeof one === 'string' && one !== 'envelope') given.push(one)
    return Promise.resolve({ ...answer, is_skipped: true })
  }
  const { port, metrics } = await openMilter({ ask, limits: { bytesInHand: 100 } })
  const server = await openMilterClient(port)
  await server.envelope()
  expect((await server.message(mail)).map(({ command }) => command)).toEqual(['s', 'c'])
  expect(given).toEqual(['no-room'])
  expect(await metrics()).toContain('{stage="message",answer="none"} 1')
  server.socket.destroy()
})

test('a milter that stops finishes its messages, and closes idle connections', async () => {
  const milter = await openMilter()
  const [busy, idle] = [await openMilterClient(milter.port), await openMilterClient(milter.port)]
  await busy.envelope()
  const closed = milter.close()
  await once(idle.socket, 'close')
  expect((await busy.message(mail)).at(-1)?.command).toBe('c')
  await closed
})
