import { LRUCache } from 'lru-cache'
import { DkimVerifier, type KeyLookup, type LibraryField } from 'mailauth/lib/dkim/dkim-verifier.js'
import { type CfblFinding, judgeCfbl } from '../../mail/cfbl.ts'
import type { Header, HeaderField } from '../../mail/header.ts'
import type { Hop } from '../hop.ts'
import { arcFields, type ArcFinding, findChain, judgeChain, verifyChain } from './arc.ts'
import {
  answersAsResolver,
  chooseSignatures,
  type DkimFinding,
  judgeRead,
  judgeUnread,
  type LibraryResolver,
} from './dkim.ts'
import { checkDmarc, type DmarcFinding } from './dmarc.ts'
import type { DnsFindings, SpfFinding } from './dns-findings.ts'

const domainShape = /^[a-z0-9_](?:[a-z0-9._-]{0,251}[a-z0-9])?$/
const selectorShape = /^[A-Za-z0-9._-]{1,100}$/

/**
 * Composes the value of an Authentication-Results field (RFC 8601 §2.2) in one line, from what we
 * verified ourselves. `authservId` is our own name, `author` the domain of From. Omits results
 * without information (DMARC without a DNS answer, an ARC chain that was not checked) and values
 * that could break the syntax. Undefined when nothing was checked, or when `authservId` is not a
 * domain.
 */
export function composeAuthenticationResults(
  authentication: Authentication | null,
  { authservId, author }: { authservId: string; author: string | undefined },
): string | undefined {
  if (authentication === null || !domainShape.test(authservId)) return undefined
  const { spf, dkim, dmarc, arc } = authentication
  const results: string[] = []
  if (spf && domainShape.test(spf.domain)) {
    results.push(`spf=${spf.result} smtp.mailfrom=${spf.domain}`)
  }
  for (const { domain, selector, result } of dkim) {
    if (!domainShape.test(domain)) continue
    const keyName = selectorShape.test(selector) ? ` header.s=${selector}` : ''
    results.push(`dkim=${result} header.d=${domain}${keyName}`)
  }
  if (dkim.length === 0) results.push('dkim=none')
  if (dmarc.result !== 'unknown') {
    const from = author !== undefined && domainShape.test(author) ? ` header.from=${author}` : ''
    results.push(`dmarc=${dmarc.result}${from}`)
  }
  if (arc.result === 'pass' || arc.result === 'fail') results.push(`arc=${arc.result}`)
  return `${authservId}; ${results.join('; ')}`
}

/** A message and what is needed to verify it. */
type Verifiable = {
  raw: Buffer
  header: Header
  resolver: LibraryResolver
  /** When the message arrived. A signature that has expired since then is still valid. */
  receivedAt: Date | undefined
}

/**
 * Runs the library's verifier on the chosen signatures and the ARC sets among `fields`. By default
 * the library takes a stream, reads the header byte by byte, and searches for MIME boundaries;
 * these steps take most of its time. With our parsed header, the body in one piece and no
 * Content-Type, it takes half as long (scripts/bench/README.md). The library still looks up signed
 * fields in the whole header.
 */
async function runVerifier(
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
  // Both calls are made before the first await, because the next message reuses the memory of this
  // body.
  await Promise.all([verifier.nextChunk(body), verifier.finalChunk()])
  return verifier
}

const keys = new LRUCache<string, Promise<unknown>>({ max: 500 })

/**
 * Caches keys by their records: parsing a key costs as much as verifying with it, and a few domains
 * sign much of the mail. A cached key depends only on the record and the algorithm.
 */
function remembering(lookUp: KeyLookup, resolver: LibraryResolver): KeyLookup {
  const recall: KeyLookup = async (type, name, minBits, options) => {
    const record = (await resolver(name, 'TXT')).flat().join('')
    const id = `${options.hashAlgo} ${record}`
    const known = keys.get(id) ?? lookUp(type, name, minBits, options)
    keys.set(id, known)
    return known
  }
  return (...question) => {
    const found = recall(...question)
    // The library requests all keys of a chain and awaits them one after another: a rejection
    // before its await must not count as unhandled.
    found.catch(() => undefined)
    return found
  }
}

/**
 * Converts a field to the library's form. `line` is computed on demand, because most fields of a
 * message are not signed.
 */
function asLibraryField({ key, name, raw }: HeaderField): LibraryField {
  return {
    key,
    casedKey: name,
    get line() {
      return Buffer.from(withCrlf(raw), 'latin1')
    },
  }
}

/** Restores the CRLF line ends that were signed; a mail program may have changed them. */
function withCrlf(text: string): string {
  return text.includes('\n') ? text.replace(/\r?\n/g, '\r\n') : text.replaceAll('\r', '\r\n')
}

const [tab, lf, cr, space] = [0x09, 0x0a, 0x0d, 0x20]
const scratchBytesMax = 512 * 1024
let scratch = Buffer.alloc(0)

/**
 * Returns the body with CRLF line ends. `relaxed`: also reduces white space as that
 * canonicalization does (RFC 6376 §3.4.4). The library would do this line by line, six times
 * slower; after this function it finds nothing left to change. Copies bytes to a buffer that is
 * reused, because strings and new buffers cost more in garbage collection than the loop. The result
 * is valid until the next call.
 */
function bodyOf(raw: Buffer, { bodyOffset, lineEnd }: Header, canon: 'relaxed' | 'simple'): Buffer {
  const isRelaxed = canon === 'relaxed'
  const out = room(2 * (raw.length - bodyOffset))
  let length = 0
  let hasSpace = false
  for (let at = bodyOffset; at < raw.length; at++) {
    const byte = raw[at] ?? 0
    const isSpace = isRelaxed && (byte === space || byte === tab)
    // Nearly all bytes are greater than a space and need only one comparison.
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

/**
 * The authentication results of a message, as far as the DNS answered. Plain data, bounded in size.
 */
export type Authentication = {
  /** Null when there was no address or no name to check. */
  spf: SpfFinding | null
  /** The signatures that were evaluated, the author's own first; at most four. */
  dkim: DkimFinding[]
  /** Number of signatures that were not evaluated. */
  passedOver: number
  dmarc: DmarcFinding
  arc: ArcFinding
}

/** The authentication results, with the addresses to which the message requests complaints. */
export type Authenticated = Authentication & { cfbl: CfblFinding | null }

/** Maximum size of a header in bytes and in fields; a larger one is not given to any verifier. */
const headerBytesMax = 512 * 1024
const fieldsMax = 1000

/**
 * Evaluates SPF, DKIM, ARC and DMARC with the DNS answers obtained before; sends no queries.
 * Verifies only signatures that can matter (`chooseSignatures`), and only those whose key is known:
 * the other results are known without reading the body. Never throws on malformed mail.
 */
export async function authenticate(
  raw: Buffer,
  header: Header,
  hops: readonly Hop[],
  dns: DnsFindings,
): Promise<Authenticated> {
  const { fields } = header
  const isUndue = header.bodyOffset > headerBytesMax || fields.length > fieldsMax
  const { chosen, passedOver } = chooseSignatures(isUndue ? [] : fields)
  const chain = isUndue ? ({ is: 'undue' } as const) : findChain(fields, hops)
  const resolver = answersAsResolver(dns)
  const known = new Map(chosen.map((signature) => [signature, judgeUnread(signature, dns)]))
  const unread = chosen.filter((signature) => known.get(signature) === undefined)
  let arc = judgeChain(chain, dns)
  const sets = arc === undefined ? arcFields(fields) : []
  const receivedAt = hops.find(({ field }) => field?.at)?.field?.at
  const verifier =
    unread.length + sets.length > 0
      ? await runVerifier({ raw, header, resolver, receivedAt }, [
          ...unread.map(({ field }) => field),
          ...sets,
        ])
      : undefined
  if (verifier && chain.is === 'whole') arc ??= await verifyChain(chain, verifier, resolver)
  const results = [...(verifier?.results ?? [])]
  const dkim = chosen.map((signature) => {
    const found = known.get(signature)
    if (found) return found
    const isNext = results[0]?.signingDomain?.toLowerCase() === signature.domain
    return judgeRead(signature, isNext ? results.shift() : undefined)
  })
  return {
    spf: dns.spf ?? null,
    dkim,
    passedOver,
    dmarc: await checkDmarc({ fields, dkim, dns, resolver }),
    cfbl: judgeCfbl(
      fields,
      chosen.map((signature, index) => ({
        ...signature,
        isValid: dkim[index]?.result === 'pass',
      })),
    ),
    arc: arc ?? { result: 'fail', why: 'unreadable', seals: [] },
  }
}
