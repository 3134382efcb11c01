import { createReadStream, createWriteStream } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { ReadableStream } from 'node:stream/web'
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib'
import { UsageError } from '../errors.ts'

/** The first bytes of a file that was encrypted with age (age-encryption.org/v1). */
const AGE = Buffer.from('age-encryption.org/')
/** The end of the name of a file that is not complete. */
export const UNFINISHED = '.unfinished'
const LINE_BYTES_MAX = 10_000_000
const compression = {
  params: { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_checksumFlag]: 1 },
}

/**
 * Writes bytes to a file: compressed, and encrypted with age if there is a recipient. The file has
 * its name only when it is complete and on disk.
 *
 * @throws UsageError if the recipient is not a public key of age
 */
export async function writeBackupFile(
  file: string,
  bytes: AsyncIterable<Buffer>,
  recipient: string | undefined,
): Promise<void> {
  const unfinished = `${file}${UNFINISHED}`
  const source = Readable.from(bytes, { objectMode: false })
  const compress = createZstdCompress(compression)
  const output = createWriteStream(unfinished, { mode: 0o600, flush: true })
  try {
    if (recipient === undefined) await pipeline(source, compress, output)
    else await pipeline(source, compress, encryptTo(recipient), output)
    await rename(unfinished, file)
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error
  }
}

function encryptTo(recipient: string) {
  return async function* (plain: AsyncIterable<Buffer>) {
    const { Encrypter } = await import('age-encryption')
    const encrypter = new Encrypter()
    try {
      encrypter.addRecipient(recipient)
    } catch {
      throw new UsageError(['BACKUP_RECIPIENT is not a public key of age, such as "age1…".'])
    }
    yield* await encrypter.encrypt(ReadableStream.from(plain))
  }
}

/**
 * Returns the bytes of a file that `writeBackupFile` wrote. `identity` is the private key of age.
 *
 * @throws UsageError if the file is encrypted and there is no key; reading does if it does not fit
 */
export async function readBackupFile(
  file: string,
  identity: string | undefined,
): Promise<BackupReader> {
  const isSealed = await isEncrypted(file)
  if (isSealed && identity === undefined) {
    throw new UsageError(['The backup is encrypted. Name the file of its private key with --key.'])
  }
  const stored = createReadStream(file)
  const plain = createZstdDecompress()
  const reading =
    isSealed && identity !== undefined
      ? pipeline(stored, decryptWith(identity), plain)
      : pipeline(stored, plain)
  // Whoever reads `plain` gets the error, but no one reads while the database is prepared.
  reading.catch(() => undefined)
  plain.on('error', () => undefined)
  return createReader(plain)
}

async function isEncrypted(file: string): Promise<boolean> {
  await using handle = await open(file)
  const { buffer } = await handle.read(Buffer.alloc(AGE.length), 0, AGE.length, 0)
  return buffer.equals(AGE)
}

function decryptWith(identity: string) {
  return async function* (sealed: AsyncIterable<Buffer>) {
    const { Decrypter } = await import('age-encryption')
    const decrypter = new Decrypter()
    const source = ReadableStream.from(sealed)
    const open = async () => {
      decrypter.addIdentity(identity)
      return decrypter.decrypt(source)
    }
    yield* await open().catch(() => {
      throw new UsageError(['The private key does not fit the backup.'])
    })
  }
}

/** Reads lines and chunks of a backup. All functions throw if the file ends too early. */
export type BackupReader = {
  readLine: () => Promise<unknown>
  /** Reads the chunks up to the empty one. */
  readChunks: () => AsyncGenerator<Buffer>
  close: () => void
}

function createReader(stream: Readable): BackupReader {
  const source = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  let held: Buffer = Buffer.alloc(0)

  async function more(): Promise<void> {
    const { value, done } = await source.next()
    if (done === true) throw new Error('The backup file is not complete.')
    held = held.length === 0 ? value : Buffer.concat([held, value])
  }

  async function take(bytes: number): Promise<Buffer> {
    while (held.length < bytes) await more()
    const taken = held.subarray(0, bytes)
    held = held.subarray(bytes)
    return taken
  }

  return {
    async readLine() {
      let end = held.indexOf(0x0a)
      for (; end < 0; end = held.indexOf(0x0a)) {
        if (held.length > LINE_BYTES_MAX) throw new Error('This is not a backup of Signalpost.')
        await more()
      }
      const line = await take(end + 1)
      return JSON.parse(line.toString('utf8')) as unknown
    },
    async *readChunks() {
      for (;;) {
        const length = (await take(4)).readUInt32BE()
        if (length === 0) return
        yield await take(length)
      }
    },
    close: () => void stream.destroy(),
  }
}

/** A line of JSON, as `readLine` reads it. */
export function jsonLine(value: object): Buffer {
  return Buffer.from(`${JSON.stringify(value)}\n`)
}

/** A chunk, as `readChunks` reads it; an empty one is the last. */
export function chunkOf(bytes: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}
