import { expect, test } from 'vitest'
import { withoutOwnLines } from '../../../clients/thunderbird/own-lines.ts'
import { answerOf, letterResultOf, parseServer } from '../../../clients/thunderbird/service.ts'
import { parseSettings } from '../../../clients/thunderbird/settings.ts'
import { buildThunderbird, thunderbirdFiles } from '../../../src/web/reporting/thunderbird.ts'

const message = 'X-Spam: no\r\nX-Mozilla-Status: 0001\r\n\r\nbody'
test.for([
  ['', 'a message without own lines stays'],
  ['X-Mozilla-Status: 0001\r\nX-Mozilla-Status2: 00000000\r\n', 'lines of a local folder'],
  ['X-Mozilla-Status: 0001\nX-Mozilla-Status2: 00000000\n', 'lines of an offline store'],
  ['X-Mozilla-Keys: $label1                    \r\nx-mozilla-status: 0\n', 'keywords, any case'],
])('own lines are removed at the very top only: %s', ([lines]) => {
  const raw = new TextEncoder().encode(`${lines}${message}`)
  expect(new TextDecoder().decode(withoutOwnLines(raw))).toBe(message)
})

test('nothing but an own line without an end stays as it is', () => {
  const raw = new TextEncoder().encode('X-Mozilla-Status: 0001')
  expect(withoutOwnLines(raw)).toEqual(raw)
})

const id = '0193592e-6d5c-7c56-8000-000000000000'
test.for([
  [202, null, { id }, { is: 'accepted', id, lacksWayIn: false }],
  [200, null, { id }, { is: 'accepted', id, lacksWayIn: false }],
  [202, null, { id, way_in: 'unknown' }, { is: 'accepted', id, lacksWayIn: true }],
  [200, null, '<html>', { is: 'away' }],
  [401, null, {}, { is: 'signed-out' }],
  [422, null, { type: 'x', detail: 'no header' }, { is: 'refused', why: 'no header' }],
  [400, null, undefined, { is: 'away' }],
  [404, null, {}, { is: 'away' }],
  [429, '90', {}, { is: 'away', afterMs: 90_000 }],
  [503, 'soon', {}, { is: 'away' }],
] as const)('status %i with Retry-After %s and %o means %o', ([status, after, body, answer]) => {
  expect(answerOf(status, after, body)).toEqual(answer)
})

test.for([
  [202, { state: 'sent' }, 'sent'],
  [200, { state: 'under-way' }, 'under-way'],
  [200, { state: 'known' }, 'known'],
  [200, { state: 'no-mail' }, 'no-mail'],
  [200, '<html>', 'away'],
  [429, {}, 'too-often'],
  [403, {}, 'signed-out'],
  [503, {}, 'away'],
] as const)('status %i with %o about a test message means %s', async ([status, body, result]) => {
  expect(letterResultOf(status, body)).toBe(result)
  const texts = (await thunderbirdFiles()).get('_locales/ru/messages.json') ?? ''
  expect(texts).toContain(`"letter_${result.replace('-', '_')}"`)
})

test.for([
  ['spam.example', 'https://spam.example'],
  [' https://spam.example/report/ ', 'https://spam.example'],
  ['http://localhost:8080', 'http://localhost:8080'],
  ['', undefined],
  ['ftp://spam.example', undefined],
  ['not an address', undefined],
] as const)('the address %j is read as %j', ([text, server]) => {
  expect(parseServer(text)).toBe(server)
})

test('a policy sets only what it names and what is valid', () => {
  const policy = { server: 'spam.example/', token: 5, movesToJunk: false, other: true }
  expect(parseSettings(policy)).toEqual({ server: 'https://spam.example', movesToJunk: false })
})

test('the same sources give the same file', async () => {
  expect((await buildThunderbird()).equals(await buildThunderbird())).toBe(true)
})

test('the add-on contains every file that it names, and no remote code', async () => {
  const files = await thunderbirdFiles()
  const text = [...files.values()].join('\n')
  const named = [...text.matchAll(/(?:src="|href="|from '\.\/|Icon": "|iconUrl = ")([\w./-]+)/gi)]
  expect(named.length).toBeGreaterThan(5)
  for (const [, name = ''] of named) expect([...files.keys()]).toContain(name)
  const scripts = [...files].filter(([name]) => /\.(js|html)$/.test(name))
  for (const [, code] of scripts) expect(code).not.toMatch(/\beval\(|src="https?:|import\(/)
})

test('English has every text that is used, and translations have its placeholders', async () => {
  const files = await thunderbirdFiles()
  const code = [...files].filter(([name]) => /\.(js|html)$|^manifest/.test(name)).join('\n')
  const used = (key: string) =>
    code.includes(`__MSG_${key}__`) || new RegExp(`['"]${key}['"]`).test(code)
  const texts = (language: string) => {
    const messages = files.get(`_locales/${language}/messages.json`) ?? '{}'
    return Object.entries(JSON.parse(messages) as Record<string, { message: string }>)
  }
  const english = texts('en')
  const unused = english.filter(([key]) => !used(key) && !/^(test|letter)_/.test(key))
  expect(unused).toEqual([])
  const expected = new Map(english)
  const places = (text: string) => text.match(/\$\d/g)
  for (const language of ['fr', 'ru']) {
    for (const [key, { message }] of texts(language)) {
      expect(places(message)).toEqual(places(expected.get(key)?.message ?? ''))
    }
  }
})
