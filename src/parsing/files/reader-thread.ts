import { parentPort } from 'node:worker_threads'
import type { ChosenFile } from './choose-files.ts'
import { prepareQrCodes } from './qr-codes.ts'
import { type FileFinding, readFile } from './read-file.ts'

// The program of a thread that reads files, one at a time. It says what it found so far.

/** A file to read, as it arrives. */
export type FileTask = Omit<ChosenFile, 'content'> & { number: number; content: Uint8Array }

/** `isLast`: the finding is complete. */
export type ThreadAnswer = 'ready' | { finding: FileFinding; isLast: boolean }

function answer(message: ThreadAnswer): void {
  parentPort?.postMessage(message)
}

async function read({ content, ...task }: FileTask): Promise<void> {
  const file = {
    ...task,
    content: Buffer.from(content.buffer, content.byteOffset, content.byteLength),
  }
  const finding = await readFile(file, (part) => answer({ finding: part, isLast: false }))
  answer({ finding, isLast: true })
}

// The libraries are loaded before the first file, whose time is limited.
await prepareQrCodes()
await readFile({ kind: 'pdf', content: Buffer.alloc(0), needsLook: false }, String)
parentPort?.on('message', (task: FileTask) => void read(task))
answer('ready')
