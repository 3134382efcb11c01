import { fork } from 'node:child_process'
import path from 'node:path'

/** What trees are grown from: lines of values, and the column they are to predict. */
export type ToGrow = { csv: string; label: string }

/** The model's bytes, and how much each feature improved the trees. */
export type Grown = { content: Uint8Array; gains: Record<string, number> }

const GROW_MS_MAX = 30 * 60_000

/**
 * Gradient-boosted trees for two classes, with the library's settings: 300 trees of six levels at
 * most, each a tenth of a step, stopped when a tenth of the rows that is held back gets worse. The
 * same lines give the same trees. Runs in a process of its own.
 *
 * @throws Error when it fails, or is not done in half an hour
 */
export async function growTrees(rows: ToGrow): Promise<Grown> {
  const file = path.join(import.meta.dirname, 'grow-trees-process.ts')
  const child = fork(file, [], {
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    timeout: GROW_MS_MAX,
    killSignal: 'SIGKILL',
  })
  let said = ''
  child.stderr?.on('data', (chunk) => (said = `${said}${String(chunk)}`.slice(-2_000)))
  return new Promise((resolve, reject) => {
    child.once('message', (answer: Grown | { fault: string }) => {
      if ('fault' in answer) reject(new Error(`No trees could be grown: ${answer.fault}`))
      else resolve(answer)
    })
    child.once('error', reject)
    child.once('close', (code, signal) => {
      reject(new Error(`The training ended early (${signal ?? code}). ${said}`))
    })
    child.send(rows)
  })
}
