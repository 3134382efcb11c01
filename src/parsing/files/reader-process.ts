import type { ChosenFile, FileKind } from './choose-files.ts'
import { prepareQrCodes } from './qr-codes.ts'
import { type FileFinding, readFile } from './read-file.ts'

// The program of the process that reads files. Its channel is its only connection: it reads one
// file at a time and answers with what it found, also in between.

/** A file to read, as it arrives. */
export type FileTask = { number: number; content: Uint8Array } & Pick<ChosenFile, 'needsLook'>

/** `isLast`: the finding is complete. */
export type FileAnswer =
  | { isReady: true }
  | { number: number; finding: FileFinding; isLast: boolean }

const kind = process.argv[2] as FileKind

function answer(message: FileAnswer): void {
  process.send?.(message)
}

async function read({ number, content, needsLook }: FileTask): Promise<void> {
  const { buffer, byteOffset, byteLength } = content
  const file = { kind, needsLook, content: Buffer.from(buffer, byteOffset, byteLength) }
  const finding = await readFile(file, (part) => {
    answer({ number, finding: part, isLast: false })
  })
  answer({ number, finding, isLast: true })
}

// A signal of the terminal goes to the whole group; the parent decides when this process ends.
process.on('SIGINT', () => undefined)
process.on('disconnect', () => process.exit())
process.on('message', (task: FileTask) => void read(task))
await prepareQrCodes()
// Loads the library for PDF files before the first file, whose time is limited.
if (kind === 'pdf') await readFile({ kind, content: Buffer.alloc(0), needsLook: false }, String)
answer({ isReady: true })
