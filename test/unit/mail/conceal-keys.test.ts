import { expect, test } from 'vitest'
import {
  answerLinks,
  composeAnswerAddress,
  parseAnswerToken,
  parseOwnAddress,
} from '../../../src/mail/verp.ts'
import { concealKeys, concealKeysIn, concealKeysInSteps } from '../../../src/mail/conceal-keys.ts'
import { keysIn } from '../../support/seen-keys.ts'
import { encodeTransfer } from '../../../src/mail/transfer-encoding.ts'
import { ringOf } from '../../support/key-ring.ts'

const told = { reportId: '0198c5f0-1234-7abc-8def-0123456789ab', number: 7 }
const secret = ringOf('a secret of the tests')
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

const pause = () => Promise.resolve()
const token = 'aiwc4lq6kzj3ubk4nf7s2b5m3i6a-lqz6ik4o2m7fj3up'
const random = 'Zm9vYmFyYmF6cXV4MDEyMzQ1Njc4OTAx'

const texts = [
  ...[`https://a.example/consumers/${token}`, `https://a.example/letters/off/${token}`],
  ...[`https://a.example/account/confirm/${random}`, `https://a.example/account/reset/${random}`],
  ...[`https://a.example/account/move/${random}`, `https://a.example/consumers/enroll/${random}`],
  ...[`https://a.example/lookup/delist/${random}`, `https://a.example/account/erased/${random}`],
  ...[`re-${token}@a.example`, `RE-${token.toUpperCase()}@A.EXAMPLE`],
  ...[`report-${'abcdefghijklmnopqrstuvwxyz'}@a.example`, `Report-${'A'.repeat(26)}@a.example`],
  ...[`whsec_${Buffer.alloc(32, 7).toString('base64')}`, `sp_${'a-_'.repeat(14)}a`],
]

/** The ways in which mail programs and gateways write a text again. */
const ways: Readonly<Record<string, (text: string) => string>> = {
  'as it is': (text) => text,
  'quoted-printable': (text) => text.replaceAll(/.{20}/g, '$&=\r\n').replaceAll('-', '=2D'),
  'a quotation': (text) => `> ${text.replaceAll(/.{30}/g, '$&\r\n> ')}`,
  'a quotation in HTML': (text) => `&gt; ${text.replaceAll(/.{30}/g, '$&\n&gt; ')}`,
  'percent-encoding': (text) => encodeURIComponent(text),
  'twice percent-encoded': (text) => encodeURIComponent(encodeURIComponent(text)),
  'character references': (text) => text.replaceAll('/', '&#x2F;').replaceAll('@', '&#64;'),
  JSON: (text) => JSON.stringify(`x\r\n${text.replaceAll(/.{30}/g, '$&\r\n> ')}`),
  base64: (text) => encodeTransfer(`some words\r\n${text}`, 'base64'),
  'base64 in base64': (text) =>
    encodeTransfer(`\r\n\r\n${encodeTransfer(text, 'base64')}`, 'base64'),
  'UTF-16': (text) => Buffer.from(text, 'utf16le').toString('latin1'),
  'UTF-16 in base64': (text) =>
    encodeTransfer(Buffer.from(text, 'utf16le').toString('latin1'), 'base64'),
}

test.for(Object.entries(ways))('every kind of key is concealed in %s', async ([, write]) => {
  for (const text of texts) {
    const written = write(text)
    const key = text.replace(/@.*/, '').slice(-16)
    expect([written, keysIn(Buffer.from(written, 'latin1'), { key })]).toEqual([written, ['key']])
    const concealed = concealKeysIn(Buffer.from(written, 'latin1'))
    expect(concealed).toHaveLength(written.length)
    expect([written, keysIn(concealed, { key })]).toEqual([written, []])
    expect(
      (await concealKeysInSteps(Buffer.from(written, 'latin1'), pause)).equals(concealed),
    ).toBe(true)
  }
})

const number = (text: string, shape: RegExp, radix: number) =>
  text.replaceAll(shape, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, radix)))
const hex = (character: string) => character.charCodeAt(0).toString(16).padStart(2, '0')

/** Rarer ways, each with its reverse. */
const rareWays: Readonly<
  Record<string, { write: (text: string) => string; read: (text: string) => string }>
> = {
  'long character references': {
    write: (text) => text.replaceAll(/[^a-z]/g, (one) => `&#x0000${hex(one)};`),
    read: (text) => number(text, /&#x([0-9a-f]+);/gi, 16),
  },
  'character references without an end': {
    write: (text) => text.replaceAll(/[/@_-]/g, (one) => `&#${one.charCodeAt(0)}`),
    read: (text) => number(text, /&#(\d\d)/g, 10),
  },
  'named references': {
    write: (text) => text.replaceAll('/', '&sol;').replaceAll('@', '&commat;'),
    read: (text) => text.replaceAll('&sol;', '/').replaceAll('&commat;', '@'),
  },
  'escapes of JSON': {
    write: (text) => text.replaceAll(/[/@-]/g, (one) => `\\u00${hex(one)}`),
    read: (text) => number(text, /\\u00([0-9a-f]{2})/gi, 16),
  },
  'strokes of JSON': {
    write: (text) => text.replaceAll('/', String.raw`\/`),
    read: (text) => text.replaceAll(String.raw`\/`, '/'),
  },
  'places to break a word': {
    write: (text) => text.replaceAll(/.{9}/g, '$&<wbr>'),
    read: (text) => text.replaceAll('<wbr>', ''),
  },
  'encoded words': {
    write: (text) =>
      (text.match(/.{1,21}/g) ?? [])
        .map((part) => `=?utf-8?B?${Buffer.from(part).toString('base64')}?=`)
        .join('\r\n '),
    read: (text) =>
      text.replaceAll(/\s*=\?utf-8\?B\?(.*?)\?=/g, (_, part: string) =>
        Buffer.from(part, 'base64').toString('latin1'),
      ),
  },
  'parts of a parameter': {
    write: (text) =>
      (text.match(/.{1,20}/g) ?? []).map((part, at) => `filename*${at}="${part}"`).join(';\r\n '),
    read: (text) => text.replaceAll(/";\r\n filename\*\d+="/g, ''),
  },
  'base64 of links': {
    write: (text) => Buffer.from(`\u00fb\u00ff\u00bf${text}`, 'latin1').toString('base64url'),
    read: (text) => Buffer.from(text, 'base64url').toString('latin1'),
  },
  'UTF-16 in quoted-printable': {
    write: (text) => text.replaceAll(/./g, '$&=00'),
    read: (text) => text.replaceAll('=00', ''),
  },
}

test.for(Object.entries(rareWays))('every kind of key is concealed in %s', ([, way]) => {
  for (const text of texts) {
    const key = text.replace(/@.*/, '').slice(-16)
    const written = way.write(text)
    expect(way.read(written)).toContain(key)
    const concealed = concealKeys(written)
    expect(concealed).toHaveLength(written.length)
    expect([written, way.read(concealed).includes(key)]).toEqual([written, false])
    expect(way.read(concealed)).toHaveLength(way.read(written).length)
  }
})

test('a link is concealed that a gateway wrote with other characters', () => {
  const escaped = (text: string) =>
    text.replaceAll(/[-_:]/g, (one) => `-${hex(one).toUpperCase()}`).replaceAll('/', '_')
  const links = [
    ...[`https://a.example/consumers/${token}`, `https://a.example/answer/${token}/stop`],
    ...['confirm', 'reset', 'move'].map((one) => `https://a.example/account/${one}/a-b_${random}`),
    `https://a.example/consumers/enroll/${random}`,
  ].map(escaped)
  for (const written of links) {
    const concealed = concealKeys(`https://gateway.example/v2/url?u=${written}&d=DwMF`)
    expect(concealed).toContain('&d=DwMF')
    expect([written, concealed.includes(random.slice(-16))]).toEqual([written, false])
    expect([written, concealed.includes(token.slice(-16))]).toEqual([written, false])
  }
})

test('the address of a reporter is concealed without its domain', () => {
  expect(concealKeys(`user=report-${'abcdefghijklmnopqrstuvwxyz'} unknown`)).toBe(
    `user=report-${'*'.repeat(26)} unknown`,
  )
})

/** The shortest CPU time of several, because other tests run at the same time. */
function shortestCpuMs(text: string): number {
  const times = [1, 2, 3].map(() => {
    const before = process.cpuUsage()
    concealKeys(text)
    return process.cpuUsage(before).user / 1_000
  })
  return Math.min(...times)
}

test.for([
  ['base64 that is base64 at each shift', 'V'],
  ['the same with many levels of escapes', `${'V'.repeat(1_000)}${'&amp;amp;amp;amp;amp;amp;'}`],
  ['the same in short pieces', `${'V'.repeat(64)}=41`],
] as const)('%s takes hardly longer than any text', ([, piece]) => {
  const long = (one: string) => one.repeat(Math.ceil(1_000_000 / one.length))
  const usual = Math.max(shortestCpuMs(long('&#x2F;')), 100)
  expect(shortestCpuMs(long(piece))).toBeLessThan(4 * usual)
})

test('a key at the border of two steps is concealed', async () => {
  const text = `https://a.example/account/reset/${random}`
  for (let at = -60; at < 20; at += 5) {
    const raw = Buffer.from(`${'x '.repeat(64 * 1024).slice(0, 128 * 1024 + at)}${text}\r\n`)
    const concealed = await concealKeysInSteps(raw, pause)
    expect(concealed).toHaveLength(raw.length)
    expect(keysIn(concealed, { key: random.slice(-16) })).toEqual([])
  }
})

test.for([' ', '=\r\n', '%25', '&#x2F;', '\r\n> ', 'a', 'A2', '\\n'])(
  'a long mail of %j takes linear time',
  (piece) => {
    const time = (pieces: number) => shortestCpuMs(piece.repeat(pieces))
    const [short, long] = [time(20_000), time(160_000)]
    expect(long).toBeLessThan(8 * 5 * Math.max(short, 5))
  },
)
