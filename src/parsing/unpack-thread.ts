import { move, transferableSymbol, valueSymbol } from 'piscina'
import {
  type GivenFile,
  type Unpacked,
  unpackFile,
  type UnpackLimits,
} from '../mail/containers/unpack-file.ts'
import { beforeEnd, type EndLock } from './run-in-time.ts'

/** One file to unpack; a Buffer from another thread arrives as a plain Uint8Array. */
export type UnpackTask = { name: string; bytes: Uint8Array; limits: UnpackLimits; lock: EndLock }

/** The contents of a file: all messages in one block of memory, which is transferred. */
export type UnpackMade = {
  items: (({ raw: { start: number; end: number } } & Omit<Taken, 'raw'>) | Refused)[]
  content: Uint8Array
}

type Taken = Extract<Unpacked, { raw: Buffer }>
type Refused = Extract<Unpacked, { refusal: string }>

export default async function run({ name, bytes, limits, lock }: UnpackTask): Promise<unknown> {
  const { buffer, byteOffset, byteLength } = bytes
  const file: GivenFile = { name, bytes: Buffer.from(buffer, byteOffset, byteLength) }
  const found = await unpackFile(file, limits, (step) => beforeEnd(lock, step))
  const sizes = found.map((item) => ('raw' in item ? item.raw.length : 0))
  const content = new Uint8Array(sizes.reduce((sum, size) => sum + size, 0))
  let end = 0
  const items = found.map((item) => {
    if (!('raw' in item)) return item
    const start = end
    content.set(item.raw, start)
    end += item.raw.length
    return { ...item, raw: { start, end } }
  })
  const made: UnpackMade = { items, content }
  return move({ [transferableSymbol]: [content.buffer], [valueSymbol]: made })
}
