import { constants, zstdCompressSync } from 'node:zlib'

/** A body that takes its parser much time per byte: a beginning, then one piece repeated. */
export type HostileBody = {
  name: string
  headers: Record<string, string>
  start: string | Buffer
  piece: string
}

const multipart = { 'content-type': 'multipart/form-data; boundary=b' }
const urlencoded = { 'content-type': 'application/x-www-form-urlencoded' }
const json = { 'content-type': 'application/json' }
const message = { 'content-type': 'message/rfc822' }
const file = (name: string) =>
  `--b\r\nContent-Disposition: form-data; name="${name}"; filename="a.eml"\r\n\r\n`
const header = 'From: a@b.example\r\nSubject: x\r\nReceived: from a by b; now\r\n'
const boundary = 'Content-Type: multipart/mixed; boundary="bbbbbbbbbb"\r\n\r\n'

/** Fourteen kinds of hostile bodies. */
export const hostileBodies: readonly HostileBody[] = [
  { name: 'empty parts', headers: multipart, start: '', piece: '--b\r\n\r\n\r\n' },
  { name: 'a part header without end', headers: multipart, start: '--b\r\n', piece: 'a: b\r\n' },
  { name: 'near delimiters', headers: multipart, start: file('messages'), piece: '\r\n--' },
  { name: 'carriage returns', headers: multipart, start: file('messages'), piece: '\r' },
  { name: 'empty fields', headers: urlencoded, start: '', piece: '&' },
  { name: 'escapes', headers: urlencoded, start: 'message=', piece: '%41' },
  { name: 'plus signs', headers: urlencoded, start: 'reporting%5Braw_email%5D=', piece: '+' },
  { name: 'numbers in JSON', headers: json, start: '{"message_base64":[1', piece: ',1' },
  { name: 'escaped JSON', headers: json, start: '{"message_base64":"', piece: '\\/\\n' },
  { name: 'fields of JSON', headers: json, start: '{"a":1', piece: ',"a":1' },
  {
    name: 'empty lines',
    headers: { 'content-type': 'application/x-ndjson' },
    start: '',
    piece: '\n',
  },
  { name: 'header fields', headers: message, start: header, piece: 'X: y\r\n' },
  { name: 'near boundaries', headers: message, start: `${header}${boundary}`, piece: '--b\n' },
  {
    name: 'zstd of zeros',
    headers: { compression: 'zstd' },
    start: zstdCompressSync(Buffer.alloc(24_000_000), {
      params: { [constants.ZSTD_c_compressionLevel]: 1 },
    }),
    piece: '',
  },
]

/** Returns a chunk of a body: as many pieces as fit into 64 KiB. */
export function chunkOf({ piece }: HostileBody): Buffer {
  return Buffer.from(piece.repeat(Math.floor(65_536 / Math.max(1, piece.length))))
}
