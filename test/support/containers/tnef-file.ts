/** A property of MAPI: its id, its type and its value. */
export type MapiProperty = [id: number, type: number, value: Buffer]

function attribute(level: number, id: number, value: Buffer): Buffer {
  const head = Buffer.alloc(9)
  head.writeUInt8(level)
  head.writeUInt32LE(id, 1)
  head.writeUInt32LE(value.length, 5)
  const sum = Buffer.alloc(2)
  sum.writeUInt16LE(value.reduce((total, byte) => (total + byte) & 0xffff, 0))
  return Buffer.concat([head, value, sum])
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

function properties(list: readonly MapiProperty[]): Buffer {
  const written = list.map(([id, type, value]) => {
    const head = Buffer.alloc(4)
    head.writeUInt16LE(type)
    head.writeUInt16LE(id, 2)
    const padding = Buffer.alloc((4 - (value.length % 4)) % 4)
    const isFixed = type === 3
    const counted = isFixed ? [value] : [number(1), number(value.length), value, padding]
    return Buffer.concat([head, ...counted])
  })
  return Buffer.concat([number(list.length), ...written])
}

/** The content of a TNEF stream to write. */
export type TnefContent = {
  message?: readonly MapiProperty[]
  files?: readonly { name: string; content: Buffer }[]
  messages?: readonly TnefContent[]
}

const messageInterface = Buffer.from('0703020000000000c000000000000046', 'hex')

/** Composes a stream of TNEF (MS-OXTNEF), as Outlook sends it in `winmail.dat`. */
export function tnefFile({ message = [], files = [], messages = [] }: TnefContent): Buffer {
  const start = attribute(2, 0x0006_9002, Buffer.alloc(14))
  return Buffer.concat([
    Buffer.from('789f3e220100', 'hex'),
    attribute(1, 0x0008_9006, Buffer.from('00000100', 'hex')),
    attribute(1, 0x0006_9003, properties(message)),
    ...files.flatMap(({ name, content }) => [
      start,
      attribute(2, 0x0001_8010, Buffer.from(`${name}\0`)),
      attribute(2, 0x0006_800f, content),
    ]),
    ...messages.flatMap((inner) => {
      const object = Buffer.concat([messageInterface, tnefFile(inner)])
      return [start, attribute(2, 0x0006_9005, properties([[0x3701, 0x0d, object]]))]
    }),
  ])
}

/** The properties of a message with a header and a text. */
export function mapiMessage(header: string, text: string): MapiProperty[] {
  return [
    [0x3ffd, 0x03, number(65_001)],
    [0x007d, 0x1f, Buffer.from(`${header}\0`, 'utf16le')],
    [0x1000, 0x1e, Buffer.from(`${text}\0`)],
  ]
}
