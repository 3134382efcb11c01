import { crc32, deflateRawSync, deflateSync } from 'node:zlib'
import { drawQrCode, pngFile } from '../pictures.ts'
import { filled } from './body-places.ts'
import { inLines, type Part, type Place } from './draft.ts'
import type { Needle } from './needles.ts'

/** Text parts of other types; `{}` is the text. */
const texts: Readonly<Record<string, string>> = {
  'text/vcard': 'BEGIN:VCARD\r\nVERSION:4.0\r\nFN:{}\r\nEMAIL:{}\r\nEND:VCARD\r\n',
  'text/x-vcard':
    'BEGIN:VCARD\r\nN;ENCODING=QUOTED-PRINTABLE:{};;;\r\nNOTE:for {}\r\nEND:VCARD\r\n',
  'text/calendar':
    'BEGIN:VCALENDAR\r\nATTENDEE;CN="{}":mailto:a@spam.test\r\nUID:{}\r\nEND:VCALENDAR\r\n',
  'text/calendar; method=REQUEST':
    'BEGIN:VCALENDAR\r\nSUMMARY:for {}\r\nURL:https://t.spam.test/{}\r\nEND:VCALENDAR\r\n',
  'text/csv': 'name,mail\r\n"{}",1\r\n',
  'text/xml': '<user name="{}">{}</user>\r\n',
  'text/richtext': '<bold>{}</bold>\r\n',
  'text/enriched': '<bold>{}</bold>\r\n',
  'text/rtf': '{\\rtf1 Dear {}}\r\n',
  'text/watch-html': '<p>Dear {}</p>\r\n',
  'text/x-amp-html': '<html amp4email><p>Dear {}</p></html>\r\n',
  'text/markdown': 'Dear *{}*, [x](https://t.spam.test/{})\r\n',
  'text/css': '.a::after { content: "{}" }\r\n',
  'text/rfc822-headers': 'To: {}\r\nSubject: to {}\r\n',
  'text/unknown': 'Dear {}\r\n',
  'message/rfc822':
    'From: a@spam.test\r\nTo: {} <a@spam.test>\r\nSubject: for {}\r\nX-Id: {}\r\n\r\nDear {}\r\n',
  'message/global': 'From: a@spam.test\r\nSubject: for {}\r\n\r\nhttps://t.spam.test/{}\r\n',
  'message/partial; id=1; number=1': 'From: a@spam.test\r\nSubject: for {}\r\n\r\nDear {}\r\n',
  'message/delivery-status':
    'Reporting-MTA: dns; x.spam.test\r\n\r\nFinal-Recipient: rfc822; {}\r\nAction: failed\r\n',
  'message/disposition-notification':
    'Final-Recipient: rfc822; {}\r\nOriginal-Message-ID: <{}@spam.test>\r\n',
  'message/feedback-report': 'Feedback-Type: abuse\r\nOriginal-Rcpt-To: {}\r\n',
  'message/external-body; access-type=URL': 'Content-Type: text/plain; x="{}"\r\n\r\n{}\r\n',
  'message/unknown': 'Dear {}\r\n',
  'application/json': '{"user": "{}"}\r\n',
  'application/xhtml+xml': '<html><p>Dear {}</p></html>\r\n',
  'application/x-www-form-urlencoded': 'user={}\r\n',
  'application/pgp-encrypted': 'Version: 1\r\nComment: {}\r\n',
  'application/pdf': '%PDF-1.4\n1 0 obj << /Title ({}) /Author ({}) >> endobj\n%%EOF\n',
  'application/octet-stream': 'data of {}\r\n',
  'image/svg+xml': '<svg xmlns="http://www.w3.org/2000/svg"><text>{}</text></svg>\r\n',
  'x-unknown/x-type': 'Dear {}\r\n',
}

/** Fields of parts with names and codes. */
const partFields: readonly string[] = [
  'Content-Disposition: attachment; filename="{}.pdf"',
  'Content-Disposition: attachment; filename={}.pdf',
  "Content-Disposition: attachment; filename*=utf-8''{}.pdf",
  "Content-Disposition: attachment; filename*0*=utf-8''bill%20of; filename*1={}; filename*2=.pdf",
  'Content-Disposition: attachment; creation-date="{}"',
  'Content-Disposition: {}',
  'Content-ID: <{}@spam.test>',
  'Content-Location: https://t.spam.test/{}.png',
  'Content-Base: https://t.spam.test/{}/',
  'Content-Description: bill for {}',
  'Content-Transfer-Encoding: x-{}',
  'Content-Duration: {}',
  'X-Attachment-Id: {}',
  'X-Unknown-Of-Part: {}',
]

const typeFields: readonly string[] = [
  'application/pdf; name="{}.pdf"',
  "application/pdf; name*=utf-8''{}.pdf",
  "application/pdf; name*0*=utf-8''bill%20of; name*1*={}; name*2=.pdf",
  'application/x-{}',
  'application/pdf; {}=1',
  'text/plain; charset="{}"',
  'text/plain; charset=utf-8; format={}',
  'multipart/{}',
  'multipart/related; type="text/html"; start="<{}@spam.test>"; boundary=r',
]

/** The places in parts of a message. */
export const partPlaces: readonly Place[] = [
  ...Object.entries(texts).map(([type, template]) =>
    place(`part ${type}`, (written) => ({
      fields: [
        `Content-Type: ${type}${/^text/.test(type) ? '; charset=utf-8' : ''}`,
        'Content-Transfer-Encoding: 8bit',
      ],
      body: filled(template, written),
    })),
  ),
  ...Object.entries(texts).map(([type, template]) =>
    place(`part ${type} in base64`, (written) => ({
      fields: [
        `Content-Type: ${type}`,
        'Content-Disposition: attachment',
        'Content-Transfer-Encoding: base64',
      ],
      body: inLines(Buffer.from(filled(template, written))),
    })),
  ),
  ...partFields.map((template) =>
    fieldPlace(template, (field) => ['Content-Type: application/pdf', field]),
  ),
  ...typeFields.map((template) => fieldPlace(`Content-Type: ${template}`, (field) => [field])),
  ...files(),
  uuPlace('text', 'text/plain'),
  uuPlace('unknown part', 'application/x-uuencode'),
  place('yEnc in text', (written) => ({
    fields: ['Content-Type: text/plain; charset=iso-8859-1', 'Content-Transfer-Encoding: 8bit'],
    body: Buffer.from(
      `=ybegin line=128 size=99 name=a.txt\r\n${yEncoded(`Dear ${written}`)}\r\n=yend size=99\r\n`,
      'latin1',
    ),
  })),
  place('name of a uuencoded file', (written) => ({
    fields: ['Content-Type: text/plain; charset=utf-8'],
    body: `begin 644 ${written}.txt\r\n#86)C\r\n\`\r\nend\r\n`,
  })),
]

function place(name: string, partOf: (written: string) => Part): Place {
  return {
    name,
    medium: 'file',
    put({ parts }, written) {
      parts.push(partOf(written))
    },
  }
}

function fieldPlace(template: string, fieldsOf: (field: string) => string[]): Place {
  const isName = template.includes('{}=')
  return {
    name: `part field ${template}`,
    medium: 'atom',
    categories: isName ? ['token', 'local'] : undefined,
    put({ parts }, written) {
      parts.push({ fields: fieldsOf(filled(template, written)), body: 'Some words.\r\n' })
    },
  }
}

/** Files that contain the text. Their own bytes must not be in the copy either. */
function files(): Place[] {
  const makers: Record<string, (written: string) => Buffer> = {
    'PNG with a text chunk': (written) => pngWith('tEXt', Buffer.from(`Author\0${written}`)),
    'PNG with a compressed text': (written) =>
      pngWith('zTXt', Buffer.concat([Buffer.from('Author\0\0'), deflateSync(written)])),
    'PNG with a QR code': (written) =>
      pngFile(drawQrCode(`https://t.spam.test/${written}`.slice(0, 300), 1)),
    'JPEG with Exif': jpegWithExif,
    'GIF with a comment': (written) =>
      Buffer.concat([
        Buffer.from('GIF89a\x01\0\x01\0\0\0\0!\xfe', 'latin1'),
        block(written),
        Buffer.from('\0;'),
      ]),
    'zip with a named file': (written) => zipOf(`${written}.txt`, 'Some words.'),
    'zip with a text': (written) => zipOf('a.txt', `Dear ${written}, your parcel is waiting.`),
    'opaque TNEF': (written) =>
      Buffer.concat([
        Buffer.from('789f3e22', 'hex'),
        Buffer.from(written, 'utf16le'),
        Buffer.from(written),
      ]),
    'UTF-16 text': (written) => Buffer.from(`\ufeffDear ${written}`, 'utf16le'),
    'Outlook message': (written) =>
      Buffer.concat([
        Buffer.from('d0cf11e0a1b11ae1', 'hex'),
        Buffer.alloc(64),
        Buffer.from(written, 'utf16le'),
      ]),
  }
  const types: Record<string, string> = {
    PNG: 'image/png',
    JPEG: 'image/jpeg',
    GIF: 'image/gif',
    zip: 'application/zip',
    opaque: 'application/ms-tnef',
    'UTF-16': 'text/plain; charset=utf-16le',
    Outlook: 'application/vnd.ms-outlook',
  }
  return Object.entries(makers).map(([name, fileOf]) => ({
    name,
    medium: 'file',
    put({ parts }, written) {
      const bytes = fileOf(written)
      const type = types[name.split(' ')[0] ?? ''] ?? 'application/octet-stream'
      parts.push({
        fields: [`Content-Type: ${type}`, 'Content-Transfer-Encoding: base64'],
        body: inLines(bytes),
      })
      return fileNeedles(bytes)
    },
  }))
}

/** A file that is kept contains the line of base64 that begins with its byte 57, or its end. */
function fileNeedles(bytes: Buffer): Needle[] {
  const lines = inLines(bytes)
    .split('\r\n')
    .filter((line) => line.length > 20)
  return lines.slice(-1).map((text) => ({ kind: 'exact', text }))
}

function uuPlace(name: string, type: string): Place {
  return place(`uuencoded file in ${name}`, (written) => ({
    fields: [`Content-Type: ${type}; charset=utf-8`, 'Content-Transfer-Encoding: 8bit'],
    body: `see attached\r\n\r\nbegin 644 a.txt\r\n${uuencoded(`Dear ${written}, see this.`)}\`\r\nend\r\n`,
  }))
}

function uuencoded(text: string): string {
  const bytes = Buffer.from(text)
  const lines: string[] = []
  const letter = (six: number) => (six === 0 ? '`' : String.fromCharCode(six + 32))
  for (let at = 0; at < bytes.length; at += 45) {
    const line = bytes.subarray(at, at + 45)
    let digits = letter(line.length)
    for (let index = 0; index < line.length; index += 3) {
      const [a = 0, b = 0, c = 0] = line.subarray(index, index + 3)
      digits += [a >> 2, ((a & 3) << 4) | (b >> 4), ((b & 15) << 2) | (c >> 6), c & 63]
        .map(letter)
        .join('')
    }
    lines.push(digits)
  }
  return lines.map((line) => `${line}\r\n`).join('')
}

function yEncoded(text: string): string {
  return [...Buffer.from(text)]
    .map((byte) => (byte + 42) & 255)
    .map((byte) =>
      [0, 10, 13, 61].includes(byte)
        ? `=${String.fromCharCode((byte + 64) & 255)}`
        : String.fromCharCode(byte),
    )
    .join('')
}

function pngWith(type: string, data: Buffer): Buffer {
  const chunk = Buffer.concat([Buffer.from(type), data])
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  sum.writeUInt32BE(crc32(chunk))
  const picture = pngFile({ width: 1, height: 1, data: new Uint8ClampedArray(4) })
  return Buffer.concat([picture.subarray(0, 33), length, chunk, sum, picture.subarray(33)])
}

function jpegWithExif(written: string): Buffer {
  const data = Buffer.concat([Buffer.from('Exif\0\0MM\0*', 'latin1'), Buffer.from(written)])
  const head = Buffer.from([0xff, 0xd8, 0xff, 0xe1, 0, 0])
  head.writeUInt16BE(data.length + 2, 4)
  return Buffer.concat([head, data, Buffer.from([0xff, 0xd9])])
}

function block(written: string): Buffer {
  const data = Buffer.from(written).subarray(0, 255)
  return Buffer.concat([Buffer.from([data.length]), data])
}

function zipOf(name: string, text: string): Buffer {
  const [fileName, data] = [Buffer.from(name), deflateRawSync(text)]
  const facts = Buffer.alloc(26)
  facts.writeUInt16LE(20, 0)
  facts.writeUInt16LE(0x0800, 2)
  facts.writeUInt16LE(8, 4)
  facts.writeUInt32LE(crc32(text), 10)
  facts.writeUInt32LE(data.length, 14)
  facts.writeUInt32LE(Buffer.byteLength(text), 18)
  facts.writeUInt16LE(fileName.length, 22)
  const local = Buffer.concat([Buffer.from('PK\x03\x04'), facts, fileName, data])
  const entry = Buffer.concat([Buffer.from('PK\x01\x02\x14\0'), facts, Buffer.alloc(14), fileName])
  const end = Buffer.alloc(18)
  end.writeUInt16LE(1, 4)
  end.writeUInt16LE(1, 6)
  end.writeUInt32LE(entry.length, 8)
  end.writeUInt32LE(local.length, 12)
  return Buffer.concat([local, entry, Buffer.from('PK\x05\x06'), end])
}
