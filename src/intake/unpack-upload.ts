import {
  containerOf,
  type GivenFile,
  type Unpacked,
  type UnpackLimits,
} from '../mail/containers/unpack-file.ts'

/** Takes messages out of files that hold them, where strangers' bytes are read. */
export type Unpacker = (
  file: GivenFile,
  limits: UnpackLimits,
  msMax?: number,
) => Promise<Unpacked[]>

/**
 * The messages of a file that somebody gave, whatever it is: one that holds none of the forms of
 * `mail/containers` is one message, or nothing, and is given back as it is. Never rejects: what
 * cannot be read in time is refused.
 */
export type UnpackUpload = (
  bytes: Buffer,
  name: string,
  /** What the files of the same upload left of its limits. */
  left?: Partial<UnpackLimits & { msMax: number }>,
) => Promise<Unpacked[]>

/** Messages of one upload. */
export const UPLOAD_MESSAGES_MAX = 500
/** With those that are skipped: folders, and what systems add. */
const ENTRIES_MAX = 2_000

/** What one upload may unpack to: as many bytes as it may bring unpacked. */
export function uploadLimits(messageBytesMax: number): UnpackLimits {
  return {
    messagesMax: UPLOAD_MESSAGES_MAX,
    entriesMax: ENTRIES_MAX,
    unpackedBytesMax: uploadBytesMax(messageBytesMax),
  }
}

/** The bytes of one upload, all its files and fields together. */
export function uploadBytesMax(messageBytesMax: number): number {
  return messageBytesMax * 2
}

/** Only what holds messages goes to the unpacker; a bare message costs a look at its start. */
export function createUnpackUpload(unpack: Unpacker, limits: UnpackLimits): UnpackUpload {
  return async (bytes, name, { msMax, ...left } = {}) => {
    if (containerOf(bytes) === undefined) return [{ name, raw: bytes }]
    try {
      return await unpack({ name, bytes }, { ...limits, ...left }, msMax)
    } catch {
      // It killed its thread, or took too long: nothing that a mail program made does.
      return [{ name, refusal: 'damaged-archive' }]
    }
  }
}
