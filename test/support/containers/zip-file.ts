import { crc32, deflateRawSync } from 'node:zlib'

/** A file to put into an archive, and false statements that the archive may make about it. */
export type ZippedFile = {
  name: string
  content: Buffer
  method?: number
  flags?: number
  /** Compressed bytes to use instead of compressing the content. */
  packed?: Buffer
  size?: number
  crc?: number
  /** The offset that the archive states for the file. */
  offset?: number
}

/** Composes a zip archive. */
export function zipFile(files: readonly ZippedFile[]): Buffer {
  const locals: Buffer[] = []
  const central: Buffer[] = []
  let at = 0
  for (const file of files) {
    const packed = file.packed ?? deflateRawSync(file.content)
    const name = Buffer.from(file.name)
    const fields = Buffer.alloc(22)
    fields.writeUInt16LE((file.flags ?? 0) | 0x800, 0)
    fields.writeUInt16LE(file.method ?? 8, 2)
    fields.writeUInt32LE(file.crc ?? crc32(file.content), 8)
    fields.writeUInt32LE(packed.length, 12)
    fields.writeUInt32LE(file.size ?? file.content.length, 16)
    fields.writeUInt16LE(name.length, 20)
    const local = Buffer.concat([
      Buffer.from('PK\x03\x04\x14\0', 'latin1'),
      fields,
      Buffer.alloc(2),
      name,
      packed,
    ])
    const tail = Buffer.alloc(14)
    tail.writeUInt32LE(file.offset ?? at, 10)
    const mark = Buffer.from('PK\x01\x02\x14\0\x14\0', 'latin1')
    central.push(Buffer.concat([mark, fields, Buffer.alloc(2), tail.subarray(0, 14), name]))
    locals.push(local)
    at += local.length
  }
  const directory = Buffer.concat(central)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(files.length, 8)
  end.writeUInt16LE(files.length, 10)
  end.writeUInt32LE(directory.length, 12)
  end.writeUInt32LE(at, 16)
  return Buffer.concat([...locals, directory, end])
}
