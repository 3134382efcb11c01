import { createInterface } from 'node:readline'
import { Writable, type Readable } from 'node:stream'
import { UsageError } from '../errors.ts'

/** Standard input, and where the prompt is shown. */
export type Terminal = { stdin: Readable & { isTTY?: boolean }; stderr: { write: Print } }

type Print = (text: string) => unknown

/**
 * Reads a secret from standard input: its first line, or what is typed on a terminal, which does
 * not show it. Secrets are not arguments, because every user of the machine can list those.
 *
 * @throws UsageError when there is none
 */
export async function readSecret(name: string, { stdin, stderr }: Terminal): Promise<string> {
  const isTyped = stdin.isTTY === true
  if (isTyped) stderr.write(`${name}: `)
  const lines = createInterface({ input: stdin, output: nowhere(), terminal: isTyped })
  try {
    for await (const line of lines) if (line !== '') return line
  } finally {
    lines.close()
    if (isTyped) stderr.write('\n')
  }
  throw new UsageError([`${name}: nothing was given on standard input.`])
}

/** The same for a new secret: on a terminal it is typed twice. */
export async function readNewSecret(name: string, terminal: Terminal): Promise<string> {
  const secret = await readSecret(name, terminal)
  if (terminal.stdin.isTTY !== true) return secret
  if ((await readSecret(`${name}, again`, terminal)) === secret) return secret
  throw new UsageError([`${name}: the two are not the same.`])
}

/** Takes what a terminal would show. */
function nowhere(): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done() })
}
