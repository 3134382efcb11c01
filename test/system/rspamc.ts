import { spawn } from 'node:child_process'

/** The output of rspamc, and how it ended. */
export type Spoken = { code: number | null; text: string }

/**
 * Runs the real rspamc against a port of this machine.
 *
 * @throws Error if it is not installed, because a skipped test would show nothing
 */
export async function rspamc(
  port: number,
  args: readonly string[],
  message: Uint8Array = new Uint8Array(),
): Promise<Spoken> {
  const program = process.env['RSPAMC'] ?? 'rspamc'
  const child = spawn(program, ['-h', `127.0.0.1:${port}`, ...args])
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => (text += String(chunk)))
  }
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('close', resolve)
    child.once('error', (cause) => {
      reject(new Error('rspamc is missing: apt-get install rspamd', { cause }))
    })
  })
  child.stdin.on('error', () => undefined)
  child.stdin.end(message)
  return { code: await ended, text }
}
