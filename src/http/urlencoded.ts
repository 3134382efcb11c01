import type { Part } from './multipart.ts'

const PERCENT = 0x25
const PLUS = 0x2b
const SPACE = 0x20

/**
 * The fields of an application/x-www-form-urlencoded body, to the byte: a pasted message need not
 * be UTF-8. A percent sign that escapes nothing stands for itself. Linear.
 */
export function parseUrlencoded(body: Buffer, fieldsMax: number): Part[] {
  const parts: Part[] = []
  for (let start = 0; start < body.length && parts.length < fieldsMax;) {
    const found = body.indexOf('&', start)
    const end = found < 0 ? body.length : found
    const equals = body.subarray(start, end).indexOf('=')
    const nameEnd = equals < 0 ? end : start + equals
    parts.push({
      name: formDecoded(body.subarray(start, nameEnd)).toString('utf8'),
      fileName: undefined,
      content: formDecoded(body.subarray(Math.min(nameEnd + 1, end), end)),
      isCut: false,
    })
    start = end + 1
  }
  return parts
}

/** Bytes with their percent-escapes resolved; a plus sign stays one. */
export function percentDecoded(bytes: Buffer): Buffer {
  const decoded = Buffer.allocUnsafe(bytes.length)
  let length = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0
    const escaped = byte === PERCENT ? hexPair(bytes[at + 1], bytes[at + 2]) : -1
    if (escaped >= 0) at += 2
    decoded[length++] = escaped >= 0 ? escaped : byte
  }
  return decoded.subarray(0, length)
}

function formDecoded(bytes: Buffer): Buffer {
  const spaced = bytes.includes(PLUS)
    ? Buffer.from(bytes.map((byte) => (byte === PLUS ? SPACE : byte)))
    : bytes
  return percentDecoded(spaced)
}

function hexPair(high: number | undefined, low: number | undefined): number {
  const [upper, lower] = [hexDigit(high), hexDigit(low)]
  return upper < 0 || lower < 0 ? -1 : upper * 16 + lower
}

function hexDigit(code: number | undefined): number {
  if (code === undefined) return -1
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  const letter = code | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}
