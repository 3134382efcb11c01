/** A storage to write: streams and nested storages by their names. */
export type Written = { [name: string]: Buffer | Written }

const sectorBytes = 512
const miniBytes = 64
const none = 0xffffffff
const end = 0xfffffffe
const tableMark = 0xfffffffd

type Node = { name: string; kind: number; content: Buffer; child: number; right: number }

/**
 * Composes a compound file (MS-CFB, version 3) with the given streams. Siblings form one long
 * branch of the directory tree.
 */
export function compoundFile(root: Written): Buffer {
  const nodes: Node[] = []
  addNode(nodes, 'Root Entry', 5, root)
  const sectors: Buffer[] = []
  const table: number[] = []
  const put = (content: Buffer): number => {
    if (content.length === 0) return end
    const first = sectors.length
    for (let at = 0; at < content.length; at += sectorBytes) {
      const sector = Buffer.alloc(sectorBytes)
      content.copy(sector, 0, at)
      sectors.push(sector)
      table.push(sectors.length)
    }
    table[sectors.length - 1] = end
    return first
  }
  const mini: Buffer[] = []
  const miniTable: number[] = []
  const putMini = (content: Buffer): number => {
    if (content.length === 0) return end
    const first = mini.length
    for (let at = 0; at < content.length; at += miniBytes) {
      const piece = Buffer.alloc(miniBytes)
      content.copy(piece, 0, at)
      mini.push(piece)
      miniTable.push(mini.length)
    }
    miniTable[mini.length - 1] = end
    return first
  }
  const starts = nodes.map(({ content, kind }) => {
    if (kind !== 2) return end
    return content.length < 4096 ? putMini(content) : put(content)
  })
  const miniStream = Buffer.concat(mini)
  starts[0] = put(miniStream)
  const miniTableStart = put(words(miniTable, 128))
  const sizes = nodes.map(({ content }, index) => (index === 0 ? miniStream : content).length)
  const entries = nodes.map((node, index) => entryOf(node, starts[index] ?? end, sizes[index] ?? 0))
  const directoryStart = put(Buffer.concat(entries))
  const tableSectors = Math.ceil((table.length + 100) / 127)
  const tableStart = sectors.length
  for (let one = 0; one < tableSectors; one++) table.push(tableMark)
  const header = Buffer.alloc(sectorBytes, 0xff)
  Buffer.from('d0cf11e0a1b11ae1', 'hex').copy(header)
  header.fill(0, 8, 76)
  header.writeUInt16LE(3, 26)
  header.writeUInt16LE(9, 30)
  header.writeUInt16LE(6, 32)
  header.writeUInt32LE(tableSectors, 44)
  header.writeUInt32LE(directoryStart, 48)
  header.writeUInt32LE(4096, 56)
  header.writeUInt32LE(miniTableStart, 60)
  header.writeUInt32LE(end, 68)
  for (let one = 0; one < tableSectors; one++) header.writeUInt32LE(tableStart + one, 76 + one * 4)
  return Buffer.concat([header, ...sectors, words(table, tableSectors * 128)])
}

function addNode(nodes: Node[], name: string, kind: number, what: Buffer | Written): number {
  const index = nodes.length
  const content = Buffer.isBuffer(what) ? what : Buffer.alloc(0)
  const node: Node = { name, kind, content, child: none, right: none }
  nodes.push(node)
  if (Buffer.isBuffer(what)) return index
  let before: Node | undefined
  for (const [inside, one] of Object.entries(what)) {
    const at = addNode(nodes, inside, Buffer.isBuffer(one) ? 2 : 1, one)
    if (before) before.right = at
    else node.child = at
    before = nodes[at]
  }
  return index
}

function entryOf({ name, kind, child, right }: Node, start: number, size: number): Buffer {
  const entry = Buffer.alloc(128)
  entry.write(name, 'utf16le')
  entry.writeUInt16LE(name.length * 2 + 2, 64)
  entry.writeUInt8(kind, 66)
  entry.writeUInt32LE(none, 68)
  entry.writeUInt32LE(right, 72)
  entry.writeUInt32LE(child, 76)
  entry.writeUInt32LE(start, 116)
  entry.writeUInt32LE(size, 120)
  return entry
}

function words(numbers: readonly number[], multiple: number): Buffer {
  const count = Math.ceil(Math.max(1, numbers.length) / multiple) * multiple
  const bytes = Buffer.alloc(count * 4, 0xff)
  numbers.forEach((word, index) => bytes.writeUInt32LE(word, index * 4))
  return bytes
}

const unicode = (text: string) => Buffer.from(text, 'utf16le')

/** The content of an Outlook file for tests; without a header the message was never sent. */
export type OutlookPieces = {
  header?: string
  text?: string
  html?: string
  rtf?: Buffer
  files?: readonly { name: string; type?: string; content: Buffer | Written }[]
}

/** Returns the streams of a message as Outlook stores it. */
export function outlookStorage({ header, text, html, rtf, files = [] }: OutlookPieces): Written {
  const attachments = files.map(({ name, type, content }, index): [string, Written] => [
    `__attach_version1.0_#${String(index).padStart(8, '0')}`,
    {
      '__properties_version1.0': Buffer.alloc(8),
      '__substg1.0_3707001F': unicode(name),
      ...(type !== undefined && { '__substg1.0_370E001F': unicode(type) }),
      [`__substg1.0_3701${Buffer.isBuffer(content) ? '0102' : '000D'}`]: content,
    },
  ])
  return {
    '__properties_version1.0': Buffer.alloc(32),
    '__substg1.0_0037001F': unicode('A subject'),
    ...(header !== undefined && { '__substg1.0_007D001F': unicode(header) }),
    ...(text !== undefined && { '__substg1.0_1000001F': unicode(text) }),
    ...(html !== undefined && { '__substg1.0_10130102': Buffer.from(html) }),
    ...(rtf !== undefined && { '__substg1.0_10090102': rtf }),
    ...Object.fromEntries(attachments),
  }
}

/** Composes an Outlook file (`.msg`). */
export function outlookFile(pieces: OutlookPieces): Buffer {
  return compoundFile(outlookStorage(pieces))
}

/** Wraps RTF as Outlook stores uncompressed RTF. */
export function keptRtf(rtf: string): Buffer {
  const head = Buffer.alloc(16)
  head.writeUInt32LE(rtf.length + 12, 0)
  head.writeUInt32LE(rtf.length, 4)
  head.write('MELA', 8, 'latin1')
  return Buffer.concat([head, Buffer.from(rtf, 'latin1')])
}

/** The header of a message that was received, with a signature. */
export const traveledHeader = [
  'Received: from mail.shop.example (mail.shop.example [198.51.100.23])',
  ' by mx.provider.example with ESMTPS id 4ABC; Mon, 16 Nov 2026 10:00:00 +0000',
  'DKIM-Signature: v=1; a=rsa-sha256; d=shop.example; s=s1; h=from; bh=AAAA; b=AAAA',
  'From: Offers <offers@shop.example>',
  'To: you@provider.example',
  'Subject: Cheap watches',
  'Message-ID: <watches@shop.example>',
  'MIME-Version: 1.0',
  'Content-Type: multipart/alternative; boundary="gone"',
  '',
  '',
].join('\r\n')
