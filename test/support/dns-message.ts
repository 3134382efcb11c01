/** The records that the DNS server of the tests can return. */
export type TestRecord =
  | { type: 'A' | 'AAAA' | 'PTR'; data: string; ttl?: number }
  | { type: 'TXT'; data: readonly string[]; ttl?: number }
  | { type: 'MX'; data: { priority: number; exchange: string }; ttl?: number }

/** One question of a message, its name in lower case. */
export type Question = { name: string; type: string }

/** The answer codes of RFC 1035 §4.1.1 that the tests use. */
export const answerCodes = { NOERROR: 0, SERVFAIL: 2, NXDOMAIN: 3, REFUSED: 5 } as const

const types: Readonly<Record<string, number>> = { A: 1, NS: 2, PTR: 12, MX: 15, TXT: 16, AAAA: 28 }
const HEADER_BYTES = 12

/** Parses the question of a message (RFC 1035 §4.1.2); compression is not supported. */
export function decodeQuestion(message: Buffer): Question {
  const labels: string[] = []
  let at = HEADER_BYTES
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  const code = message.readUInt16BE(at + 1)
  const type = Object.keys(types).find((name) => types[name] === code) ?? `TYPE${code}`
  return { name: labels.join('.').toLowerCase(), type }
}

/** Composes the answer to a query: its header and question, and the given records. */
export function encodeAnswer(
  query: Buffer,
  answer: { code: keyof typeof answerCodes; records: readonly TestRecord[]; isCut: boolean },
): Buffer {
  const { name } = decodeQuestion(query)
  const question = query.subarray(HEADER_BYTES, HEADER_BYTES + encodeName(name).length + 4)
  const header = Buffer.alloc(HEADER_BYTES)
  query.copy(header, 0, 0, 2)
  // The flags of an answer (QR) with recursion desired and available; TC when it is truncated.
  header.writeUInt16BE(0x8180 | answerCodes[answer.code] | (answer.isCut ? 0x0200 : 0), 2)
  const records = answer.isCut ? [] : answer.records
  header.writeUInt16BE(1, 4)
  header.writeUInt16BE(records.length, 6)
  return Buffer.concat([header, question, ...records.map(encodeRecord)])
}

function encodeRecord(record: TestRecord): Buffer {
  const data = encodeData(record)
  const fixed = Buffer.alloc(12)
  // The name is a pointer to the name in the question.
  fixed.writeUInt16BE(0xc000 | HEADER_BYTES, 0)
  fixed.writeUInt16BE(types[record.type] ?? 0, 2)
  fixed.writeUInt16BE(1, 4)
  fixed.writeUInt32BE(record.ttl ?? 300, 6)
  fixed.writeUInt16BE(data.length, 10)
  return Buffer.concat([fixed, data])
}

function encodeData(record: TestRecord): Buffer {
  switch (record.type) {
    case 'A':
      return Buffer.from(record.data.split('.').map(Number))
    case 'AAAA':
      // Eight groups of four digits, written out in full.
      return Buffer.from(record.data.split(':').map(group4).join(''), 'hex')
    case 'PTR':
      return encodeName(record.data)
    case 'TXT':
      return Buffer.concat(record.data.map(lengthBefore))
    case 'MX': {
      const priority = Buffer.alloc(2)
      priority.writeUInt16BE(record.data.priority)
      return Buffer.concat([priority, encodeName(record.data.exchange)])
    }
  }
}

function group4(group: string): string {
  return group.padStart(4, '0')
}

function encodeName(name: string): Buffer {
  const labels = name.split('.').filter((label) => label !== '')
  return Buffer.concat([...labels.map(lengthBefore), Buffer.alloc(1)])
}

function lengthBefore(text: string): Buffer {
  const bytes = Buffer.from(text)
  return Buffer.concat([Buffer.from([bytes.length]), bytes])
}
