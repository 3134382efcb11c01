import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { analyzeMessage } from '../analysis/analyze.ts'
import type { Analysis, AnalysisOptions } from '../analysis/analyze.ts'
import { isCidr } from '../mail/ip.ts'

/** Where a command reads and writes. */
export type CommandIo = {
  stdin: NodeJS.ReadableStream
  stdout: NodeJS.WritableStream
  stderr: NodeJS.WritableStream
}

const help = `Usage: signalpost inspect [options] FILE...
       signalpost inspect [options] --jsonl < FILE-NAMES

Prints, as JSON, everything the analysis finds in a message: its hops, its origin and
why, links, attachments, how to unsubscribe. Needs no database and asks nobody. The
FILE - is standard input.

Options:
  --provider CIDR[,CIDR...]  relays of the mailbox provider that received the message
  --no-stamps                pass over the verdicts that provider stamped on it
  --jsonl                    read file names from standard input, one to a line, and
                             write one line of JSON for each, in the same order
  --help                     show this text

Exit status: 0 done, 1 a file could not be read, 2 misused.
`

const filesAhead = 8

/**
 * The command `signalpost inspect`: one JSON object for each message, indented unless --jsonl.
 * Answers the exit status: 0 done, 1 when a file could not be read, 2 misused. With --jsonl an
 * unreadable file is a line `{file, error}` and no failure.
 */
export async function inspect(args: readonly string[], io: CommandIo): Promise<number> {
  const command = readArguments(args)
  if ('misuse' in command) {
    io.stderr.write(`${command.misuse}\n\n${help}`)
    return 2
  }
  if (command.isHelp) {
    io.stdout.write(help)
    return 0
  }
  return command.isJsonl
    ? inspectLines(command.options, io)
    : inspectFiles(command.files, command.options, io)
}

type Command =
  | { misuse: string }
  | { isHelp: boolean; isJsonl: boolean; files: string[]; options: AnalysisOptions }

function readArguments(args: readonly string[]): Command {
  const parsed = parse(args)
  if (typeof parsed === 'string') return { misuse: parsed }
  const { values, positionals: files } = parsed
  const isJsonl = values.jsonl ?? false
  const isHelp = values.help ?? false
  const trustedRelays = (values.provider ?? []).flatMap((list) => list.split(','))
  const wrong = trustedRelays.filter((cidr) => !isCidr(cidr))
  if (wrong.length > 0) return { misuse: `Not a CIDR: ${wrong.join(', ')}` }
  if (!isHelp && !isJsonl && files.length === 0) return { misuse: 'Which file?' }
  if (isJsonl && files.length > 0)
    return { misuse: 'With --jsonl the files come on standard input.' }
  const ignoreStamps = values['no-stamps'] ?? false
  return { isHelp, isJsonl, files, options: { trustedRelays, ignoreStamps } }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        provider: { type: 'string', multiple: true },
        'no-stamps': { type: 'boolean' },
        jsonl: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    })
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

async function inspectFiles(
  files: readonly string[],
  options: AnalysisOptions,
  io: CommandIo,
): Promise<number> {
  let status = 0
  for (const file of files) {
    const result = await inspectFile(file, options, io)
    if ('error' in result) {
      io.stderr.write(`${file}: ${String(result.error)}\n`)
      status = 1
    } else await write(io.stdout, `${JSON.stringify(result, undefined, 2)}\n`)
  }
  return status
}

/** Reads a few files ahead of the analysis, so that it need not wait for the disk. */
async function inspectLines(options: AnalysisOptions, io: CommandIo): Promise<number> {
  const ahead: { file: string; raw: Promise<Buffer | Error> }[] = []
  const answerFirst = async () => {
    const first = ahead.shift()
    if (!first) return
    const result = await describe(first.file, await first.raw, options)
    await write(io.stdout, `${JSON.stringify(result)}\n`)
  }
  for await (const file of createInterface({ input: io.stdin, crlfDelay: Infinity })) {
    ahead.push({ file, raw: readMessage(file, io) })
    if (ahead.length >= filesAhead) await answerFirst()
  }
  while (ahead.length > 0) await answerFirst()
  return 0
}

async function inspectFile(file: string, options: AnalysisOptions, io: CommandIo) {
  return describe(file, await readMessage(file, io), options)
}

async function describe(file: string, raw: Buffer | Error, options: AnalysisOptions) {
  if (raw instanceof Error) return { file, error: raw.message }
  try {
    return contractJson(file, await analyzeMessage(raw, options))
  } catch (error) {
    return { file, error: error instanceof Error ? error.message : String(error) }
  }
}

async function readMessage(file: string, io: CommandIo): Promise<Buffer | Error> {
  try {
    return file === '-' ? await readAll(io.stdin) : await readFile(file)
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

async function readAll(stream: NodeJS.ReadableStream): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
}

async function write(stdout: NodeJS.WritableStream, text: string): Promise<void> {
  if (!stdout.write(text)) await once(stdout, 'drain')
}

/** The analysis under the names that others rely on: snake_case, the file first. */
export function contractJson(file: string, analysis: Analysis) {
  const { bytes, sha256, kind, headers, unsubscribe, bounce } = analysis
  return {
    file,
    bytes,
    sha256,
    kind,
    headers: {
      from: headers.from,
      to: headers.to,
      subject: headers.subject,
      date: headers.date,
      message_id: headers.messageId,
      from_address: headers.fromAddress,
      return_path: headers.returnPath,
      reply_to: headers.replyTo,
      list_id: headers.listId,
    },
    hops: analysis.hops,
    origin: analysis.origin,
    origin_obstacle: analysis.originObstacle,
    submitter: analysis.submitter,
    authentication: analysis.authentication,
    links: analysis.links,
    attachments: analysis.attachments,
    fingerprints: analysis.fingerprints,
    shingles: analysis.shingles,
    marketer: analysis.marketer,
    unsubscribe: unsubscribe && {
      https: unsubscribe.https,
      mailto: unsubscribe.mailto,
      one_click: unsubscribe.oneClick,
    },
    bounce: bounce && {
      token: bounce.token,
      results: bounce.results.map(({ replyCode, ...result }) => ({
        ...result,
        reply_code: replyCode,
      })),
    },
    feedback: analysis.feedback,
  }
}
