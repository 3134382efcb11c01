import fc from 'fast-check'
import { expect, test } from 'vitest'
import { writtenField } from '../../../src/mail/header.ts'
import {
  composeMimeTree,
  type Entity,
  isReadBack,
  parseMimeTree,
} from '../../../src/mail/mime-tree.ts'
import { baseMessages, nastyMail } from '../../support/nasty-mail.ts'

const pieces = ['--b', '\r\n--b\r\n', '\r\n--b--', ': x', 'a\r\n', '\r\n b', '\r', 'From ', 'é', '']
const multipart = [
  'MIME-Version: 1.0\r\nFrom : z\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\npreamble',
  '--b\r\nA: x\r\n\r\none',
  '--b\r\nContent-Type: message/rfc822\r\n\r\nSubject: y\r\n\r\ntwo',
  '--b--\r\n',
].join('\r\n')
/** The same with a part of no bytes at all. */
const withEmptyPart = multipart.replace('--b\r\n', '--b\r\n--b\r\n')

/** Changes a tree as the redaction may, and in ways in which it must not. */
function changed(entity: Entity, choose: (most: number) => number): Entity {
  const piece = () => pieces[choose(pieces.length - 1)] ?? ''
  const fields = entity.fields.flatMap((field) => {
    // The generator prefers the smallest and largest numbers: most fields stay as they are.
    const kind = choose(30)
    if (kind === 7 || kind === 8) return []
    if (kind < 9 || kind > 12) return field
    const raw = kind < 11 ? field.raw + piece() : piece() + field.raw
    const { name, value } = writtenField(raw)
    return { name, key: field.key, raw, value }
  })
  const { body } = entity
  if (body.kind === 'leaf') {
    const text = choose(9) > 5 ? body.text + piece() : body.text
    return { ...entity, fields, body: { kind: 'leaf', text } }
  }
  if (body.kind === 'message') {
    return { ...entity, fields, body: { kind: 'message', message: changed(body.message, choose) } }
  }
  const parts = body.parts.map(({ delimiter, entity: inner }) => ({
    delimiter,
    entity: changed(inner, choose),
  }))
  return { ...entity, fields, body: { ...body, parts, epilogue: '\r\n' } }
}

/** What is read of a tree: its fields and leaves. */
function readingOf({ fields, type, encoding, body }: Entity): unknown {
  const read = fields.map(({ name, key, raw, value }) => ({ name, key, raw, value }))
  if (body.kind === 'leaf') return { read, type, encoding, text: body.text }
  if (body.kind === 'message') return { read, type, encoding, inner: readingOf(body.message) }
  const parts = body.parts.map(({ delimiter, entity }) => [delimiter, readingOf(entity)])
  return { read, type, encoding, parts, preamble: body.preamble }
}

test('a tree is called read back only if the parser reads the composed tree as it is', () => {
  const own = [multipart, withEmptyPart].map((text) => Buffer.from(text))
  const mail = fc.oneof(nastyMail([...baseMessages(), ...own]), fc.constantFrom(...own))
  let known = 0
  fc.assert(
    fc.property(mail, fc.gen(), (raw, gen) => {
      const tree = parseMimeTree(raw)
      if (tree === undefined) return
      const other = changed(tree, (most) => gen(fc.nat, { max: most }))
      if (!isReadBack(other, tree)) return
      known += 1
      const read = parseMimeTree(composeMimeTree(other))
      expect(read && readingOf(read)).toEqual(readingOf(other))
    }),
    { numRuns: 3_000 },
  )
  // Otherwise the test would say nothing.
  expect(known).toBeGreaterThan(200)
})
