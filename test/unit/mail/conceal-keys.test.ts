import { expect, test } from 'vitest'
import {
  answerLinks,
  composeAnswerAddress,
  parseAnswerToken,
  parseOwnAddress,
} from '../../../src/mail/verp.ts'
import { concealKeysIn } from '../../../src/mail/conceal-keys.ts'
import { encodeTransfer } from '../../../src/mail/transfer-encoding.ts'

const told = { reportId: '0198c5f0-1234-7abc-8def-0123456789ab', number: 7 }
const secret = 'a secret of the tests'
const settings = { domain: 'bounces.test.example', secret }
const link = answerLinks(told, { publicUrl: 'https://spam.example', secret }).stop
const address = composeAnswerAddress(told, settings)

test('a concealed copy gives no one the right to answer, and keeps its length', () => {
  const raw = Buffer.from(`Reply-To: ${address}\r\nList-Unsubscribe: <${link}>\r\n\r\n${link}\r\n`)
  const text = concealKeysIn(raw).toString()
  expect(text).toHaveLength(raw.length)
  for (const [, found = ''] of text.matchAll(/answer\/([^/]+)\//g)) {
    expect(parseAnswerToken(found, secret)).toBeUndefined()
  }
  const [, replyTo = ''] = /Reply-To: (.*)\r/.exec(text) ?? []
  expect(parseOwnAddress(replyTo, settings)).toBeUndefined()
  expect(text).not.toContain(address)
})

test('a link broken by quoted-printable is concealed too, wherever it is broken', () => {
  const start = link.indexOf('/answer/') + '/answer/'.length
  for (let at = start; at <= start + 45; at++) {
    const broken = `${link.slice(0, at)}=\r\n${link.slice(at)}`
    const text = concealKeysIn(Buffer.from(broken)).toString()
    expect(text).toHaveLength(broken.length)
    const [, found = ''] = /answer\/([^/]+)\//.exec(text.replaceAll('=\r\n', '')) ?? []
    expect(found).toHaveLength(45)
    expect(parseAnswerToken(found, secret)).toBeUndefined()
  }
})

test('everything else stays the same byte for byte', () => {
  const raw = Buffer.from([0, 255, 13, 10, 61, 128, 254])
  expect(concealKeysIn(raw)).toEqual(raw)
  const page = Buffer.from('https://spam.example/answer/short/stop re-abc@bounces.test.example')
  expect(concealKeysIn(page)).toEqual(page)
})

test('the address inside the base64 of XARF is concealed at every alignment', () => {
  for (let at = 0; at < 160; at++) {
    const json = `{"x":"${'-'.repeat(at)}","a":"${address}","b":"${link}"}${' '.repeat(80)}`
    const raw = Buffer.from(
      `Content-Transfer-Encoding: base64\r\n\r\n${encodeTransfer(json, 'base64')}`,
    )
    const concealed = concealKeysIn(raw)
    expect(concealed).toHaveLength(raw.length)
    const [, lines = ''] = concealed.toString().split('\r\n\r\n')
    const read = Buffer.from(lines, 'base64').toString()
    expect(read).toHaveLength(json.length)
    expect(read).not.toContain(address)
    expect(read).not.toContain(link)
    expect(JSON.parse(read)).toMatchObject({ x: '-'.repeat(at) })
  }
})
