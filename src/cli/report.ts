import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { buffer } from 'node:stream/consumers'
import { reasonOf, UsageError } from '../errors.ts'
import { type Unpacked, unpackFile } from '../mail/containers/unpack-file.ts'
import type { Terminal } from '../processes/add-account.ts'

/** The request of `report`. */
export type ReportRequest = {
  files: readonly string[]
  url: string
  token: string
  kind: string
}

/** The request as on the command line: the token is still in a file. */
export type ReportArguments = Omit<ReportRequest, 'token'> & { tokenFile: string | undefined }

type Print = (line: string) => void

/** Parses `FILE… --to URL [--token-file FILE] [--kind spam|phishing|not-spam]`. */
export function parseReport(args: readonly string[]): ReportArguments {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      to: { type: 'string' },
      'token-file': { type: 'string' },
      kind: { type: 'string', default: 'spam' },
    },
  })
  const problems: string[] = []
  if (positionals.length === 0) problems.push('Name at least one FILE, or - for standard input.')
  if (!values.to || !URL.canParse(values.to))
    problems.push('--to must be the URL of a Signalpost server.')
  const tokenFile = values['token-file']
  if (positionals.includes('-') && tokenFile === undefined) {
    problems.push(
      'Standard input is the message, so the token must come from a file: use --token-file.',
    )
  }
  if (problems.length > 0) throw new UsageError(problems)
  const { to = '', kind } = values
  return { files: positionals, url: to.replace(/\/+$/, ''), tokenFile, kind }
}

/** Reads the token from the given file, or from standard input if no file is given. */
export async function readToken(file: string | undefined, terminal: Terminal): Promise<string> {
  if (file !== undefined) return (await readFile(file, 'utf8')).trim()
  const { readSecret } = await import('../processes/add-account.ts')
  return readSecret('Token', terminal)
}

/** Limits for the user's own local files. */
export const ownFileLimits = {
  messagesMax: 100_000,
  entriesMax: 100_000,
  unpackedBytesMax: 1_000_000_000,
}

/**
 * Reports each file, or each message of a mailbox file or archive, and prints a line for each.
 * Returns how many were not accepted.
 */
export async function reportFiles(
  request: ReportRequest,
  io: { stdin: NodeJS.ReadableStream; print: Print; complain: Print },
): Promise<number> {
  let refused = 0
  for (const file of request.files) {
    try {
      const bytes = file === '-' ? await buffer(io.stdin) : await readFile(file)
      for (const one of await unpackFile({ name: file, bytes }, ownFileLimits)) {
        refused += await reportUnpacked(one, request, io)
      }
    } catch (error) {
      refused++
      io.complain(`${file}: ${reasonOf(error)}`)
    }
  }
  return refused
}

async function reportUnpacked(
  one: Unpacked,
  request: ReportRequest,
  { print, complain }: { print: Print; complain: Print },
): Promise<0 | 1> {
  try {
    if ('refusal' in one) throw new Error(`Not reported: ${one.refusal}.`)
    if (one.rebuiltFrom)
      throw new Error('Outlook files cannot be reported here. Upload them in the web form.')
    print(`${one.name}: ${await reportOne(one.raw, request)}`)
    return 0
  } catch (error) {
    complain(`${one.name}: ${reasonOf(error)}`)
    return 1
  }
}

async function reportOne(raw: Buffer, { url, token, kind }: ReportRequest): Promise<string> {
  const answer = await fetch(`${url}/api/v1/reports?kind=${encodeURIComponent(kind)}`, {
    method: 'POST',
    headers: { 'content-type': 'message/rfc822', authorization: `Bearer ${token}` },
    body: new Uint8Array(raw),
  })
  const body = (await answer.json()) as { id?: string; title?: string; detail?: string }
  if (!answer.ok) throw new Error(`${body.title ?? answer.statusText}: ${body.detail ?? ''}`)
  return `${answer.status === 200 ? 'reported before' : 'accepted'} as ${body.id ?? ''}`
}
