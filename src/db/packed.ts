import { promisify } from 'node:util'
import {
  constants,
  zstdCompress,
  zstdCompressSync,
  zstdDecompress,
  zstdDecompressSync,
} from 'node:zlib'

/** Bytes as they are stored: zstd level 1 when that is smaller, else as they are. */
export type Packed = { encoding: 'identity' | 'zstd'; content: Buffer }

const options = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }
const BLOCKING_BYTES_MAX = 256_000
const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)

/**
 * Packs bytes for storage. Small ones are packed on the spot (50 µs for a 20 KB message, less than
 * the detour over a thread), large ones without blocking.
 */
export async function pack(raw: Buffer): Promise<Packed> {
  const packed =
    raw.length <= BLOCKING_BYTES_MAX ? zstdCompressSync(raw, options) : await compress(raw, options)
  if (packed.length >= raw.length) return { encoding: 'identity', content: raw }
  return { encoding: 'zstd', content: packed }
}

/** The bytes again, exactly. */
export async function unpack({ encoding, content }: Packed): Promise<Buffer> {
  if (encoding === 'identity') return content
  return content.length <= BLOCKING_BYTES_MAX ? zstdDecompressSync(content) : decompress(content)
}
