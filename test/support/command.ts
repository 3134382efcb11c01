import { Readable } from 'node:stream'
import type { App } from '../../src/app.ts'
import { type Operations, runOperation } from '../../src/cli/command.ts'

/** How a command ended, and what it wrote. */
export type Ran = { code: number; stdout: string; stderr: string }

/**
 * Runs an operation as its command does, on parts of an application. The arguments begin with the
 * second word of the command.
 */
export async function runCommand(
  operations: Operations,
  args: readonly string[],
  app: Partial<App>,
  input = '',
): Promise<Ran> {
  const written = { stdout: '', stderr: '' }
  const stream = (name: 'stdout' | 'stderr') => ({
    write: (text: string) => (written[name] += text),
  })
  const streams = {
    stdin: Readable.from([Buffer.from(input)]),
    stdout: stream('stdout'),
    stderr: stream('stderr'),
  }
  const open = { config: { needsFourEyes: false }, ...app } as App
  const code = await runOperation(operations, args, (work) => work(open), streams)
  return { code, ...written }
}
