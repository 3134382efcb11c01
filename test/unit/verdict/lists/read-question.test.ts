import { expect, test } from 'vitest'
import { readListQuestion } from '../../../../src/verdict/lists/questions.ts'

test.for([
  ['192.0.2.7', '192.0.2.7'],
  ['[192.0.2.7]', '192.0.2.7'],
  ['192[.]0[.]2[.]7', '192.0.2.7'],
  ['192.0.2[.]7', '192.0.2.7'],
  ['http://192.0.2.7:8080/x', '192.0.2.7'],
  ['http://3221225991/', '192.0.2.7'],
  ['192.0.2.7:25', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:DB8:0:0::7', '2001:db8::7'],
  ['[IPv6:2001:db8::7]', '2001:db8::7'],
  ['http://[2001:db8::7]/', '2001:db8::7'],
] as const)('%s looks up the address %s', ([text, name]) => {
  expect(readListQuestion(text)).toEqual({ name, asks: [{ list: 'addresses', name }] })
})

test.for([
  ['www.bad.example', 'www.bad.example'],
  ['  WWW.Bad.Example.  ', 'www.bad.example'],
  ['hxxp://www.bad[.]example/path', 'www.bad.example'],
  ['hxxps[:]//www[.]bad[.]example', 'www.bad.example'],
  ['hXXps://www(.)bad{.}example', 'www.bad.example'],
  ['www[dot]bad (dot) example', 'www.bad.example'],
  ['www dot bad dot example', 'www.bad.example'],
  ['www\\.bad\\.example', 'www.bad.example'],
  ['ftp://www.bad.example/x', 'www.bad.example'],
  ['https://bank.example@www.bad.example/login', 'www.bad.example'],
  ['www.bad.example/a?b#c', 'www.bad.example'],
  ['www.bad.example:8443', 'www.bad.example'],
  ['someone@www.bad.example', 'www.bad.example'],
  ['someone[@]www[.]bad[.]example', 'www.bad.example'],
  ['*.www.bad.example', 'www.bad.example'],
  ['.www.bad.example', 'www.bad.example'],
] as const)('%s looks up the host and its domain', ([text, name]) => {
  const question = readListQuestion(text)
  expect(question?.name).toBe(name)
  expect(question?.asks.filter(({ list }) => list !== 'pages')).toEqual([
    { list: 'hosts', name },
    { list: 'domains', name: 'bad.example' },
  ])
})

test.for([
  ['hxxps://www.bad[.]example/path?a=1', 'https://www.bad.example/path?a=1'],
  ['www.bad.example/path', 'www.bad.example/path'],
  ['https://www.bad.example/', 'https://www.bad.example/'],
  ['www.bad.example', undefined],
] as const)('%s looks up the page %s', ([text, page]) => {
  const asks = readListQuestion(text)?.asks.filter(({ list }) => list === 'pages')
  expect(asks?.map(({ name }) => name)).toEqual(page === undefined ? [] : [page])
})

test('names in other scripts are looked up in their DNS form', () => {
  expect(readListQuestion('https://Bücher.example/')?.name).toBe('xn--bcher-kva.example')
  expect(readListQuestion('bücher.example')?.name).toBe('xn--bcher-kva.example')
})

test.for([
  [''],
  [' '],
  ['bad'],
  ['bad example'],
  ['http://'],
  ['javascript:alert(1)'],
  ['<script>alert(1)</script>'],
  ['..'],
  ['a..example'],
  ['256.1.1.1.1.'],
  ['http://exa mple/'],
  [`${'a.'.repeat(200)}example`],
  ['x'.repeat(3_000)],
] as const)('%s looks up nothing', ([text]) => {
  expect(readListQuestion(text)).toBeUndefined()
})
