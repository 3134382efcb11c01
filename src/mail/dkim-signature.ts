import { createPrivateKey, hash, type KeyObject, sign } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { type HeaderField, parseHeader } from './header.ts'

/** The tags of a list: names in lower case, values trimmed. */
export type TagList = ReadonlyMap<string, string>

const tagsMax = 50

/**
 * Parses a list of `name=value` separated by semicolons (RFC 6376 §3.2), as in DKIM and ARC.
 * Accepts names in any case, as lenient verifiers do; skips an entry without `=`. Undefined when a
 * name occurs twice, which makes a list invalid, or when there are more than 50 tags.
 */
export function parseTagList(text: string): TagList | undefined {
  const tags = new Map<string, string>()
  for (let start = 0; start <= text.length;) {
    const semicolon = text.indexOf(';', start)
    const end = semicolon < 0 ? text.length : semicolon
    const equals = text.indexOf('=', start)
    if (equals >= 0 && equals < end) {
      const name = text.slice(start, equals).trim().toLowerCase()
      if (tags.has(name) || tags.size >= tagsMax) return undefined
      tags.set(name, text.slice(equals + 1, end).trim())
    } else if (equals < 0) break
    start = end + 1
  }
  return tags
}

/** The key that signs our mail: plain data, which can be sent to another thread. */
export type SigningKey = {
  domain: string
  selector: string
  /** RSA or Ed25519, in PEM. */
  privateKey: string
}

// The names in this list occur in h= once more than in the header, so that nobody can add another
// field (RFC 6376 §8.15).
const signedFields = [
  ...['from', 'to', 'cc', 'subject', 'date', 'message-id', 'reply-to', 'in-reply-to', 'references'],
  ...['mime-version', 'content-type', 'content-transfer-encoding', 'auto-submitted'],
  ...['list-unsubscribe', 'list-unsubscribe-post'],
]

const lineCharsMax = 70
const ourSignature = /^DKIM-Signature: v=1;/

/**
 * Adds a DKIM signature at the top of our mail (RFC 6376, RFC 8463), relaxed/relaxed. The time of
 * the signature is the Date of the mail, so that signing again gives the same bytes. Mail that is
 * already signed is returned unchanged. `raw` is 7-bit with CRLF line ends.
 *
 * Throws when the private key is invalid.
 */
export function signMail(raw: Buffer, { domain, selector, privateKey }: SigningKey): Buffer {
  const start = raw.toString('latin1', 0, 24)
  if (ourSignature.test(start)) return raw
  const key = keys.memo(privateKey)
  const { fields, bodyOffset } = parseHeader(raw)
  const body = Buffer.from(relaxedBody(raw.toString('latin1', bodyOffset)), 'latin1')
  const sentAt = Date.parse(fields.find((field) => field.key === 'date')?.value ?? '')
  const time = Number.isNaN(sentAt) ? [] : [`t=${String(Math.floor(sentAt / 1000))}`]
  const { names, lines } = chosen(fields)
  const tags = [
    ['v=1', `a=${key.asymmetricKeyType === 'ed25519' ? 'ed25519' : 'rsa'}-sha256`],
    ['c=relaxed/relaxed', `d=${domain}`, `s=${selector}`, ...time],
    [`h=${folded(names.map((name, index) => (index === 0 ? name : `:${name}`)))}`],
    [`bh=${hash('sha256', body, 'base64')}`],
  ]
  const value = `${tags.map((line) => line.join('; ')).join(';\r\n\t')};\r\n\tb=`
  const own = relaxedField('dkim-signature', value)
  const data = Buffer.from(`${lines.join('')}${own}`, 'latin1')
  const signature =
    key.asymmetricKeyType === 'ed25519'
      ? sign(null, hash('sha256', data, 'buffer'), key)
      : sign('sha256', data, key)
  const digits = folded(signature.toString('base64').match(/.{1,70}/g) ?? [])
  const field = `DKIM-Signature: ${value}${digits}\r\n`
  return Buffer.concat([Buffer.from(field, 'latin1'), raw])
}

/** Puts the signature of a signed mail at the top of its masked copy. */
export function withSignatureOf(signed: Buffer, copy: Buffer): Buffer {
  return Buffer.concat([signed.subarray(0, signed.length - copy.length), copy])
}

/** Caches parsed keys, because a thread signs thousands of mails with one key. */
const keys = new LRUCache<string, KeyObject>({
  max: 10,
  memoMethod: (pem) => createPrivateKey(pem),
})

/**
 * Returns the names for h=, and the fields that they cover. Of several fields with the same name,
 * the last one comes first (RFC 6376 §5.4.2).
 */
function chosen(fields: readonly HeaderField[]): { names: string[]; lines: string[] } {
  const names: string[] = []
  const lines: string[] = []
  for (const name of signedFields) {
    for (const field of fields.filter(({ key }) => key === name).toReversed()) {
      names.push(name)
      const { raw } = field
      lines.push(`${relaxedField(name, raw.slice(raw.indexOf(':') + 1))}\r\n`)
    }
    names.push(name)
  }
  return { names, lines }
}

/** Canonicalizes a header field as relaxed (RFC 6376 §3.4.2). */
function relaxedField(name: string, value: string): string {
  const bare = value
    .replace(/\r\n/g, '')
    .replace(/[ \t]+/g, ' ')
    .replace(/^ | $/g, '')
  return `${name}:${bare}`
}

/** Canonicalizes a body as relaxed (RFC 6376 §3.4.4). */
function relaxedBody(body: string): string {
  // Most spaces stand alone between two words, so they are not replaced one by one.
  const bare = body.replace(/[ \t]+(?=\r\n|$)|[ \t]{2,}|\t/g, (spaces, at: number) =>
    at + spaces.length === body.length || body.startsWith('\r\n', at + spaces.length) ? '' : ' ',
  )
  let end = bare.length
  while (end >= 2 && bare.startsWith('\r\n', end - 2)) end -= 2
  return end === 0 ? '' : `${bare.slice(0, end)}\r\n`
}

/** Joins pieces into lines of at most 70 characters. */
function folded(pieces: readonly string[]): string {
  const lines: string[] = []
  let line = ''
  for (const piece of pieces) {
    if (line !== '' && line.length + piece.length > lineCharsMax) {
      lines.push(line)
      line = ''
    }
    line += piece
  }
  return [...lines, line].join('\r\n\t')
}
