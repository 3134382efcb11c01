import { expect, test } from 'vitest'
import { closeAfterTests } from '../../support/after-tests.ts'
import { problemIn, sampleMessage, startWebSite } from './web-site.ts'

const site = await closeAfterTests(startWebSite({ MESSAGE_BYTES_MAX: '1000000' }))
const ann = await site.addPerson('ann@reporters.example')

const rfc822 = { 'content-type': 'message/rfc822' }
const json = { 'content-type': 'application/json' }

type Sent = { headers: Record<string, string>; query?: string }

function post(body: Buffer<ArrayBuffer> | string, { headers, query = '' }: Sent) {
  return fetch(`${site.url}/api/v1/reports${query}`, {
    method: 'POST',
    body,
    headers: { authorization: `Bearer ${ann.token}`, ...headers },
  })
}

const base64 = sampleMessage('bad').toString('base64')

test.for<[string, Buffer<ArrayBuffer> | string, Record<string, string>, number]>([
  ['no body', '', rfc822, 400],
  ['NULs', Buffer.alloc(500), rfc822, 400],
  ['text without a header', 'Dear friend,\r\n\r\nbuy this.', rfc822, 400],
  ['a type we do not take', sampleMessage('type'), { 'content-type': 'text/html' }, 415],
  ['no type', sampleMessage('none'), { 'content-type': '' }, 415],
  ['a compressed body', 'x', { ...rfc822, 'content-encoding': 'gzip' }, 415],
  ['what is not JSON', '{"message_base64":', json, 400],
  ['JSON that is not UTF-8', Buffer.from([0x22, 0xff, 0x22]), json, 400],
  ['a JSON array', '[]', json, 422],
  ['JSON without a message', '{}', json, 422],
  ['a message that is not base64', '{"message_base64":"*not*"}', json, 400],
  ['base64 of nothing', '{"message_base64":""}', json, 400],
  ['base64 with a stray character', `{"message_base64":"${base64}!"}`, json, 400],
  ['an unknown kind', `{"message_base64":"${base64}","kind":"ham"}`, json, 422],
  [
    'a kind that every object has',
    `{"message_base64":"${base64}","kind":"constructor"}`,
    json,
    422,
  ],
  ['a kind of another type', `{"message_base64":"${base64}","kind":7}`, json, 422],
  ['a relay that is none', `{"message_base64":"${base64}","received_via":"mx"}`, json, 422],
  ['half a million brackets', '['.repeat(500_000), json, 400],
  ['a form without boundary', 'x', { 'content-type': 'multipart/form-data' }, 400],
  [
    'a form cut off',
    '--b\r\nContent-Disposi',
    { 'content-type': 'multipart/form-data; boundary=b' },
    400,
  ],
  ['a form without parts', '--b--\r\n', { 'content-type': 'multipart/form-data; boundary=b' }, 400],
  ['more than the limit', Buffer.alloc(3_000_000, 'a'), rfc822, 413],
  [
    'more header fields than any mail has',
    `From: a@b.example\r\nSubject: x\r\n${'X: y\r\n'.repeat(3000)}\r\n`,
    rfc822,
    422,
  ],
])('refuses %s with an error', async ([, body, headers, status]) => {
  const answer = await post(body, { headers })
  expect(answer.status).toBe(status)
  await problemIn(answer)
})

test('an error about a long comment names the field', async () => {
  const query = `?comment=${'x'.repeat(2001)}`
  const answer = await post(sampleMessage('comment'), { headers: rfc822, query })
  expect(answer.status).toBe(422)
  expect((await problemIn(answer)).detail).toContain('comment')
})
