import { expect, test } from 'vitest'
import { receiverFields, senderFields } from '../../../src/evidence/sender-fields.ts'

const fields = [...senderFields, ...receiverFields]

test('names are field names in lower case', () => {
  const isName = (name: string) => /^[a-z\d][a-z\d_-]+$/.test(name)
  expect(fields.map(({ name }) => name).filter((name) => !isName(name))).toEqual([])
})

test('a name stands in one list, once', () => {
  const names = fields.map(({ name }) => name)
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([])
})

test('no prefix of the receiver covers a field of the sender', () => {
  const prefixes = receiverFields.filter(({ isPrefix }) => isPrefix).map(({ name }) => name)
  const covered = senderFields.filter((field) => prefixes.some((one) => field.name.startsWith(one)))
  expect(covered.map(({ name }) => name)).toEqual([])
})

test('every field of a sender has a service and a source', () => {
  const bare = senderFields.filter(({ source, service }) => !source || !service)
  expect(bare).toEqual([])
  const sources = senderFields.map(({ source }) => source)
  expect(sources.filter((source) => !/^https:|^seen in mail o[fr]/.test(source))).toEqual([])
})

test('every value of a field of a sender has a rule', () => {
  const values = ['text', 'address', 'ip', 'path', 'account', 'message', 'mixed']
  expect(senderFields.filter(({ value }) => !values.includes(value))).toEqual([])
})
