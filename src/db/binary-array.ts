const INT8_OID = 20
const HEADER_BYTES = 20
const ITEM_BYTES = 12

/**
 * A `bigint[]` parameter in PostgreSQL's binary form, of keys of 8 bytes each, big end first. As
 * text, each key would have to become a decimal number first.
 */
export function bigintArray(keys: Buffer): Buffer {
  const length = keys.length / 8
  const array = Buffer.allocUnsafe(HEADER_BYTES + ITEM_BYTES * length)
  array.writeInt32BE(1, 0)
  array.writeInt32BE(0, 4)
  array.writeInt32BE(INT8_OID, 8)
  array.writeInt32BE(length, 12)
  array.writeInt32BE(1, 16)
  for (let index = 0, at = HEADER_BYTES; index < length; index++, at += ITEM_BYTES) {
    array.writeInt32BE(8, at)
    keys.copy(array, at + 4, index * 8, index * 8 + 8)
  }
  return array
}
