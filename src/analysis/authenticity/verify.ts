import { DkimVerifier } from 'mailauth/lib/dkim/dkim-verifier.js'
import type { LibraryField } from 'mailauth/lib/dkim/dkim-verifier.js'
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
  await verifier.messageHeaders({ parsed: fields.map(asLibraryField) })
  verifier.headers = { parsed: header.fields.map(asLibraryField) }
  const isRelaxed = [...verifier.bodyHashes.keys()].every((key) => key.startsWith('relaxed:'))
  await verifier.nextChunk(bodyOf(raw, header, isRelaxed ? 'relaxed' : 'simple'))
  await verifier.finalChunk()
  return verifier
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

/**
 * The body with CRLF line ends, which a mail program may have taken away. `relaxed`: white space
 * reduced as that canonicalization has it (RFC 6376 §3.4.4); the library does so line by line, ten
 * times slower, and finds nothing more to do.
 */
function bodyOf(raw: Buffer, { bodyOffset }: Header, canon: 'relaxed' | 'simple'): Buffer {
  const body = raw.toString('latin1', bodyOffset)
  const text = withCrlf(body)
  if (canon === 'simple') return text === body ? raw.subarray(bodyOffset) : toBytes(text)
  const relaxed = text.replace(/[ \t]{2,}|\t/g, ' ').replaceAll(' \r\n', '\r\n')
  return relaxed === body ? raw.subarray(bodyOffset) : toBytes(relaxed)
}

function toBytes(text: string): Buffer {
  return Buffer.from(text, 'latin1')
}

function withCrlf(text: string): string {
  if (!text.includes('\n')) return text.replaceAll('\r', '\r\n')
  return hasBareLf(text) ? text.replace(/\r?\n/g, '\r\n') : text
}

function hasBareLf(text: string): boolean {
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) {
    if (text.charCodeAt(at - 1) !== 0x0d) return true
  }
  return false
}
