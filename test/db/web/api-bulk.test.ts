import { request } from 'node:http'
import { expect, test } from 'vitest'
import { closeAfterTests } from '../../support/after-tests.ts'
import { sampleMessage, startWebSite } from './web-site.ts'

const site = await closeAfterTests(startWebSite({ MESSAGE_BYTES_MAX: '1000000' }))
const ann = await site.addPerson('ann@reporters.example')

type Result = { index: number; ref: string | null } & Partial<{
  id: string
  repeated: boolean
  changed: boolean
  problem: { type: string; status: number }
}>
type Results = {
  accepted: number
  changed: number
  repeated: number
  refused: number
  results: Result[]
}

const ndjson = { 'content-type': 'application/x-ndjson' }

function send(body: string | Buffer<ArrayBuffer>, headers: Record<string, string> = ndjson) {
  return fetch(`${site.url}/api/v1/reports/bulk`, {
    method: 'POST',
    body,
    headers: { authorization: `Bearer ${ann.token}`, ...headers },
  })
}

const item = (mark: string, more: object = {}) =>
  JSON.stringify({ message_base64: sampleMessage(mark).toString('base64'), ...more })

async function results(answer: Response): Promise<Results> {
  return (await answer.json()) as Results
}

test('each line is a report with its own properties and result', async () => {
  const lines = [
    item('bulk-a', { kind: 'phishing', comment: 'odd', ref: 'A' }),
    '',
    item('bulk-b', { received_via: '192.0.2.9', ref: 'B' }),
    item('bulk-a', { ref: 'A again' }),
    '{"message_base64":"aGVsbG8="}',
    'no JSON',
    item('bulk-c', { kind: 'ham', ref: 'C' }),
    '\xff',
    '{"ref":"no message"}',
  ]
  const answer = await send(Buffer.from(lines.join('\r\n'), 'latin1'))
  expect(answer.status).toBe(202)
  const said = await results(answer)
  expect(said).toMatchObject({ accepted: 2, changed: 1, repeated: 0, refused: 5 })
  expect(said.results.map(({ index, ref }) => [index, ref])).toEqual([
    [0, 'A'],
    [1, 'B'],
    [2, 'A again'],
    [3, null],
    [4, null],
    [5, 'C'],
    [6, null],
    [7, null],
  ])
  const [first, second, third, ...refused] = said.results
  expect(third?.id).toBe(first?.id)
  expect([first, second, third].map((one) => one?.changed)).toEqual([false, false, true])
  expect(refused.map(({ problem }) => problem?.status)).toEqual([400, 400, 422, 400, 422])
  const { rows } = await site.app.pool.query<object>(
    'select kind, received_via::text[] as via from reports where id = any($1) order by via',
    [[first?.id, second?.id]],
  )
  expect(rows).toEqual([
    { kind: 'spam', via: [] },
    { kind: 'spam', via: ['192.0.2.9/32'] },
  ])
})

test('sending the whole again reports nothing twice, and says so', async () => {
  const body = [item('whole-a'), item('whole-b')].join('\n')
  expect((await send(body)).status).toBe(202)
  const again = await send(body)
  expect(again.status).toBe(200)
  expect(await results(again)).toMatchObject({ accepted: 0, repeated: 2, refused: 0 })
})

test('if nothing was accepted, the answer is an error', async () => {
  const alike = await send('{"message_base64":"aGVsbG8="}\n{"message_base64":"aGVsbG8="}')
  expect([alike.status, alike.headers.get('content-type')]).toEqual([
    400,
    'application/problem+json',
  ])
  expect((await results(alike)).results).toHaveLength(2)
  expect((await send('x\n{}')).status).toBe(422)
  expect((await send('\n \n')).status).toBe(400)
})

test('the key of a line belongs to its message', async () => {
  const key = { idempotency_key: 'line-1' }
  expect((await send(item('keyed', key))).status).toBe(202)
  const other = await send([item('keyed-other', key), item('keyed', key)].join('\n'))
  expect((await results(other)).results).toMatchObject([
    { problem: { status: 422 } },
    { repeated: true },
  ])
  const headers = { ...ndjson, 'idempotency-key': 'whole' }
  expect((await send(item('keyed'), headers)).status).toBe(400)
})

test.for([
  ['another type', { 'content-type': 'application/json' }, 415],
  ['a compressed body', { ...ndjson, 'content-encoding': 'gzip' }, 415],
  ['a stranger', { ...ndjson, authorization: 'Bearer x' }, 401],
] as const)('%s is refused', async ([, headers, status]) => {
  expect((await send(item('x'), headers)).status).toBe(status)
})

test('a line of 300 MB is skipped without keeping it in memory', async () => {
  const before = process.memoryUsage().rss
  let most = before
  const answer = await new Promise<Results>((resolve, reject) => {
    const req = request(`${site.url}/api/v1/reports/bulk`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ann.token}`, ...ndjson },
    })
    req.on('error', reject)
    req.on('response', (res) => {
      let text = ''
      res.on('data', (chunk: Buffer) => (text += chunk.toString()))
      res.on('end', () => resolve(JSON.parse(text) as Results))
    })
    req.write(`${item('before-it')}\n`)
    const chunk = Buffer.alloc(1_000_000, 'a')
    let left = 300
    const more = () => {
      while (left > 0) {
        left--
        most = Math.max(most, process.memoryUsage().rss)
        if (!req.write(chunk)) return void req.once('drain', more)
      }
      req.end(`\n${item('behind-it')}\n`)
    }
    more()
  })
  expect(answer).toMatchObject({ accepted: 2, refused: 1 })
  expect(answer.results[1]?.problem?.status).toBe(413)
  expect(most - before).toBeLessThan(150_000_000)
})

test('of ten thousand lines only the first thousand are read', async () => {
  const answer = await send('{}\n'.repeat(999) + `${item('thousandth')}\n` + '{}\n'.repeat(9_000))
  const said = await results(answer)
  expect(said.results).toHaveLength(1_001)
  expect(said).toMatchObject({ accepted: 1, refused: 1_000 })
  expect(said.results.at(-2)).toMatchObject({ index: 999, repeated: false })
})

test('JSON of ten thousand brackets fails only its own line', async () => {
  const answer = await send(`${'['.repeat(10_000)}\n${item('beside-brackets')}`)
  expect(await results(answer)).toMatchObject({ accepted: 1, refused: 1 })
})

test('a client that disconnects in the middle of a line leaves nothing open', async () => {
  const req = request(`${site.url}/api/v1/reports/bulk`, {
    method: 'POST',
    agent: false,
    headers: { authorization: `Bearer ${ann.token}`, ...ndjson },
  })
  req.on('error', () => undefined)
  await new Promise((resolve) => req.write(`${item('left')}\n{"message_b`, resolve))
  req.destroy()
  expect((await send(item('next-one'))).status).toBe(202)
})
