import { isMainThread } from 'node:worker_threads'
import { zstdDecompressSync } from 'node:zlib'
import type { ParserChunk, ParserTask } from '../../src/parsing/parser-pool.ts'

/** A text that makes the thread stall forever on a message that contains it. */
export const STALLING_WORDS = 'stalls-for-good'

/** A message on which this thread stalls, unless only its header and links are read. */
export const STALLING_MESSAGE = Buffer.from(
  `From: a@a.example\r\nSubject: ${STALLING_WORDS}\r\n\r\nWords, and https://b.example/offer.\r\n`,
)
/** A message on which this thread always stalls. */
export const POISON = Buffer.from(`Subject: ${STALLING_WORDS}, always\r\n\r\n`)

const runs = isMainThread ? undefined : await import('../../src/parsing/parser-thread.ts')

/**
 * A parser thread that never finishes a message with `STALLING_WORDS`. It parses all other messages
 * as usual, and also the header of such a message and its links.
 */
export default function run(chunk: ParserChunk): Promise<unknown> | undefined {
  const index = chunk.tasks.findIndex(stalls)
  if (index >= 0) {
    Atomics.store(chunk.progress, 0, index)
    for (;;);
  }
  return runs?.default(chunk)
}

function stalls(task: ParserTask): boolean {
  if (task.work === 'compose' && task.isHeaderOnly) return false
  const { encoding, content } = task.packed
  const raw = encoding === 'zstd' ? zstdDecompressSync(content) : Buffer.from(content)
  const isReduced = 'options' in task && task.options.isReduced === true
  return raw.includes(STALLING_WORDS) && (!isReduced || raw.equals(POISON))
}
