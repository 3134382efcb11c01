import { crc32, gzipSync } from 'node:zlib'
import { encode } from 'uqr'
import { zipFile } from './containers/zip-file.ts'

/** Files by their names. */
export type Files = Readonly<Record<string, string | Buffer>>

const each = (files: Files) =>
  Object.entries(files).map(([name, content]) => ({ name, content: Buffer.from(content) }))

/** Composes a zip archive; `flags`: 1 for encrypted files. */
export function zipOf(files: Files, flags = 0): Buffer {
  return zipFile(each(files).map((file) => ({ ...file, flags })))
}

const typesPart = { '[Content_Types].xml': '<Types/>' }
const relation = (target: string, type: string) =>
  '<Relationships><Relationship Id="r" ' +
  `Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/${type}" ` +
  `Target="${target}" TargetMode="External"/></Relationships>`

/** Composes an Office document with a relationship of a part. */
export function officeFile(
  part: string,
  target: string,
  type = 'hyperlink',
  more: Files = {},
): Buffer {
  const [folder = '', name = ''] = part.split(/\/(?=[^/]*$)/)
  const rels = { [`${folder}/_rels/${name}.rels`]: relation(target, type) }
  return zipOf({ ...typesPart, [part]: '<x/>', ...rels, ...more })
}

/** Composes an Office document with a text. */
export function officeText(part: string, xml: string): Buffer {
  return zipOf({ ...typesPart, [part]: xml })
}

/** Composes a tar archive (POSIX.1-1988, ustar). */
export function tarOf(files: Files): Buffer {
  const blocks = each(files).flatMap(({ name, content }) => {
    const head = Buffer.alloc(512)
    head.write(name, 0)
    head.write('0000644\0', 100)
    head.write(`${content.length.toString(8).padStart(11, '0')}\0`, 124)
    head.write('00000000000\0', 136)
    head.write('        0', 148)
    head.write('ustar\x0000', 257)
    const sum = head.reduce((all, byte) => all + byte, 0)
    head.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
    return [head, content, Buffer.alloc((512 - (content.length % 512)) % 512)]
  })
  return Buffer.concat([...blocks, Buffer.alloc(1_024)])
}

/** Composes a gzip file that names its content. */
export function gzipOf(name: string, content: string | Buffer): Buffer {
  const packed = gzipSync(content)
  packed[3] = 8
  return Buffer.concat([packed.subarray(0, 10), Buffer.from(`${name}\0`), packed.subarray(10)])
}

function vint(value: number): Buffer {
  const bytes: number[] = []
  for (let rest = value; bytes.length === 0 || rest > 0; rest = Math.floor(rest / 128)) {
    bytes.push((rest % 128) | (rest >= 128 ? 128 : 0))
  }
  return Buffer.from(bytes)
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value >>> 0)
  return bytes
}

function rarBlock(...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts)
  const sized = Buffer.concat([vint(body.length), body])
  return Buffer.concat([uint32(crc32(sized)), sized])
}

/** Composes a RAR 5 archive without compression. */
export function rarOf(files: Files): Buffer {
  const blocks = each(files).flatMap(({ name, content }) => {
    const bytes = Buffer.from(name)
    const [kind, flags, zero] = [vint(2), vint(2), vint(0)]
    const size = vint(content.length)
    const data = [size, vint(4), size, vint(0x20), uint32(crc32(content)), zero, zero]
    return [rarBlock(kind, flags, ...data, vint(bytes.length), bytes), content]
  })
  const start = Buffer.from('Rar!\x1a\x07\x01\0', 'latin1')
  return Buffer.concat([
    start,
    rarBlock(Buffer.of(1, 0, 0)),
    ...blocks,
    rarBlock(Buffer.of(5, 0, 0)),
  ])
}

/** A RAR 5 archive whose names are encrypted (a header of type 4). */
export function lockedRar(): Buffer {
  const start = Buffer.from('Rar!\x1a\x07\x01\0', 'latin1')
  return Buffer.concat([
    start,
    rarBlock(Buffer.of(4, 0, 0, 0, 15), Buffer.alloc(16)),
    Buffer.alloc(64, 7),
  ])
}

/** Composes a RAR 4 archive without compression. */
export function oldRarOf(files: Files): Buffer {
  const block = (body: Buffer) => {
    const crc = Buffer.alloc(2)
    crc.writeUInt16LE(crc32(body) & 0xffff)
    return Buffer.concat([crc, body])
  }
  const blocks = each(files).flatMap(({ name, content }) => {
    const bytes = Buffer.from(name)
    const head = Buffer.alloc(30)
    head[0] = 0x74
    head.writeUInt16LE(0x8000, 1)
    head.writeUInt16LE(32 + bytes.length, 3)
    head.writeUInt32LE(content.length, 5)
    head.writeUInt32LE(content.length, 9)
    head[13] = 2
    head.writeUInt32LE(crc32(content), 14)
    head[22] = 20
    head[23] = 0x30
    head.writeUInt16LE(bytes.length, 24)
    head.writeUInt32LE(32, 26)
    return [block(Buffer.concat([head, bytes])), content]
  })
  const start = Buffer.from('Rar!\x1a\x07\0', 'latin1')
  return Buffer.concat([start, block(Buffer.from('7300000d00'.padEnd(22, '0'), 'hex')), ...blocks])
}

/** A number of 7z below 16,384 (7zFormat.txt, "UINT64"). */
const number = (value: number) =>
  value < 0x80 ? Buffer.of(value) : Buffer.of(0x80 | (value >> 8), value & 255)

/** Composes a 7z archive without compression. `coder`: of AES if it is encrypted. */
export function sevenZipOf(files: Files, isEncrypted = false): Buffer {
  const all = each(files)
  const body = Buffer.concat(all.map(({ content }) => content))
  const names = Buffer.from(all.map(({ name }) => `${name}\0`).join(''), 'utf16le')
  const aes = Buffer.from('2406f107010213 00'.replaceAll(' ', ''), 'hex')
  const coder = isEncrypted ? aes : Buffer.of(1, 0)
  const [count, size] = [number(all.length), number(body.length)]
  const sizes = all.slice(0, -1).map(({ content }) => number(content.length))
  const sums = all.map(({ content }) => uint32(crc32(content)))
  const header = Buffer.concat([
    Buffer.of(1, 4, 6, 0, 1, 9),
    ...[size, Buffer.of(0, 7, 0x0b, 1, 0, 1), coder, Buffer.of(0x0c), size, Buffer.of(0)],
    ...[Buffer.of(8, 0x0d), count, Buffer.of(9), ...sizes, Buffer.of(0x0a, 1), ...sums],
    ...[Buffer.of(0, 0, 5), count, Buffer.of(0x11), number(names.length + 1), Buffer.of(0), names],
    Buffer.of(0, 0),
  ])
  const start = Buffer.alloc(20)
  start.writeUInt32LE(body.length, 0)
  start.writeUInt32LE(header.length, 8)
  start.writeUInt32LE(crc32(header), 16)
  const mark = Buffer.from("7z\xbc\xaf'\x1c\0\x04", 'latin1')
  return Buffer.concat([mark, uint32(crc32(start)), start, body, header])
}

/** How a table draws the modules of a QR code. */
export type CellForm = 'color' | 'style' | 'class' | 'span' | 'width' | 'row'

/** Draws a QR code as a table. */
export function codeTable(text: string, form: CellForm): string {
  const { data } = encode(text, { border: 0 })
  const cell = (isDark: boolean, run: number) => {
    switch (form) {
      case 'color':
        return `<td bgcolor="${isDark ? '#000000' : 'white'}" width=4 height=4></td>`
      case 'style':
        return `<td style="background-color: ${isDark ? 'rgb(10, 10, 40)' : '#fff'}">&nbsp;</td>`
      case 'class':
        return `<td class=${isDark ? 'b' : 'w'}></td>`
      case 'span':
        return `<td colspan="${run}"${isDark ? ' bgcolor=black' : ''}></td>`
      case 'width':
        return `<td width="${run * 5}"${isDark ? ' style="background:#123"' : ''}></td>`
      case 'row':
        return isDark ? '<td></td>' : '<td bgcolor=#FFFFFF></td>'
    }
  }
  const isMerged = form === 'span' || form === 'width'
  const rows = data.map((row) => {
    const runs: { isDark: boolean; run: number }[] = []
    for (const isDark of row) {
      const last = runs.at(-1)
      if (isMerged && last?.isDark === isDark) last.run++
      else runs.push({ isDark, run: 1 })
    }
    const color = form === 'row' ? ' bgcolor="black"' : ''
    return `<tr${color}>${runs.map(({ isDark, run }) => cell(isDark, run)).join('\n')}</tr>`
  })
  const style = form === 'class' ? '<style>.b{background:#000} .w{background:#fff}</style>' : ''
  return `${style}<table cellspacing=0 cellpadding=0>${rows.join('\n')}</table>`
}
