import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { parentPort } from 'node:worker_threads'
import type { FileToRead } from './choose-files.ts'
import { prepareQrCodes, qrMemory, renewQrCodes } from './qr-codes.ts'
import { type FileFinding, readFile } from './read-file.ts'

// The program of a thread that reads files, one at a time. It says what it found so far, and when
// it can take a file.

export type FileTask = Omit<FileToRead, 'content'> & { number: number; content: Uint8Array }

/** `isLast`: the finding is complete. */
export type ThreadAnswer = 'ready' | { finding: FileFinding; isLast: boolean }

/** Memory in bytes above that at the start, after which a thread gives back what it can. */
const LEFT_BYTES_MAX = 12_000_000

/**
 * Maximum length of an array that is created as a whole. V8 ends the process, not only the thread,
 * when one allocation exceeds the memory of the thread, and a file of some bytes may ask for that.
 */
const ARRAY_LENGTH_MAX = 2_000_000

function limitArrays(): void {
  const check = ([length, ...others]: unknown[]) => {
    if (others.length > 0 || typeof length !== 'number' || length <= ARRAY_LENGTH_MAX) return
    throw new RangeError('Invalid array length')
  }
  globalThis.Array = new Proxy(Array, {
    apply(target, own, given: unknown[]) {
      check(given)
      return Reflect.apply(target, own, given) as unknown
    },
    construct(target, given: unknown[], made) {
      check(given)
      return Reflect.construct(target, given, made) as object
    },
  })
}

function answer(message: ThreadAnswer): void {
  parentPort?.postMessage(message)
}

function bytesNow(): number {
  const { total_heap_size: heap, external_memory: external } = getHeapStatistics()
  return heap + external + qrMemory()
}

limitArrays()
// The libraries are loaded before the first file, whose time is limited.
await prepareQrCodes()
await readFile({ kind: 'pdf', content: Buffer.alloc(0), needsLook: false }, String)
setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void
const bytesAtStart = bytesNow()

async function read({ content, ...task }: FileTask): Promise<void> {
  const file = {
    ...task,
    content: Buffer.from(content.buffer, content.byteOffset, content.byteLength),
  }
  const finding = await readFile(file, (part) => answer({ finding: part, isLast: false }))
  if (bytesNow() - bytesAtStart > LEFT_BYTES_MAX) {
    answer({ finding, isLast: false })
    await renewQrCodes()
    collectGarbage()
  } else if (task.kind === 'packed') {
    // The memory of the library for archives is not counted.
    collectGarbage()
  }
  answer({ finding, isLast: true })
  answer('ready')
}

parentPort?.on('message', (task: FileTask) => void read(task))
answer('ready')
