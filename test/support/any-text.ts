import fc from 'fast-check'

const LAST_BEFORE_SURROGATES = 0xd7ff
const FIRST_AFTER_SURROGATES = 0xe000
const LAST = 0x10ffff

const character = fc
  .oneof(
    fc.integer({ min: 0, max: LAST_BEFORE_SURROGATES }),
    fc.integer({ min: FIRST_AFTER_SURROGATES, max: LAST }),
  )
  .map((code) => String.fromCodePoint(code))

/**
 * Texts of any characters. The unit `binary` of fast-check gives the same, but takes a second of a
 * core to prepare.
 */
export function anyText(size: { minLength?: number; maxLength?: number } = {}) {
  return fc.string({ ...size, unit: character })
}
