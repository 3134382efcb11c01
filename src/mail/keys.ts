/**
 * A link of ours that acts for whoever has it, and the part of it that makes it act: without `key`,
 * the link is useless.
 */
export type KeyedLink = { url: string; key: string }

/** The length of the signature at the end of our tokens; the rest of a token is not secret. */
const SIGNATURE_CHARS = 16

/** Returns the link with a signed token at its end. */
export function signedLink(url: string): KeyedLink {
  return { url, key: url.slice(-SIGNATURE_CHARS) }
}

/** Returns the secret part of an address of ours, such as `re-<token>@example.org`. */
export function addressKey(address: string): string {
  return address.slice(0, address.indexOf('@')).slice(-SIGNATURE_CHARS)
}

/**
 * Replaces each key by asterisks. The text keeps its length, and no transfer encoding changes an
 * asterisk, so a mail composed from such texts differs from the real one only in its keys.
 */
export function withoutKeys(text: string, keys: readonly string[]): string {
  return keys.reduce((masked, key) => masked.replaceAll(key, '*'.repeat(key.length)), text)
}

/** Bytes that differ between two versions of a mail, and where they are. */
type Difference = { at: number; bytes: Buffer }

/**
 * Returns what turns the masked version of a mail into the real one.
 *
 * @throws Error if the versions differ in length, because then they differ in more than their keys
 */
export function differences(real: Buffer, masked: Buffer): Difference[] {
  if (real.length !== masked.length) throw new Error('The masked copy of a mail has another length')
  const found: Difference[] = []
  for (let at = 0; at < real.length; at++) {
    if (real[at] === masked[at]) continue
    const start = at
    while (at < real.length && real[at] !== masked[at]) at++
    found.push({ at: start, bytes: real.subarray(start, at) })
  }
  return found
}

/** Returns the real version of a masked mail. */
export function applyDifferences(masked: Buffer, found: readonly Difference[]): Buffer {
  const real = Buffer.from(masked)
  for (const { at, bytes } of found) bytes.copy(real, at)
  return real
}

/** Packs differences: for each, its place and length in 32 bits, and its bytes. */
export function packDifferences(found: readonly Difference[]): Buffer {
  return Buffer.concat(
    found.flatMap(({ at, bytes }) => {
      const head = Buffer.alloc(8)
      head.writeUInt32BE(at, 0)
      head.writeUInt32BE(bytes.length, 4)
      return [head, bytes]
    }),
  )
}

export function unpackDifferences(packed: Buffer): Difference[] {
  const found: Difference[] = []
  for (let from = 0; from < packed.length;) {
    const [at, length] = [packed.readUInt32BE(from), packed.readUInt32BE(from + 4)]
    from += 8
    found.push({ at, bytes: packed.subarray(from, from + length) })
    from += length
  }
  return found
}
