import { isUtf8 } from 'node:buffer'

/** A file of a zip archive. Its name is for display only. */
export type ZipEntry = {
  name: string
  isEncrypted: boolean
  /** 0: stored, 8: deflated (APPNOTE 4.4.5). */
  method: number
  /** The packed bytes, or all that follow their start if their length is unknown. */
  packed: Buffer
}

/** The fields of a record that are read, by their offset in it (APPNOTE 4.3.7 and 4.3.12). */
type Form = { mark: string; flags: number; packedBytes: number; nameBytes: number; name: number }

const local: Form = { mark: 'PK\x03\x04', flags: 6, packedBytes: 18, nameBytes: 26, name: 30 }
const central: Form = { mark: 'PK\x01\x02', flags: 8, packedBytes: 20, nameBytes: 28, name: 46 }
const NAME_BYTES_MAX = 1_000
/** Headers can lie in the names of others, so that all names together have more bytes. */
const NAMES_BYTES_MAX = 2_000_000
const METHOD_MAX = 100
/** The version of the format that is needed is the number before the flags; 6.3 is the newest. */
const VERSION_MAX = 63
const ENCRYPTED = 1
const IN_UTF8 = 0x800

type ZipRecord = Omit<ZipEntry, 'packed'> & { packedBytes: number; end: number }

/**
 * Whether the bytes begin as a zip archive does, or end as one: programs find its directory from
 * its end, so other bytes may be before it. A PDF file that contains an archive is not one.
 */
export function looksZip(bytes: Buffer): boolean {
  if (bytes.length <= local.name) return false
  if (bytes.readUInt32BE(0) === 0x504b0304) return true
  return (
    bytes.subarray(-END_BYTES_MAX).includes(END_MARK) && !bytes.subarray(0, 1_024).includes('%PDF-')
  )
}

const END_MARK = 'PK\x05\x06'
/** The end of the directory, with a comment (APPNOTE 4.3.16). */
const END_BYTES_MAX = 22 + 0xffff

/**
 * Lists the files of a zip archive, at most `entriesMax`, however damaged it is: those in its
 * directory and those before which a header is, because programs differ in what they open. The
 * files of an archive that is stored in it without compression are among them. Unpacks nothing;
 * linear time.
 */
export function listZip(bytes: Buffer, entriesMax: number): ZipEntry[] {
  const listed = new Map<string, ZipRecord>()
  for (const record of recordsIn(bytes, central, entriesMax)) listed.set(record.name, record)
  const entries: ZipEntry[] = []
  for (const { packedBytes, end, ...entry } of recordsIn(bytes, local, entriesMax)) {
    const known = listed.get(entry.name)
    listed.delete(entry.name)
    // The header has no length if the file was written as a stream.
    const length = packedBytes || known?.packedBytes || bytes.length
    entries.push({ ...entry, packed: bytes.subarray(end, end + length) })
  }
  const missing = [...listed.values()].slice(0, entriesMax - entries.length)
  const nothing = bytes.subarray(0, 0)
  for (const { name, isEncrypted, method } of missing) {
    entries.push({ name, isEncrypted, method, packed: nothing })
  }
  return entries
}

function* recordsIn(bytes: Buffer, form: Form, recordsMax: number): Generator<ZipRecord> {
  let count = 0
  let nameBytes = 0
  for (let at = bytes.indexOf(form.mark); at >= 0; at = bytes.indexOf(form.mark, at + 4)) {
    if (at + form.name > bytes.length || ++count > recordsMax) return
    const record = recordAt(bytes, at, form)
    nameBytes += record?.name.length ?? 0
    if (nameBytes > NAMES_BYTES_MAX) return
    if (record) yield record
  }
}

function recordAt(bytes: Buffer, at: number, form: Form): ZipRecord | undefined {
  const flags = bytes.readUInt16LE(at + form.flags)
  const [version, method] = [
    bytes.readUInt8(at + form.flags - 2),
    bytes.readUInt16LE(at + form.flags + 2),
  ]
  const nameBytes = bytes.readUInt16LE(at + form.nameBytes)
  const end = at + form.name + nameBytes
  const isSound = version <= VERSION_MAX && method <= METHOD_MAX && nameBytes <= NAME_BYTES_MAX
  if (nameBytes === 0 || !isSound) return undefined
  const raw = bytes.subarray(at + form.name, end)
  const isText = (flags & IN_UTF8) !== 0 || isUtf8(raw)
  const name = raw.toString(isText ? 'utf8' : 'latin1')
  return {
    name,
    isEncrypted: (flags & ENCRYPTED) !== 0,
    method,
    packedBytes: bytes.readUInt32LE(at + form.packedBytes),
    end: end + bytes.readUInt16LE(at + form.nameBytes + 2),
  }
}
