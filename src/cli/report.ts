import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { buffer } from 'node:stream/consumers'
import { reasonOf, UsageError } from '../errors.ts'
import { containerOf, type Unpacked, unpackFile } from '../mail/containers/unpack-file.ts'
import { jsonOf } from '../mail/text.ts'
import type { ChoiceName } from '../reports/message-refusal.ts'
import type { Terminal } from '../processes/add-account.ts'

export type ReportRequest = {
  files: readonly string[]
  url: string
  token: string
  kind: string
}

/** The request as on the command line: the token is still in a file. */
export type ReportArguments = Omit<ReportRequest, 'token'> & {
  tokenFile: string | undefined
  /** The folder whose messages are reported instead of files. */
  spool: string | undefined
}

type Print = (line: string) => void

/** Parses `FILE…|--spool FOLDER --to URL [--token-file FILE] [--kind spam|phishing|not-spam]`. */
export function parseReport(args: readonly string[]): ReportArguments {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      to: { type: 'string' },
      'token-file': { type: 'string' },
      kind: { type: 'string', default: 'spam' },
      spool: { type: 'string' },
    },
  })
  const problems: string[] = []
  if (positionals.length === 0 && values.spool === undefined) {
    problems.push('Name at least one FILE, or - for standard input, or a --spool FOLDER.')
  }
  if (positionals.length > 0 && values.spool !== undefined) {
    problems.push('With --spool, name no FILE.')
  }
  if (!values.to || !URL.canParse(values.to))
    problems.push('--to must be the URL of a Signalpost server.')
  const tokenFile = values['token-file']
  if (positionals.includes('-') && tokenFile === undefined) {
    problems.push(
      'Standard input is the message, so the token must come from a file: use --token-file.',
    )
  }
  if (problems.length > 0) throw new UsageError(problems)
  const { to = '', kind, spool } = values
  return { files: positionals, url: to.replace(/\/+$/, ''), tokenFile, kind, spool }
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
      if (containerOf(bytes) === 'msg') {
        io.print(`${file}: ${await reportOne(bytes, request, 'application/vnd.ms-outlook')}`)
        continue
      }
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
    if (one.rebuiltFrom) throw new Error('Report Outlook files on their own, not in an archive.')
    print(`${one.name}: ${await reportOne(one.raw, request)}`)
    return 0
  } catch (error) {
    complain(`${one.name}: ${reasonOf(error)}`)
    return 1
  }
}

async function reportOne(raw: Buffer, request: ReportRequest, type?: string): Promise<string> {
  const answer = await postMessage(raw, request, type)
  if (answer.is === 'taken') return answer.said
  throw new Error(answer.why)
}

/**
 * What a service answered. `away`: it is not there, cannot take reports now, or does not accept the
 * token, so the same request may succeed later.
 */
export type Answered = { is: 'taken'; said: string } | { is: 'refused' | 'away'; why: string }

const PATIENCE_MS = 120_000

type PostedReport = Omit<ReportRequest, 'files'> & {
  user?: string | undefined
  /** What is reported of a message that carries another one, if it is doubtful. */
  report?: ChoiceName | undefined
}

/** Reports a message, or another file with one message. Rejects if nobody answers. */
export async function postMessage(
  raw: Buffer,
  { url, token, kind, user, report }: PostedReport,
  type = 'message/rfc822',
): Promise<Answered> {
  const choice = report === undefined ? '' : `&report=${report}`
  const path = `/api/v1/reports?kind=${encodeURIComponent(kind)}${choice}`
  const headers = { 'content-type': type, ...(user !== undefined && { 'on-behalf-of': user }) }
  const answer = await post(path, { url, token, headers, body: new Uint8Array(raw) })
  const { status, isTaken, id, title, why } = answer
  if (isTaken && id) {
    return { is: 'taken', said: `${status === 200 ? 'reported before' : 'accepted'} as ${id}` }
  }
  // Another server than Signalpost, such as a proxy, may answer too.
  const isFinal = title !== '' && [400, 413, 415, 422].includes(status)
  return { is: isFinal ? 'refused' : 'away', why }
}

/** A mailbox user of a provider, by the key that the provider chose. */
export type MailboxUser = { key: string; address: string }

/**
 * Asks for a test message to the address of the account, or of a mailbox user, unless the mail
 * servers are known. Returns the Message-ID of the message to report; undefined if there is none.
 * Rejects if the service does not answer as it should.
 */
export async function askForTestMessage({
  user,
  ...request
}: Pick<ReportRequest, 'url' | 'token'> & {
  user?: MailboxUser | undefined
}): Promise<string | undefined> {
  const forUser = user && {
    headers: { 'on-behalf-of': user.key, 'content-type': 'application/json' },
    body: JSON.stringify({ address: user.address }),
  }
  const asked = await post('/api/v1/test-messages', { ...request, ...forUser })
  const { status, isTaken, messageId, why } = asked
  if (!isTaken && status !== TOO_MANY) throw new Error(why)
  return messageId || undefined
}

const TOO_MANY = 429

type Posted = Pick<ReportRequest, 'url' | 'token'> & Pick<RequestInit, 'headers' | 'body'>

async function post(path: string, { url, token, headers, body }: Posted) {
  const answer = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { ...headers, authorization: `Bearer ${token}` },
    ...(body && { body }),
    signal: AbortSignal.timeout(PATIENCE_MS),
  }).catch((cause: unknown) => {
    throw new Error(`${url} does not answer (${networkReasonOf(cause)}).`, { cause })
  })
  const { status, ok: isTaken } = answer
  const text = await answer.text()
  const said = Object(jsonOf(text)) as Record<string, unknown>
  const [id = '', messageId = '', title = '', detail = ''] = [
    'id',
    'message_id',
    'title',
    'detail',
  ].map((name) => String(said[name] ?? ''))
  const why = title
    ? `${title}: ${detail}`
    : `The server answered ${status}, and is not a Signalpost. Check the address.`
  const isTokenWrong = status === 401 || status === 403
  const hint = isTokenWrong ? ` Create a token at ${url}/account/tokens.` : ''
  return { status, isTaken, id, messageId, title, why: why + hint }
}

/** The reason of a request that failed, such as a refused connection or an unknown certificate. */
function networkReasonOf(error: unknown): string {
  const { cause = error } = error as Error
  return cause instanceof AggregateError ? reasonOf(cause.errors[0]) : reasonOf(cause)
}
