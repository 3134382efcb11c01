import { readFile } from 'node:fs/promises'
import type { EmbeddedServer } from '../../src/db/embedded.ts'
import { postmasterOf } from './own-database.ts'

/**
 * Freezes a server: it accepts connections, because the system does, and answers nothing. Returns a
 * function that lets it go on.
 */
export async function freeze(server: Pick<EmbeddedServer, 'folder'>): Promise<() => void> {
  const postmaster = await postmasterOf(server)
  // First the process that starts the others.
  process.kill(postmaster, 'SIGSTOP')
  const children = await readFile(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8')
  const all = [postmaster, ...children.trim().split(' ').map(Number)]
  const signal = (name: 'SIGSTOP' | 'SIGCONT') => {
    for (const pid of all) {
      try {
        process.kill(pid, name)
      } catch {
        // It ended before.
      }
    }
  }
  signal('SIGSTOP')
  return () => signal('SIGCONT')
}
