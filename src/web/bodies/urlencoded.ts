import { hexPair } from '../../mail/transfer-encoding.ts'
import { ProblemError } from '../problem.ts'
import type { FormLimits, FormParser, FormPart } from './multipart.ts'

const PERCENT = 0x25
const PLUS = 0x2b
const SPACE = 0x20
const EMPTY = Buffer.alloc(0)

/** A field being parsed; `kept` is the number of bytes of its value. */
type Field = { name: Buffer[]; value: Buffer[]; kept: number; isInValue: boolean; isCut: boolean }

/**
 * Creates a parser of application/x-www-form-urlencoded bodies that keeps the exact bytes, because
 * a pasted message may not be UTF-8. A percent sign without a valid escape is literal. Linear time.
 *
 * @throws ProblemError 422 for too many fields
 */
export function createUrlencodedParser({ partBytesMax, partsMax }: FormLimits): FormParser {
  const parts: FormPart[] = []
  let field: Field | undefined
  // The start of an escape that continues in the next chunk.
  let open: Buffer = EMPTY

  const add = (bytes: Buffer) => {
    field ??= { name: [], value: [], kept: 0, isInValue: false, isCut: false }
    const equals = field.isInValue ? -1 : bytes.indexOf('=')
    const nameEnd = field.isInValue ? 0 : equals < 0 ? bytes.length : equals
    if (nameEnd > 0) field.name.push(formDecoded(bytes.subarray(0, nameEnd)))
    if (equals >= 0) field.isInValue = true
    if (!field.isInValue || field.isCut) return
    const value = formDecoded(bytes.subarray(equals < 0 ? 0 : equals + 1))
    const taken = value.subarray(0, partBytesMax - field.kept)
    field.isCut = taken.length < value.length
    field.kept += taken.length
    field.value.push(taken)
  }
  const close = () => {
    if (!field) return
    const { name, value, isCut } = field
    const content = Buffer.concat(value)
    parts.push({ name: Buffer.concat(name).toString('utf8'), fileName: undefined, content, isCut })
    field = undefined
    if (parts.length > partsMax) {
      throw new ProblemError('bad-field', `A form may have at most ${partsMax} parts.`)
    }
  }

  return {
    write(chunk) {
      const bytes = open.length > 0 ? Buffer.concat([open, chunk]) : chunk
      let start = 0
      for (let end = bytes.indexOf('&'); end >= 0; end = bytes.indexOf('&', start)) {
        add(bytes.subarray(start, end))
        close()
        start = end + 1
      }
      const decided = bytes.length - openEscape(bytes.subarray(start))
      if (decided > start) add(bytes.subarray(start, decided))
      open = bytes.subarray(decided)
    },
    end() {
      if (open.length > 0) add(open)
      close()
      return parts
    },
  }
}

/** Returns the number of bytes at the end that may start an escape. */
function openEscape(bytes: Buffer): number {
  if (bytes.at(-1) === PERCENT) return 1
  return bytes.at(-2) === PERCENT ? 2 : 0
}

/** Resolves percent-escapes; plus signs stay unchanged. */
export function percentDecoded(bytes: Buffer): Buffer {
  return decoded(bytes, PLUS)
}

function formDecoded(bytes: Buffer): Buffer {
  return decoded(bytes, SPACE)
}

function decoded(bytes: Buffer, plus: number): Buffer {
  const result = Buffer.allocUnsafe(bytes.length)
  let length = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0
    const escaped = byte === PERCENT ? hexPair(bytes[at + 1], bytes[at + 2]) : -1
    if (escaped >= 0) at += 2
    result[length++] = escaped >= 0 ? escaped : byte === PLUS ? plus : byte
  }
  return result.subarray(0, length)
}
