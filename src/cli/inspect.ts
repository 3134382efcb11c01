import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { parseArgs, styleText } from 'node:util'
import { buffer } from 'node:stream/consumers'
import { shownLine } from '../mail/text.ts'
import { reasonOf } from '../errors.ts'
import { openSaved } from '../mail/containers/saved-message.ts'
import { type Unpacked, unpackFile } from '../mail/containers/unpack-file.ts'
import { isCidr } from '../mail/ip.ts'
import type { DnsTools } from '../origin/authenticity/ask-dns.ts'
import {
  type Analysis,
  type AnalysisOptions,
  analyzeMessage,
  analyzePlainly,
  type PlainAnalysis,
} from '../pieces/analyze.ts'
import { createFileReader, readFilesWith } from '../parsing/files/file-reader.ts'
import { inEnglish } from '../texts/phrases.ts'
import { routeJson } from '../web/api/route-json.ts'
import { ownFileLimits } from './report.ts'

export type CommandIo = {
  stdin: NodeJS.ReadableStream
  stdout: NodeJS.WritableStream
  stderr: NodeJS.WritableStream
  /** The DNS clients for --dns; absent without a resolver. */
  dns?: DnsTools | undefined
}

const help = `Usage: signalpost inspect [options] FILE...
       signalpost inspect [options] --jsonl < FILE-NAMES

Prints everything that the analysis finds in a message as JSON: the hops, the origin and
the reasons for it, links, attachments, and how to unsubscribe. Needs no database, and sends
no DNS queries without --dns. The FILE - is standard input. For a mailbox (.mbox), an archive
(.zip) or an Outlook file (.msg), each message inside is shown.

Options:
  --provider CIDR[,CIDR...]  relays of the mailbox provider that received the message
  --no-stamps                ignore the verdicts that this provider added to the message
  --picture                  draw the route of each message instead of printing JSON
  --dns                      check SPF, DKIM, ARC and DMARC, and look the origin up in DNS
                             blacklists
  --pieces                   also print the shingles and fingerprints of the message
  --jsonl                    read file names from standard input, one per line, and print
                             one line of JSON per message, in the same order, as soon as
                             its name is read; a file with several messages gives a line
                             for each of them, with its number and their count
  --help                     show this text

Exit status: 0 success, 1 a file could not be read, 2 invalid arguments.
`

const messagesAhead = 8
/** Time limit in milliseconds for DNS queries; longer than in a worker, because no queue waits. */
const dnsMsMax = 10_000

/**
 * Runs `signalpost inspect`: prints one JSON object per message, indented unless --jsonl. Returns
 * the exit code: 0 success, 1 if a file could not be read, 2 invalid arguments. With --jsonl, an
 * unreadable file becomes a line `{file, error}` and is not a failure; a program may write a name
 * and wait for its lines before it writes the next one.
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
  const { isJsonl, isDns, isTakenApart, files, options } = command
  if (isDns && !io.dns) {
    io.stderr.write('DNS look-ups are switched off because DNS_SERVERS is "none".\n')
    return 2
  }
  const task = { options, io, isTakenApart, dns: isDns ? io.dns : undefined }
  if (isJsonl) return inspectLines(task)
  return inspectFiles(files, command.isPicture ? drawn : asJson, task)
}

/** How to process each message. */
type Task = {
  options: AnalysisOptions
  io: CommandIo
  dns: DnsTools | undefined
  isTakenApart: boolean
}

/** An analysis, with its pieces if requested. */
type Found = PlainAnalysis & Partial<Analysis>

type Command =
  | { misuse: string }
  | {
      isHelp: boolean
      isJsonl: boolean
      isPicture: boolean
      isDns: boolean
      isTakenApart: boolean
      files: string[]
      options: AnalysisOptions
    }

type Shown = (file: string, analysis: Found, io: CommandIo) => string | Promise<string>

function readArguments(args: readonly string[]): Command {
  const parsed = parse(args)
  if (typeof parsed === 'string') return { misuse: parsed }
  const { values, positionals: files } = parsed
  const isJsonl = values.jsonl ?? false
  const isHelp = values.help ?? false
  const trustedRelays = (values.provider ?? []).flatMap((list) => list.split(','))
  const wrong = trustedRelays.filter((cidr) => !isCidr(cidr))
  if (wrong.length > 0) return { misuse: `Not a CIDR block: ${wrong.join(', ')}` }
  if (!isHelp && !isJsonl && files.length === 0)
    return { misuse: 'Name a FILE, or - for standard input.' }
  if (isJsonl && files.length > 0)
    return { misuse: 'With --jsonl, pass the file names on standard input, not as arguments.' }
  const isPicture = values.picture ?? false
  if (isPicture && isJsonl) return { misuse: 'Use either --picture or --jsonl, not both.' }
  const ignoreStamps = values['no-stamps'] ?? false
  const isDns = values.dns ?? false
  const isTakenApart = values.pieces ?? false
  const readFiles = readFilesWith(createFileReader())
  const options = { trustedRelays, ignoreStamps, readFiles }
  return { isHelp, isJsonl, isPicture, isDns, isTakenApart, files, options }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        provider: { type: 'string', multiple: true },
        'no-stamps': { type: 'boolean' },
        picture: { type: 'boolean' },
        dns: { type: 'boolean' },
        pieces: { type: 'boolean' },
        jsonl: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    })
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

async function inspectFiles(files: readonly string[], show: Shown, task: Task): Promise<number> {
  const { io } = task
  let status = 0
  for (const file of files) {
    for (const one of await messagesIn(file, io)) {
      const result = await analyzeFile(one.name, await prepare(one, task), task)
      if ('error' in result) {
        io.stderr.write(`${one.name}: ${result.error}\n`)
        status = 1
      } else await write(io.stdout, `${await show(one.name, result, io)}\n`)
    }
  }
  return status
}

function asJson(file: string, analysis: Found): string {
  return JSON.stringify(contractJson(file, analysis), undefined, 2)
}

async function drawn(file: string, analysis: Found, { stdout }: CommandIo): Promise<string> {
  const { pictureText } = await import('./picture-text.ts')
  const paint = (style: Parameters<typeof styleText>[0], text: string) =>
    styleText(style, text, { stream: stdout as NodeJS.WriteStream })
  const isTerminal = 'isTTY' in stdout && stdout.isTTY === true
  const heading = `${file}: ${analysis.headers.subject ?? '(no subject)'}`
  return `${shownLine(heading)}\n\n${pictureText(analysis, isTerminal ? paint : undefined)}\n`
}

/**
 * Answers each name as soon as it is read. Queries the DNS a few messages ahead of the analysis, so
 * that it does not wait.
 */
async function inspectLines(task: Task): Promise<number> {
  const answers: Promise<void>[] = []
  let last = Promise.resolve()
  for await (const { one, ...place } of messagesNamed(task.io)) {
    last = answerAfter(last, place, prepare(one, task), task)
    // A failure is thrown where the answer is awaited.
    last.catch(() => undefined)
    if (answers.push(last) >= messagesAhead) await answers.shift()
  }
  await last
  return 0
}

/** The file that contains a message; `messages` is their number if there are several. */
type Place = { file: string; message?: number; messages?: number }

async function* messagesNamed(io: CommandIo): AsyncGenerator<Place & { one: Given }> {
  for await (const file of createInterface({ input: io.stdin, crlfDelay: Infinity })) {
    const found = await messagesIn(file, io)
    const messages = found.length
    for (const [index, one] of found.entries()) {
      yield messages === 1 ? { file, one } : { file, message: index + 1, messages, one }
    }
  }
}

async function answerAfter(
  turn: Promise<void>,
  place: Place,
  prepared: Promise<Prepared>,
  task: Task,
): Promise<void> {
  const [ready] = await Promise.all([prepared, turn])
  const result = await analyzeFile(place.file, ready, task)
  const found = 'error' in result ? result : contractJson(place.file, result)
  await write(task.io.stdout, `${JSON.stringify({ ...place, ...found })}\n`)
}

type Given = Unpacked | { name: string; unread: string }
type Prepared = Error | { raw: Buffer; options: AnalysisOptions }

async function prepare(one: Given, { options, dns: tools }: Task): Promise<Prepared> {
  if ('unread' in one) return new Error(one.unread)
  if ('refusal' in one) return new Error(`No message found: ${one.refusal}.`)
  const saved = openSaved(one.raw)
  const raw = 'message' in saved ? saved.message.raw : one.raw
  if (!tools) return { raw, options }
  // Loaded only here: the libraries that verify signatures take 0.1 s.
  const { askAbout } = await import('../origin/authenticity/ask-dns.ts')
  const dns = await askAbout(raw, options, tools, AbortSignal.timeout(dnsMsMax))
  return { raw, options: { ...options, dns } }
}

async function analyzeFile(
  file: string,
  prepared: Prepared,
  { isTakenApart }: Task,
): Promise<Found | { file: string; error: string }> {
  if (prepared instanceof Error) return { file, error: prepared.message }
  try {
    const analyze = isTakenApart ? analyzeMessage : analyzePlainly
    return await analyze(prepared.raw, prepared.options)
  } catch (error) {
    return { file, error: reasonOf(error) }
  }
}

/** Returns the messages of a file; a mailbox or archive may contain several. */
async function messagesIn(file: string, io: CommandIo): Promise<Given[]> {
  try {
    const bytes = file === '-' ? await buffer(io.stdin) : await readFile(file)
    return await unpackFile({ name: file, bytes }, ownFileLimits)
  } catch (error) {
    return [{ name: file, unread: reasonOf(error) }]
  }
}

async function write(stdout: NodeJS.WritableStream, text: string): Promise<void> {
  if (!stdout.write(text)) await once(stdout, 'drain')
}

/** The analysis with its public field names: snake_case, the file first. */
function contractJson(file: string, analysis: Found) {
  const { bytes, sha256, kind, headers, unsubscribe, bounce } = analysis
  const { hops, ...route } = routeJson(analysis)
  return {
    file,
    bytes,
    sha256,
    kind,
    ...(analysis.isReduced && { is_reduced: true }),
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
    hops,
    origin: analysis.origin && { ...analysis.origin, why: analysis.origin.why.map(inEnglish) },
    ...route,
    authentication: analysis.authentication,
    listings: analysis.listings,
    links: analysis.links,
    ...(analysis.moreLinks !== undefined && { more_links: analysis.moreLinks }),
    attachments: analysis.attachments,
    fingerprints: analysis.fingerprints ?? {},
    shingles: analysis.shingles ?? null,
    marketer: analysis.marketer && {
      ...analysis.marketer,
      why: inEnglish(analysis.marketer.why),
    },
    unsubscribe: unsubscribe && {
      https: unsubscribe.https,
      mailto: unsubscribe.mailto,
      one_click: unsubscribe.oneClick,
    },
    bounce: bounce && {
      token: bounce.token,
      results: bounce.results.map(({ replyCode, isStatusInferred, ...result }) => ({
        ...result,
        status_inferred: isStatusInferred,
        reply_code: replyCode,
      })),
    },
    feedback: analysis.feedback,
  }
}
