import { expect, test } from 'vitest'
import { parseTagList } from '../../../src/mail/dkim-signature.ts'

test.for<[string, string, Record<string, string>]>([
  [
    'tags are parted by semicolons',
    'v=1; a=rsa-sha256;d=a.example',
    { v: '1', a: 'rsa-sha256', d: 'a.example' },
  ],
  ['white space around names and values is none of theirs', ' d \t=  a b \t; ', { d: 'a b' }],
  ['a value may hold an equals sign, and may be empty', 'b=AA==; p=', { b: 'AA==', p: '' }],
  ['names are told apart in any case', 'D=a.example', { d: 'a.example' }],
  ['what has no equals sign is passed over', 'x; v=1; y; ; z', { v: '1' }],
  ['an empty list has no tags', '', {}],
])('%s', ([, text, tags]) => {
  expect(Object.fromEntries(parseTagList(text) ?? [['invalid', '']])).toEqual(tags)
})

test('a repeated name makes the list invalid', () => {
  expect(parseTagList('d=a.example; s=x; D=b.example')).toBeUndefined()
})

test('more tags than the limit make the list invalid', () => {
  const tags = (count: number) => Array.from({ length: count }, (_, n) => `t${n}=1`).join(';')
  expect(parseTagList(tags(50))?.size).toBe(50)
  expect(parseTagList(tags(51))).toBeUndefined()
})
