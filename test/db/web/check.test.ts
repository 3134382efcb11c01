import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { closeAfterTests } from '../../support/after-tests.ts'
import { checkedMail } from '../../support/checked-mail.ts'
import { openCheckSite } from './check-site.ts'

const mail = checkedMail('one', 'https://good.example/')

const site = await closeAfterTests(openCheckSite({ MESSAGE_BYTES_MAX: '100000' }))

const lines = (length: number) =>
  `CHECK RSPAMC/1.3\r\nContent-length: ${length}\r\nIP: 203.0.113.9\r\nRcpt: <a@b.example>\r\n\r\n`

// The first check of a process opens everything, which takes too long on a very busy machine.
const opening = { retry: 2 }

test.for(['/checkv2', '/check', '/symbols'])('%s gets a verdict', opening, async (path) => {
  const { status, json } = await site.post(path, mail, { ip: '203.0.113.9', helo: 'x.example' })
  expect(status).toBe(200)
  expect(json).toMatchObject({ is_skipped: false, action: 'no action', required_score: 15 })
  expect(json).toHaveProperty('message-id', 'one@shop.example')
})

test('the process is alive, and unknown addresses get an empty 404', async () => {
  const ping = await fetch(`http://127.0.0.1:${site.port}/ping`)
  expect([ping.status, await ping.text()]).toEqual([200, 'pong\r\n'])
  expect(await site.post('/nothing', '')).toMatchObject({ status: 404, json: { error: /\w/ } })
  const got = await fetch(`http://127.0.0.1:${site.port}/checkv2`)
  expect(got.status).toBe(405)
})

test.for(['GET', 'POST', 'PUT', 'REPORT'])('a check by %s is answered', async (method) => {
  const head = `${method} /checkv2 HTTP/1.0\r\nIP: 127.0.0.1:43092\r\n`
  const answer = await site.sendRaw(`${head}Content-Length: ${mail.length}\r\n\r\n`, mail)
  expect(answer).toMatch(/^HTTP\/1\.1 200 /)
  expect(answer).toContain('"is_skipped":false')
})

test.for([
  ['nothing', Buffer.alloc(0), true],
  ['a word', Buffer.from('x'), false],
  ['bytes without sense', Buffer.from([0, 255, 10, 13, 0, 200]), false],
  ['more than is taken', Buffer.alloc(200_000, 'a\r\n'), true],
] as const)('%s passes, and is never an error', async ([, body, isSkipped]) => {
  const { status, json } = await site.post('/checkv2', body)
  expect(status).toBe(200)
  expect(json).toMatchObject({ is_skipped: isSkipped, action: 'no action' })
})

test('a body that contradicts its headers is the client’s error', async () => {
  expect(await site.post('/checkv2', mail, { compression: 'zstd' })).toMatchObject({ status: 400 })
  expect(await site.post('/checkv2', '', { file: '/etc/passwd' })).toMatchObject({ status: 400 })
})

test('a thousand recipients fit into a check', async () => {
  const many = Array.from({ length: 1_000 }, (_, index) => `Rcpt: someone-${index}@home.example`)
  const head = `POST /checkv2 HTTP/1.0\r\nContent-Length: ${mail.length}\r\n${many.join('\r\n')}`
  expect(await site.sendRaw(`${head}\r\n\r\n`, mail)).toMatch(/^HTTP\/1\.1 200 /)
})

test('consecutive checks on one connection are answered in order', async () => {
  const ask = (mark: string, more = '') => {
    const body = checkedMail(mark, 'https://good.example/')
    const head = `POST /checkv2 HTTP/1.1\r\n${more}Content-Length: ${body.length}\r\n\r\n`
    return Buffer.concat([Buffer.from(head), body])
  }
  const all = await site.sendRaw(ask('first'), ask('second'), ask('third', 'Connection: close\r\n'))
  const ids = [...all.matchAll(/"message-id":"(\w+)@/g)].map(([, mark]) => mark)
  expect(ids).toEqual(['first', 'second', 'third'])
})

test('the old line protocol is answered, however it is split, and so is HTTP', async () => {
  const question = Buffer.concat([Buffer.from(lines(mail.length)), mail])
  const whole = await site.sendRaw(question)
  expect(whole).toMatch(/^RSPAMD\/1\.3 0 EX_OK\r\nMetric: default; False; -?\d+\.\d\d \/ 15\.00 /)
  expect(whole).toContain('\r\nAction: no action\r\n')
  const socket = connect(site.port, '127.0.0.1')
  let answer = ''
  socket.on('data', (chunk) => (answer += String(chunk)))
  for (const at of [0, 1, 3, 9, 40, 120]) {
    const next = { 0: 1, 1: 3, 3: 9, 9: 40, 40: 120, 120: question.length }[at]
    await new Promise((resolve) => socket.write(question.subarray(at, next), resolve))
    await new Promise(setImmediate)
  }
  await once(socket, 'close')
  expect(answer).toContain('Action: no action')
  expect(await site.sendRaw('P', 'OST /ping HTTP/1.0\r\n\r\n')).toContain('pong')
  expect(await site.sendRaw('PING RSPAMC/1.3\r\n\r\n')).toContain('PONG')
})

test('overlong lines pass, and lines without a length are cut off', async () => {
  const big = await site.sendRaw(lines(200_000), Buffer.alloc(200_000, 'a\r\n'))
  expect(big).toContain('Metric: default; Skip; 0.00')
  expect(await site.sendRaw('CHECK RSPAMC/1.3\r\n\r\n', mail)).toBe('')
  expect(await site.sendRaw('CHECK RSPAMC/1.3\r\nContent-length: 99999999999\r\n\r\n')).toBe('')
})

test('clients that disconnect in the middle of a check affect no others', async () => {
  for (const half of [lines(1_000), 'POST /checkv2 HTTP/1.1\r\nContent-Length: 999\r\n\r\n']) {
    const socket = connect(site.port, '127.0.0.1')
    await once(socket, 'connect')
    await new Promise((resolve) => socket.write(`${half}half a mess`, resolve))
    socket.destroy()
  }
  expect((await site.post('/checkv2', mail)).status).toBe(200)
})

test('a page in a browser can neither check nor teach', async () => {
  const headers = { origin: 'https://evil.example' }
  expect((await site.post('/checkv2', mail, headers)).status).toBe(403)
  expect((await site.post('/learnspam', mail, headers)).status).toBe(403)
})

test('the statistics have rspamd’s format, and the metrics that of Prometheus', async () => {
  const read = async (path: string) => (await fetch(`http://127.0.0.1:${site.port}${path}`)).text()
  const before = JSON.parse(await read('/stat')) as { scanned: number }
  await site.post('/checkv2', mail)
  const after = JSON.parse(await read('/stat')) as { scanned: number; actions: object }
  expect(after.scanned).toBe(before.scanned + 1)
  expect(after.actions).toHaveProperty('no action')
  expect(await read('/metrics')).toContain('signalpost_check_seconds_count{action="no action"}')
})
