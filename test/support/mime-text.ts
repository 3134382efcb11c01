import type { HeaderField } from '../../src/mail/header.ts'
import type { Entity } from '../../src/mail/mime-tree.ts'

/** Creates a header field; `value` may contain folds. */
export function newField(name: string, value: string): HeaderField {
  return { name, key: name.toLowerCase(), value, raw: `${name}: ${value}` }
}

/** Serializes an entity to bytes. */
export function composeMimeTree(entity: Entity): Buffer {
  return Buffer.from(entityText(entity), 'latin1')
}

function entityText({ fields, body }: Entity): string {
  const header = fields.map(({ raw }) => `${raw}\r\n`).join('')
  return `${header}\r\n${bodyText(body)}`
}

function bodyText(body: Entity['body']): string {
  if (body.kind === 'leaf') return body.text
  if (body.kind === 'message') return entityText(body.message)
  const parts = body.parts.map(({ delimiter, entity }) => delimiter + entityText(entity))
  return body.preamble + parts.join('') + body.close + body.epilogue
}
