import { DkimVerifier } from 'mailauth/lib/dkim/dkim-verifier.js'
import type { KeyLookup, LibraryField } from 'mailauth/lib/dkim/dkim-verifier.js'
import type { Header, HeaderField } from '../../mail/header.ts'
import type { LibraryResolver } from './answers.ts'

/** A message ready to be verified. */
export type Verifiable = {
  raw: Buffer
  header: Header
  resolver: LibraryResolver
  /** When it arrived: what has expired since was good then. */
  receivedAt: Date | undefined
}

/**
 * Runs the library's verifier over the chosen signatures and the ARC sets among `fields`. The
 * library takes a stream, reads the header byte by byte, and looks for MIME boundaries: most of
 * its time. Given the header we have read, the body in one piece and no Content-Type, it needs
 * half as long (scripts/bench/README.md). Signed fields are still looked for in the whole header.
 */
export async function runVerifier(
  { raw, header, resolver, receivedAt }: Verifiable,
  fields: readonly HeaderField[],
): Promise<DkimVerifier> {
  const verifier = new DkimVerifier({
    resolver,
    curTime: receivedAt ?? new Date(1),
    rejectRsaSha1: true,
  })
  verifier.keyCache.get = remembering(verifier.keyCache.get, resolver)
  await verifier.messageHeaders({ parsed: fields.map(asLibraryField) })
  verifier.headers = { parsed: header.fields.map(asLibraryField) }
  const isRelaxed = [...verifier.bodyHashes.keys()].every((key) => key.startsWith('relaxed:'))
  const body = bodyOf(raw, header, isRelaxed ? 'relaxed' : 'simple')
  // Begun in one go: the body stands in memory that the next message uses again.
  await Promise.all([verifier.nextChunk(body), verifier.finalChunk()])
  return verifier
}

const keys = new Map<string, Promise<unknown>>()
const keysMax = 500

/**
 * Keys are remembered by their records: reading one costs as much as verifying with it, and much
 * mail is signed by few. What is remembered depends on the record and the algorithm alone.
 */
function remembering(lookUp: KeyLookup, resolver: LibraryResolver): KeyLookup {
  const recall: KeyLookup = async (type, name, minBits, options) => {
    const record = (await resolver(name, 'TXT')).flat().join('')
    const id = `${options.hashAlgo} ${record}`
    const known = keys.get(id) ?? lookUp(type, name, minBits, options)
    if (keys.size >= keysMax) keys.clear()
    keys.set(id, known)
    return known
  }
  return (...question) => {
    const found = recall(...question)
    // The library asks for all keys of a chain before it waits for the first.
    found.catch(() => undefined)
    return found
  }
}

/** Its line is made when it is asked for: most fields of a message are not signed. */
function asLibraryField({ key, name, raw }: HeaderField): LibraryField {
  return {
    key,
    casedKey: name,
    get line() {
      return Buffer.from(withCrlf(raw), 'latin1')
    },
  }
}

/** Line ends as they are signed, which a mail program may have changed. */
function withCrlf(text: string): string {
  return text.includes('\n') ? text.replace(/\r?\n/g, '\r\n') : text.replaceAll('\r', '\r\n')
}

const [tab, lf, cr, space] = [0x09, 0x0a, 0x0d, 0x20]
const scratchBytesMax = 512 * 1024
let scratch = Buffer.alloc(0)

/**
 * The body with CRLF line ends. `relaxed`: white space reduced as that canonicalization has it
 * (RFC 6376 §3.4.4); the library does so line by line, six times slower, and then finds nothing
 * more to do. Byte by byte into memory that is kept: strings and new buffers cost more in garbage
 * than the loop does. It holds good until the next call.
 */
function bodyOf(raw: Buffer, { bodyOffset, lineEnd }: Header, canon: 'relaxed' | 'simple'): Buffer {
  const isRelaxed = canon === 'relaxed'
  const out = room(2 * (raw.length - bodyOffset))
  let length = 0
  let hasSpace = false
  for (let at = bodyOffset; at < raw.length; at++) {
    const byte = raw[at] ?? 0
    const isSpace = isRelaxed && (byte === space || byte === tab)
    // Nearly all bytes are above these, and need no more than one look.
    const isEnd = byte < space && isLineEnd(raw, at, lineEnd)
    if (hasSpace && !isSpace && !isEnd) out[length++] = space
    hasSpace = isSpace
    if (!isSpace && !isEnd) out[length++] = byte
    if (!isEnd) continue
    out[length++] = cr
    out[length++] = lf
    if (byte === cr && lineEnd === 'lf') at++
  }
  if (hasSpace) out[length++] = space
  return out.subarray(0, length)
}

function isLineEnd(raw: Buffer, at: number, lineEnd: Header['lineEnd']): boolean {
  if (lineEnd === 'cr') return raw[at] === cr
  return raw[at] === lf || (raw[at] === cr && raw[at + 1] === lf)
}

function room(bytes: number): Buffer {
  if (bytes > scratchBytesMax) return Buffer.allocUnsafe(bytes)
  if (scratch.length < bytes) scratch = Buffer.allocUnsafeSlow(Math.max(bytes, 64 * 1024))
  return scratch
}
