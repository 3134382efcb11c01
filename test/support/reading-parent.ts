import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { until } from './process.ts'

const program = path.join(import.meta.dirname, 'reading-process.ts')

/** Starts a process that has files read; returns it, and the id of the one that reads. */
export async function startParent(
  state: 'idle' | 'busy',
): Promise<{ parent: ChildProcess; pid: number }> {
  const parent = spawn(process.execPath, [program, state], { stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  parent.stdout?.on('data', (bytes: Buffer) => (said += bytes.toString()))
  const pid = await until('the process that reads', () => Number(said.trim()) || undefined)
  return { parent, pid }
}

/** Whether a process runs. */
export function isRunning(pid: number): boolean {
  try {
    // A process that has ended may wait for its parent.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}
