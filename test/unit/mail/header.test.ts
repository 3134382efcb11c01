import { expect, test } from 'vitest'
import { fieldValue, fieldValues, parseHeader } from '../../../src/mail/header.ts'

const names = (text: string) => parse(text).fields.map(({ name }) => name)
const parse = (text: string) => parseHeader(Buffer.from(text, 'latin1'))

test.for([
  ['LF', 'A: 1\nB: 2\n\nbody', 8 + 3],
  ['CRLF', 'A: 1\r\nB: 2\r\n\r\nbody', 14],
  ['a lone CR', 'A: 1\rB: 2\r\rbody', 11],
] as const)('lines may end in %s', ([, text, bodyOffset]) => {
  const header = parse(text)
  expect(header.fields.map(({ name, value }) => [name, value])).toEqual([
    ['A', '1'],
    ['B', '2'],
  ])
  expect(header.bodyOffset).toBe(bodyOffset)
})

test('a CRLF across the bytes in which line ends are looked for is one line end', () => {
  const first = `A: ${'x'.repeat(16 * 1024 - 4)}`
  const { fields, bodyOffset, lineEnd } = parse(`${first}\r\nB: 2\r\n\r\nbody`)
  expect(lineEnd).toBe('lf')
  expect(fields.map(({ raw }) => raw)).toEqual([first, 'B: 2'])
  expect(bodyOffset).toBe(first.length + 10)
})

test('folded lines are one value, and raw keeps the original lines', () => {
  const [field] = parse('Subject: one\r\n\ttwo\r\n  three\r\nTo: x\r\n\r\n').fields
  expect([field?.name, field?.key]).toEqual(['Subject', 'subject'])
  expect(field?.value).toBe('one two three')
  expect(field?.raw).toBe('Subject: one\r\n\ttwo\r\n  three')
})

test('a lone CR inside a line with LF ends is not a line end', () => {
  expect(parse('A: 1\r2\nB: 3\n\n').fields.map(({ value }) => value)).toEqual(['1\r2', '3'])
})

test('without a blank line the header ends at the first body text', () => {
  const text = 'A: 1\nB: 2\nDear Sir or Madam\nI write to you\n'
  expect(parse(text).bodyOffset).toBe(10)
})

test('a stray line between two fields is skipped', () => {
  expect(names('A: 1\nnot a field\nB: 2\n\nbody')).toEqual(['A', 'B'])
})

test('an mbox line before the header is not a field', () => {
  expect(names('From x@example.com Tue Nov  3 08:15:00 2026\nA: 1\n\n')).toEqual(['A'])
  expect(names('From: x@example.com\nA: 1\n\n')).toEqual(['From', 'A'])
})

test('NULs and 8-bit bytes stay in values and never occur in names', () => {
  const header = parse('A: x\0y\xe9\nB\xe9: 2\nC: 3\n\n')
  expect(header.fields.map(({ name, value }) => [name, value])).toEqual([
    ['A', 'x\0y\xe9'],
    ['C', '3'],
  ])
})

test('a space before the colon is accepted, one inside the name is not', () => {
  expect(names('Subject : x\nNo field: y\nTo: z\n\n')).toEqual(['Subject', 'To'])
})

test('a header longer than the first slice is read whole', () => {
  const many = Array.from({ length: 3000 }, (_, i) => `X-${i}: ${'v'.repeat(20)}\r\n`).join('')
  const header = parse(`${many}Subject: last\r\n\r\nbody`)
  expect(header.fields).toHaveLength(3001)
  expect(fieldValue(header.fields, 'subject')).toBe('last')
})

test('empty input has no fields', () => {
  expect(parseHeader(Buffer.alloc(0))).toEqual({ fields: [], bodyOffset: 0, lineEnd: 'lf' })
})

test('fields are found by name in lower case, from the top', () => {
  const { fields } = parse('Received: b\nRECEIVED: a\nTo: x\n\n')
  expect(fieldValues(fields, 'received')).toEqual(['b', 'a'])
  expect(fieldValue(fields, 'received')).toBe('b')
  expect(fieldValue(fields, 'cc')).toBeUndefined()
})
