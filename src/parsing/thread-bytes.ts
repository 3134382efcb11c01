import type { Packed } from '../db/rows.ts'

/**
 * Returns bytes from another thread as a Buffer: a Buffer that is sent arrives as a plain
 * Uint8Array.
 */
export function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}

/**
 * Copies bytes that share a much larger memory block, because the whole block would be sent to the
 * thread.
 */
export function withOwnMemory({ encoding, content }: Packed): Packed {
  if (content.buffer.byteLength < content.length * 2) return { encoding, content }
  return { encoding, content: Buffer.from(new Uint8Array(content).buffer) }
}

/** Like `asBuffer`, for packed bytes. */
export function asBuffers({ encoding, content }: Packed): Packed {
  return { encoding, content: asBuffer(content) }
}

/**
 * Returns bytes in memory of their own, which can be transferred; copies them if they share memory.
 */
export function owned(bytes: Buffer): Buffer {
  return bytes.length === bytes.buffer.byteLength ? bytes : copyOf(bytes)
}

/** Copies bytes to memory of their own. */
export function copyOf(bytes: Buffer): Buffer {
  return Buffer.from(new Uint8Array(bytes).buffer)
}
