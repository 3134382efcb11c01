import { chmod, mkdtemp, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'

const MEMORY = '/dev/shm'
const MEMORY_BYTES_MIN = 2 * 2 ** 30

/**
 * Creates a folder for the data of a PostgreSQL that may run as any account. The folder is in
 * memory if 2 GiB are free there, because creating and removing a database of 800 files takes many
 * times longer on a disk.
 */
export async function makeScratchFolder(name: string): Promise<string> {
  const parent = (await hasRoom()) ? MEMORY : tmpdir()
  const folder = await mkdtemp(path.join(parent, `signalpost-${name}-`))
  await chmod(folder, 0o711)
  return folder
}

/** Whether a folder that was made here is in memory. */
export function isInMemory(folder: string): boolean {
  return folder.startsWith(`${MEMORY}/`)
}

async function hasRoom(): Promise<boolean> {
  try {
    const { bavail, bsize } = await statfs(MEMORY)
    return bavail * bsize >= MEMORY_BYTES_MIN
  } catch {
    return false
  }
}
