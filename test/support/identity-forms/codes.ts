import { createHash } from 'node:crypto'
import { crc32, deflateSync, gzipSync } from 'node:zlib'
import { reversed, rot13 } from './needles.ts'
import { base64, changed, everywhere, percents, type Way, way } from './way.ts'

const telling = ['address', 'local', 'full name'] as const
const withAt = ['address'] as const

/** Ways that make a code of a text. */
export const codes: readonly Way[] = [
  coded('base64', base64),
  coded('base64url', (text) => Buffer.from(text).toString('base64url')),
  coded('base64 of small letters', (text) => base64(text.toLowerCase())),
  coded('base64 of capitals', (text) => base64(text.toUpperCase())),
  coded('base64 twice', (text) => base64(base64(text))),
  coded('base64 with dots', (text) => (base64(text).match(/.{1,4}/g) ?? []).join('.')),
  coded('base64 after other bytes', (text) => base64(`u\u0001${text}`)),
  coded('base64 in JSON', (text) => base64(JSON.stringify({ id: 1, m: text }))),
  coded('base64 of UTF-16', (text) => Buffer.from(text, 'utf16le').toString('base64')),
  coded('base64 of gzip', (text) => gzipSync(text).toString('base64')),
  coded(
    'JSON Web Token',
    (text) =>
      `${base64url('{"alg":"HS256"}')}.${base64url(JSON.stringify({ sub: text }))}.${digest('sha256', text, 'base64url')}`,
  ),
  coded('percent-encoded base64', (text) => base64(text).replace(/[^a-z]/g, percents)),
  {
    ...coded('base64 in lines', (text) =>
      (base64(text.repeat(3)).match(/.{1,20}/g) ?? []).join('\r\n'),
    ),
    media: ['plain', 'html'],
  },
  {
    ...coded('base64 in quoted lines', (text) =>
      (base64(text.repeat(3)).match(/.{1,20}/g) ?? []).join('\r\n> '),
    ),
    media: ['plain'],
  },
  coded('hexadecimal', hex),
  coded('hexadecimal in capitals', (text) => hex(text).toUpperCase()),
  coded('hexadecimal with dashes', (text) => (hex(text).match(/../g) ?? []).join('-')),
  coded('base32', base32),
  coded('decimal codes', (text) => [...Buffer.from(text)].join('.')),
  coded('hexadecimal of UTF-16', (text) => Buffer.from(text, 'utf16le').toString('hex')),
  coded('hexadecimal, reversed', (text) => reversed(hex(text))),
  coded('base64, reversed', (text) => reversed(base64(text))),
  coded('base64 of the reversed text', (text) => base64(reversed(text))),
  coded('base64 with other signs', (text) =>
    base64(text).replaceAll('+', '.').replaceAll('/', '_').replaceAll('=', '~'),
  ),
  coded('base64 of hexadecimal', (text) => base64(hex(text))),
  coded('base64 of zlib', (text) => deflateSync(text).toString('base64url')),
  coded('one number', (text) => BigInt(`0x${hex(text)}`).toString()),
  coded('binary digits', (text) =>
    [...Buffer.from(text)].map((byte) => byte.toString(2).padStart(8, '0')).join(''),
  ),
  coded('rot13', (text) => changed(text, rot13(text))),
  coded('reversed', reversed),
  digestWay('crc32', (text) => crc32(text.toLowerCase()).toString(16).padStart(8, '0')),
  digestWay('md5 of the local part', (text) =>
    digest('md5', text.toLowerCase().replace(/@.*/, ''), 'hex'),
  ),
  digestWay('md5 of sha1', (text) =>
    digest('md5', digest('sha1', text.toLowerCase(), 'hex'), 'hex'),
  ),
  digestWay('sha256 with a key', (text) => digest('sha256', `key${text}`, 'hex')),
  { ...coded('Cloudflare code', cloudflare), categories: withAt },
  ...['md5', 'sha1', 'sha256', 'sha512'].flatMap((name) => [
    digestWay(name, (text) => digest(name, text.toLowerCase(), 'hex')),
    digestWay(`${name} as written`, (text) => digest(name, text, 'hex')),
    digestWay(`${name} in capitals`, (text) =>
      digest(name, text.toLowerCase(), 'hex').toUpperCase(),
    ),
    digestWay(`${name} in base64`, (text) => digest(name, text.toLowerCase(), 'base64url')),
  ]),
]

function coded(name: string, write: Way['write']): Way {
  return way(name, everywhere, telling, write)
}

function digestWay(name: string, write: Way['write']): Way {
  return way(`${name} digest`, everywhere, withAt, write)
}

function base64url(text: string): string {
  return Buffer.from(text).toString('base64url')
}

function hex(text: string): string {
  return Buffer.from(text).toString('hex')
}

function base32(text: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
  const bits = [...Buffer.from(text)].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  return bits.replace(/.{1,5}/g, (five) => alphabet[Number.parseInt(five.padEnd(5, '0'), 2)] ?? '')
}

/** The code of an address on pages behind Cloudflare: each byte is combined with the first. */
function cloudflare(text: string): string {
  const key = 0x55
  return Buffer.from([key, ...Buffer.from(text).map((byte) => byte ^ key)]).toString('hex')
}

function digest(algorithm: string, text: string, encoding: 'hex' | 'base64url'): string {
  return createHash(algorithm).update(text).digest(encoding)
}
