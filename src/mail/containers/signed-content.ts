import { leafBytes, type MimeLeaf } from '../mime-leaves.ts'

/** An element of BER: its tag, its content, and the offset after it. */
type Element = { tag: number; content: Buffer; end: number }

const SEQUENCE = 0x30
const SET = 0x31
const OCTETS = 0x04
const OCTETS_IN_PIECES = 0x24
const EXPLICIT = 0xa0
const DEPTH_MAX = 12
/** The identifier of signed data, 1.2.840.113549.1.7.2 (RFC 5652 §5.1). */
const signedData = Buffer.from('2a864886f70d010702', 'hex')

/** How many signatures may be inside each other. */
const SIGNED_DEPTH_MAX = 2

/**
 * The content of a part that is an opaque S/MIME signature (RFC 8551 §3.5.2): a MIME entity.
 * Undefined for other parts, and below two signatures; `depth` is the number of those around the
 * part. The signature is not verified. Linear; never throws.
 */
export function signedEntity(leaf: MimeLeaf, depth: number): Buffer | undefined {
  if (depth >= SIGNED_DEPTH_MAX) return undefined
  const isOpaque =
    /^application\/(?:x-)?pkcs7-mime$/.test(leaf.type) || /\.p7m\s*$/i.test(leaf.name ?? '')
  const bytes = isOpaque ? leafBytes(leaf) : undefined
  return bytes && signedContent(bytes)
}

/** Like `signedEntity`, for bytes in DER or BER. Undefined for encrypted and other data. */
function signedContent(bytes: Buffer): Buffer | undefined {
  const info = elementAt(bytes, 0, 0)
  if (info?.tag !== SEQUENCE) return undefined
  const [type, wrapped] = elementsIn(info.content)
  if (!type?.content.equals(signedData) || wrapped?.tag !== EXPLICIT) return undefined
  const [signed] = elementsIn(wrapped.content)
  if (signed?.tag !== SEQUENCE) return undefined
  const [, digests, inside] = elementsIn(signed.content)
  if (digests?.tag !== SET || inside?.tag !== SEQUENCE) return undefined
  const [, explicit] = elementsIn(inside.content)
  const [octets] = explicit?.tag === EXPLICIT ? elementsIn(explicit.content) : []
  if (octets?.tag === OCTETS) return octets.content
  if (octets?.tag !== OCTETS_IN_PIECES) return undefined
  return Buffer.concat(elementsIn(octets.content, PIECES_MAX).map(({ content }) => content))
}

const ELEMENTS_MAX = 10
const PIECES_MAX = 100_000

function elementsIn(bytes: Buffer, most = ELEMENTS_MAX): Element[] {
  const found: Element[] = []
  for (let at = 0; at < bytes.length && found.length < most;) {
    const element = elementAt(bytes, at, 0)
    if (!element) break
    found.push(element)
    at = element.end
  }
  return found
}

/** Reads an element (X.690 §8.1); an indefinite length ends with two zeros. */
function elementAt(bytes: Buffer, at: number, depth: number): Element | undefined {
  const tag = bytes[at]
  const first = bytes[at + 1]
  if (tag === undefined || first === undefined || depth > DEPTH_MAX) return undefined
  if (first === 0x80) return indefiniteAt(bytes, at, depth)
  const count = first < 0x80 ? 0 : first & 0x7f
  if (count > 4 || at + 2 + count > bytes.length) return undefined
  const length = count === 0 ? first : bytes.readUIntBE(at + 2, count)
  const start = at + 2 + count
  if (start + length > bytes.length) return undefined
  return { tag, content: bytes.subarray(start, start + length), end: start + length }
}

function indefiniteAt(bytes: Buffer, at: number, depth: number): Element | undefined {
  const start = at + 2
  let end = start
  while (bytes[end] !== 0 || bytes[end + 1] !== 0) {
    const inside = elementAt(bytes, end, depth + 1)
    if (!inside) return undefined
    end = inside.end
  }
  return { tag: bytes[at] ?? 0, content: bytes.subarray(start, end), end: end + 2 }
}
