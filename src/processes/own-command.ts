import { execFile } from 'node:child_process'
import { setPriority } from 'node:os'
import path from 'node:path'
import { reasonOf } from '../errors.ts'

const OUTPUT_BYTES_MAX = 1_000_000
/** As `nice 10`: reports and mail servers come first. */
const PRIORITY = 10

/**
 * Runs a command of this program with the settings of this process, in a process of its own with a
 * low priority, because it keeps a core busy for minutes. Returns what it printed.
 *
 * @throws with what it wrote to standard error, if it fails or takes longer than `msMax`
 */
export async function runOwnCommand(args: readonly string[], msMax: number): Promise<string> {
  const main = path.join(import.meta.dirname, '..', `main${path.extname(import.meta.filename)}`)
  const limits = { timeout: msMax, maxBuffer: OUTPUT_BYTES_MAX }
  const said = await new Promise<string>((resolve, reject) => {
    const child = execFile(process.execPath, [main, ...args], limits, (error, stdout, stderr) => {
      if (!error) return resolve(stdout)
      const reason = stderr.trim() || reasonOf(error)
      reject(new Error(`The command ${args[0]} failed: ${reason}`, { cause: error }))
    })
    if (child.pid !== undefined) setPriority(child.pid, PRIORITY)
  })
  return said.trim()
}
