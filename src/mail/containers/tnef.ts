import type { Storage, Stream } from './compound-file.ts'

/** What is attached to a mail of Outlook in its own format: files, and messages as storages. */
export type TnefContents = { files: { name: string; bytes: Buffer }[]; messages: Storage[] }

const SIGNATURE = 0x223e9f78
const ATTACHMENT_START = 0x0006_9002
const ATTACHMENT_TITLE = 0x0001_8010
const ATTACHMENT_DATA = 0x0006_800f
const ATTACHMENT_PROPERTIES = 0x0006_9005
const MESSAGE_PROPERTIES = 0x0006_9003
/** The property with an attached object, its type, and the interface of a message. */
const DATA = 0x3701
const FILE_NAME = 0x3707
const OBJECT = 0x000d
const BINARY = 0x0102
const NARROW = 0x001e
const WIDE = 0x001f
const messageInterface = Buffer.from('0703020000000000c000000000000046', 'hex')

const ATTRIBUTES_MAX = 2_000
const PROPERTIES_MAX = 2_000
const DEPTH_MAX = 3

/** Whether the bytes begin as `winmail.dat` does. */
export function looksTnef(bytes: Buffer): boolean {
  return bytes.length >= 6 && bytes.readUInt32LE(0) === SIGNATURE
}

/**
 * Reads what is attached in a stream of TNEF (MS-OXTNEF), which Outlook sends as `winmail.dat`.
 * What is cut off or unknown is left out. Linear; never throws.
 */
export function readTnef(bytes: Buffer): TnefContents {
  const { attachments } = partsOf(bytes)
  const found: TnefContents = { files: [], messages: [] }
  for (const { name, data, properties } of attachments) {
    const message = embeddedIn(properties, 0)
    if (message) found.messages.push(message)
    else if (data) found.files.push({ name: name ?? '', bytes: data })
  }
  return found
}

type Property = { type: number; id: number; value: Buffer }
type Attachment = { name?: string; data?: Buffer; properties: readonly Property[] }
type Parts = { properties: readonly Property[]; attachments: readonly Attachment[] }

function partsOf(bytes: Buffer): Parts {
  let properties: readonly Property[] = []
  const attachments: Attachment[] = []
  for (const { id, value } of attributesIn(bytes)) {
    const last = attachments.at(-1)
    if (id === MESSAGE_PROPERTIES) properties = propertiesIn(value)
    else if (id === ATTACHMENT_START) attachments.push({ properties: [] })
    else if (!last) continue
    else if (id === ATTACHMENT_TITLE) last.name ??= textOf(value)
    else if (id === ATTACHMENT_DATA) last.data = value
    else if (id === ATTACHMENT_PROPERTIES) {
      last.properties = propertiesIn(value)
      const named = last.properties.find((one) => one.id === FILE_NAME)
      if (named) last.name = named.type === WIDE ? wideOf(named.value) : textOf(named.value)
    }
  }
  return { properties, attachments }
}

const textOf = (value: Buffer) => value.toString('latin1').replace(/\0.*$/s, '')
const wideOf = (value: Buffer) => value.toString('utf16le').replace(/\0.*$/s, '')

/** Reads the attributes: a level, an id, a length, the value and a checksum. */
function* attributesIn(bytes: Buffer): Generator<{ id: number; value: Buffer }> {
  let at = 6
  for (let count = 0; count < ATTRIBUTES_MAX && at + 9 <= bytes.length; count++) {
    const id = bytes.readUInt32LE(at + 1)
    const start = at + 9
    const end = start + bytes.readUInt32LE(at + 5)
    if (end > bytes.length) return
    yield { id, value: bytes.subarray(start, end) }
    at = end + 2
  }
}

/** The bytes of values of a fixed size, with their padding. */
const fixedBytes: Readonly<Record<number, number>> = {
  ...{ 0x02: 4, 0x03: 4, 0x04: 4, 0x05: 8, 0x06: 8, 0x07: 8, 0x0a: 4, 0x0b: 4 },
  ...{ 0x14: 8, 0x40: 8, 0x48: 16 },
}
const MULTIPLE = 0x1000
const NAMED_MIN = 0x8000

/** Reads a list of properties (MS-OXTNEF §2.1.3.4), up to the first one that is damaged. */
function propertiesIn(bytes: Buffer): Property[] {
  const found: Property[] = []
  const read = createReader(bytes)
  const count = Math.min(read.number(), PROPERTIES_MAX)
  for (let index = 0; index < count && !read.isPast(); index++) {
    const type = read.short()
    const id = read.short()
    if (id >= NAMED_MIN) {
      read.bytes(16)
      if (read.number() === 0) read.number()
      else read.padded(read.number())
    }
    const single = type & ~MULTIPLE
    const size = fixedBytes[single]
    const isCounted = (type & MULTIPLE) !== 0 || size === undefined
    const values = isCounted ? Math.min(read.number(), PROPERTIES_MAX) : 1
    let first: Buffer | undefined
    for (let value = 0; value < values && !read.isPast(); value++) {
      const content = size === undefined ? read.padded(read.number()) : read.bytes(size)
      first ??= content
    }
    if (first && !read.isPast() && type === single) found.push({ type, id, value: first })
  }
  return found
}

function createReader(bytes: Buffer) {
  let at = 0
  const take = (length: number) => {
    const content = bytes.subarray(at, at + length)
    at += length
    return content
  }
  return {
    isPast: () => at > bytes.length,
    bytes: take,
    short: () => (take(2).length === 2 ? bytes.readUInt16LE(at - 2) : 0),
    number: () => (take(4).length === 4 ? bytes.readUInt32LE(at - 4) : 0),
    padded(length: number) {
      const content = take(length)
      at += (4 - (length % 4)) % 4
      return content
    },
  }
}

/** The message that is attached as an object: a stream of TNEF in a property. */
function embeddedIn(properties: readonly Property[], depth: number): Storage | undefined {
  const object = properties.find(({ id, type }) => id === DATA && type === OBJECT)?.value
  if (!object?.subarray(0, 16).equals(messageInterface) || depth >= DEPTH_MAX) return undefined
  const inside = object.subarray(16)
  return looksTnef(inside) ? storageOf(partsOf(inside), depth) : undefined
}

/** Arranges a message as in an Outlook file (MS-OXMSG), which has the same properties. */
function storageOf({ properties, attachments }: Parts, depth: number): Storage {
  const streams = streamsOf(properties)
  streams.set('__properties_version1.0', streamOf(numbersOf(properties, depth)))
  const storages = attachments.map(
    (one, index) => [`__attach_version1.0_#${index}`, attachedOf(one, depth)] as const,
  )
  return { streams, storages: new Map(storages) }
}

function attachedOf({ name, data, properties }: Attachment, depth: number): Storage {
  const streams = streamsOf(properties)
  const message = embeddedIn(properties, depth + 1)
  if (data) streams.set(streamName(DATA, BINARY), streamOf(data))
  if (name !== undefined) streams.set(streamName(FILE_NAME, WIDE), streamOf(wideText(name)))
  return { streams, storages: new Map(message ? [[streamName(DATA, OBJECT), message]] : []) }
}

const wideText = (text: string) => Buffer.from(text, 'utf16le')

function streamOf(content: Buffer): Stream {
  return { bytes: content.length, read: () => content }
}

function streamName(id: number, type: number): string {
  return `__substg1.0_${hex(id)}${hex(type)}`
}

const hex = (value: number) => value.toString(16).toUpperCase().padStart(4, '0')

/** Texts end with a zero in TNEF, but not in an Outlook file. */
function streamsOf(properties: readonly Property[]): Map<string, Stream> {
  return new Map(
    properties.map(({ id, type, value }) => {
      let end = value.length
      if (type === WIDE && end > 1 && value.readUInt16LE(end - 2) === 0) end -= 2
      if (type === NARROW && value[end - 1] === 0) end -= 1
      return [streamName(id, type), streamOf(value.subarray(0, end))]
    }),
  )
}

const ROOT_BYTES = 32
const ATTACHED_BYTES = 24
const LONG = 0x0003

/** The table of the properties that are numbers (MS-OXMSG §2.4). */
function numbersOf(properties: readonly Property[], depth: number): Buffer {
  const numbers = properties.filter(({ type }) => type === LONG)
  const start = depth === 0 ? ROOT_BYTES : ATTACHED_BYTES
  const table = Buffer.alloc(start + numbers.length * 16)
  for (const [index, { id, value }] of numbers.entries()) {
    const at = start + index * 16
    table.writeUInt16LE(LONG, at)
    table.writeUInt16LE(id, at + 2)
    value.copy(table, at + 8, 0, 4)
  }
  return table
}
