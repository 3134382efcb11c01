/** Composes an element of DER. */
export function der(tag: number, ...content: readonly Buffer[]): Buffer {
  const inside = Buffer.concat(content)
  const { length } = inside
  if (length < 0x80) return Buffer.concat([Buffer.of(tag, length), inside])
  const size = Buffer.alloc(4)
  size.writeUInt32BE(length)
  return Buffer.concat([Buffer.of(tag, 0x84), size, inside])
}

const signedData = Buffer.from('06092a864886f70d010702', 'hex')
const data = Buffer.from('06092a864886f70d010701', 'hex')

/** Composes signed data (RFC 5652) with the content inside, and without any signature. */
export function opaqueSigned(content: Buffer, { isInPieces = false } = {}): Buffer {
  const pieces = isInPieces
    ? Buffer.concat([
        Buffer.of(0x24, 0x80),
        ...[content.subarray(0, 1_000), content.subarray(1_000)].map((one) => der(0x04, one)),
        Buffer.of(0, 0),
      ])
    : der(0x04, content)
  const version = der(0x02, Buffer.of(1))
  const inside = der(0x30, data, der(0xa0, pieces))
  const signed = der(0x30, version, der(0x31), inside, der(0x31))
  return der(0x30, signedData, der(0xa0, signed))
}
