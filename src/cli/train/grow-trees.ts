import { fork } from 'node:child_process'
import path from 'node:path'

/** The training input: CSV rows, and the column to predict. */
export type ToGrow = { csv: string; label: string }

/** The bytes of the model, and how much each feature improved the trees. */
export type Grown = { content: Uint8Array; gains: Record<string, number> }

const GROW_MS_MAX = 30 * 60_000

/**
 * Trains gradient-boosted trees for two classes with the library's defaults: at most 300 trees of
 * depth six, a learning rate of 0.1, and early stopping on a tenth of the rows. The same rows give
 * the same trees. Runs in a separate process.
 *
 * @throws Error if it fails or takes longer than half an hour
 */
export async function growTrees(rows: ToGrow): Promise<Grown> {
  const file = path.join(import.meta.dirname, 'grow-trees-process.ts')
  const child = fork(file, [], {
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    timeout: GROW_MS_MAX,
    killSignal: 'SIGKILL',
  })
  let output = ''
  child.stderr?.on('data', (chunk) => (output = `${output}${String(chunk)}`.slice(-2_000)))
  return new Promise((resolve, reject) => {
    child.once('message', (answer: Grown | { fault: string }) => {
      if ('fault' in answer) reject(new Error(`Training failed: ${answer.fault}`))
      else resolve(answer)
    })
    child.once('error', reject)
    child.once('close', (code, signal) => {
      reject(new Error(`The training process ended unexpectedly (${signal ?? code}). ${output}`))
    })
    child.send(rows)
  })
}
