import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

/** A statement with parameters in a form that JSON keeps. */
export type Statement = { text: string; values: unknown[] }

/** The statements of a transaction in order, or one statement outside a transaction. */
export type Shape = readonly Statement[]

/** Returns a parameter so that JSON keeps it: bytes become an object. */
export function packValue(value: unknown): unknown {
  if (Buffer.isBuffer(value)) return { bytes: value.toString('base64') }
  if (typeof value === 'bigint') return String(value)
  return Array.isArray(value) ? value.map(packValue) : value
}

export function unpackValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unpackValue)
  return isBytes(value) ? Buffer.from(value.bytes, 'base64') : value
}

function isBytes(value: unknown): value is { bytes: string } {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.keys(value).join() === 'bytes' &&
    'bytes' in value &&
    typeof value.bytes === 'string'
  )
}

/** Returns the distinct shapes in a folder that workers wrote to. */
export function readShapes(folder: string): Shape[] {
  const shapes = new Map<string, Shape>()
  for (const name of readdirSync(folder)) {
    for (const line of readFileSync(path.join(folder, name), 'utf8').split('\n')) {
      if (line === '') continue
      const shape = JSON.parse(line) as Shape
      shapes.set(shape.map(({ text }) => text).join('\n;\n'), shape)
    }
  }
  return [...shapes.values()]
}
