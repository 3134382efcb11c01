import { ArchiveReader, libarchiveWasm } from 'libarchive-wasm'
import { ENTRIES_MAX } from '../../pieces/file-contents.ts'
import type { PackedFile } from './archive.ts'

type Limits = { isRead: (name: string) => boolean; ofFile: number; ofAll: number }

/**
 * Lists a RAR, 7z, tar, xz, bzip2 or cabinet file, in one pass, and unpacks the files that
 * `isRead`, each up to a limit on its bytes. Of a damaged archive, what is before the damage
 * counts. If its names are encrypted, it has one file without a name.
 */
export async function listArchive(content: Buffer, limits: Limits): Promise<PackedFile[]> {
  const library = await libarchiveWasm()
  const files: PackedFile[] = []
  let left = limits.ofAll
  let reader: ArchiveReader | undefined
  try {
    reader = new ArchiveReader(library, new Int8Array(content))
    for (let entry = reader.nextEntry(); entry; entry = reader.nextEntry()) {
      if (files.length >= ENTRIES_MAX) break
      const name = `${entry.getPathname()}${entry.getFiletype() === 'Directory' ? '/' : ''}`
      const isEncrypted = entry.isEncrypted()
      const bytesMax = isEncrypted || !limits.isRead(name) ? 0 : Math.min(limits.ofFile, left)
      const unpacked = { content: Buffer.alloc(0) }
      files.push({ name, isEncrypted, read: () => unpacked.content })
      // The size that an entry states may be missing, or wrong.
      if (bytesMax > 0) unpacked.content = Buffer.from(reader.readData(bytesMax))
      left -= unpacked.content.length
      entry.skipData()
    }
    const isLocked = files.length === 0 && reader.hasEncryptedData() === true
    if (isLocked) files.push({ name: '', isEncrypted: true, read: () => Buffer.alloc(0) })
  } catch {
    // The library throws at damage.
  }
  return files
}
