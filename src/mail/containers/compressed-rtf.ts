/** What every dictionary begins with (MS-OXRTFCP §2.1.2.1). */
const dictionaryStart =
  '{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern ' +
  '\\fscript \\fdecor MS Sans SerifSymbolArialTimes New ' +
  'RomanCourier{\\colortbl\\red0\\green0\\blue0' +
  '\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx'

const headerBytes = 16
const compressedMark = 0x75465a4c
const plainMark = 0x414c454d
const dictionaryBytes = 4096

/**
 * The text under the compression that Outlook keeps RTF with (MS-OXRTFCP §2.2), at most `bytesMax`
 * of it; undefined for what is not of that form. A reference of two bytes gives 17 at most. Its
 * checksum is not looked at: what is damaged is damaged text.
 */
export function readCompressedRtf(bytes: Buffer, bytesMax: number): Buffer | undefined {
  if (bytes.length < headerBytes) return undefined
  const size = Math.min(bytes.readUInt32LE(4), bytesMax)
  const mark = bytes.readUInt32LE(8)
  if (mark === plainMark) return bytes.subarray(headerBytes, headerBytes + size)
  if (mark !== compressedMark) return undefined
  const content = Buffer.alloc(Math.min(size, (bytes.length - headerBytes) * 9))
  return content.subarray(0, decompress(bytes.subarray(headerBytes), content))
}

function decompress(from: Buffer, to: Buffer): number {
  const dictionary = Buffer.alloc(dictionaryBytes, 0x20)
  let write = dictionary.write(dictionaryStart, 'latin1')
  let written = 0
  const put = (byte: number) => {
    to[written++] = byte
    dictionary[write] = byte
    write = (write + 1) % dictionaryBytes
  }
  let at = 0
  while (at < from.length && written < to.length) {
    const control = from[at++] ?? 0
    for (let bit = 0; bit < 8 && at < from.length && written < to.length; bit++) {
      if ((control & (1 << bit)) === 0) {
        put(from[at++] ?? 0)
        continue
      }
      const reference = ((from[at] ?? 0) << 8) | (from[at + 1] ?? 0)
      at += 2
      const offset = reference >> 4
      if (offset === write) return written
      const length = (reference & 0xf) + 2
      for (let step = 0; step < length && written < to.length; step++) {
        put(dictionary[(offset + step) % dictionaryBytes] ?? 0)
      }
    }
  }
  return written
}
