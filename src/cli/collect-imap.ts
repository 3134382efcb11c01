import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { ImapFlow, type ImapFlowError, type SearchObject } from 'imapflow'
import { batched } from '../db/batched.ts'
import { HOUR_MS } from '../durations.ts'
import { reasonOf, UsageError } from '../errors.ts'
import { complaintIn } from '../mail/inbound/complaint.ts'
import type { CollectedAccount, CollectedFolder, CollectorSettings } from './collector-settings.ts'
import { type Answered, askForTestMessage, type MailboxUser, postMessage } from './report.ts'

export function parseCollect(args: readonly string[]): { file: string; isOnce: boolean } {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { once: { type: 'boolean', default: false } },
  })
  const [source, file, ...others] = positionals
  if (source !== 'imap') throw new UsageError(['Name what to collect: "collect imap FILE".'])
  if (file === undefined) throw new UsageError(['Name the FILE with the accounts.'])
  if (others.length > 0) throw new UsageError([`Unexpected argument "${others[0]}".`])
  return { file, isOnce: values.once }
}

type CollectIo = {
  print: (line: string) => void
  complain: (line: string) => void
  signal: AbortSignal
  /** Waits before the next connection; resolves early at the end of the work. */
  pause?: (ms: number) => Promise<unknown>
}

/** The keyword of messages that were reported, and of those that the service refused for good. */
const REPORTED = '$SignalpostReported'
const REFUSED = '$SignalpostRefused'

/** How many messages or new connections are in progress, so that memory stays bounded. */
const PARALLEL = 4
const AWAY_MS = { first: 5_000, most: 300_000 }
/** How often a folder is read although its server announces nothing. */
const RESCAN_MS = 240_000
/** Maximum time to transfer a message or to connect. */
const STEP_MS = 180_000

type Place = {
  account: CollectedAccount
  folder: CollectedFolder
  settings: Omit<CollectorSettings, 'accounts'>
}

/** Runs a step when fewer than `PARALLEL` others run. */
type InTurn = <T>(step: () => Promise<T>) => Promise<T>

/**
 * Reports the messages in the folders of IMAP accounts, and what users move there later, until the
 * signal; with `isOnce`, only what is there. A message is moved or marked when the service has it;
 * a message that was reported just before a crash is reported again, which counts once. Returns how
 * many folders had a problem.
 */
export async function collectImap(
  { accounts, ...settings }: CollectorSettings,
  { isOnce }: { isOnce: boolean },
  io: CollectIo,
): Promise<number> {
  const runStep = batched(async ([step]: readonly (() => Promise<unknown>)[]) => [await step?.()], {
    lanes: PARALLEL,
    fill: () => 1,
  })
  const inTurn = runStep as InTurn
  const places = accounts.flatMap((account) =>
    account.folders.map((folder) => ({ account, folder, settings })),
  )
  const problems = await Promise.all(
    places.map((place) => (isOnce ? collectOnce(place, inTurn, io) : watch(place, inTurn, io))),
  )
  return problems.reduce((sum, count) => sum + count, 0)
}

const named = ({ account, folder }: Place) => `${account.user}, folder "${folder.name}"`

async function collectOnce(place: Place, inTurn: InTurn, io: CollectIo): Promise<number> {
  try {
    await collect(place, { inTurn, isOnce: true, onGood: () => undefined }, io)
    return 0
  } catch (error) {
    io.complain(`${named(place)}: ${reasonOf(error)}`)
    return 1
  }
}

/** Collects a folder, and connects again after a failure. */
async function watch(place: Place, inTurn: InTurn, io: CollectIo): Promise<number> {
  const pause =
    io.pause ?? ((ms) => wait(ms, undefined, { signal: io.signal }).catch(() => undefined))
  let awayMs = 0
  while (!io.signal.aborted) {
    try {
      await collect(place, { inTurn, isOnce: false, onGood: () => (awayMs = 0) }, io)
    } catch (error) {
      // A server may lock an account after a few wrong passwords.
      const isHopeless = error instanceof NotAccepted
      awayMs = Math.min(AWAY_MS.most, isHopeless ? Infinity : Math.max(AWAY_MS.first, awayMs * 2))
      io.complain(`${named(place)}: ${reasonOf(error)} Next try in ${awayMs / 1_000} s.`)
      await pause(awayMs)
    }
  }
  return 0
}

/** The server does not accept the name or the password. */
class NotAccepted extends Error {}

type Manner = { inTurn: InTurn; isOnce: boolean; onGood: () => void }

/**
 * Connects, and reports what is in the folder and what arrives there, until the signal.
 *
 * @throws if the connection is lost or the service cannot take a message now
 */
async function collect(place: Place, { inTurn, isOnce, onGood }: Manner, io: CollectIo) {
  const client = clientFor(place, await secretOf(place.account.secret.file))
  const news = createNews(client, io.signal)
  try {
    const box = await inTurn(() => within(client, () => openFolder(client, place)))
    const skipped = new Set<number>()
    const chosenIn = createChoice(place)
    while (!io.signal.aborted && client.usable) {
      for (const uid of await waitingIn(client, skipped, await chosenIn())) {
        if (io.signal.aborted) return
        const isSettled = await inTurn(() =>
          within(client, () => reportIfThere(client, uid, place, io)),
        )
        // Without keywords, what was refused is remembered until the next connection.
        if (!isSettled || !box.hasKeywords) skipped.add(uid)
      }
      onGood()
      if (isOnce) return
      await news.wait()
    }
    if (!io.signal.aborted) throw new Error('The connection to the IMAP server was lost.')
  } finally {
    news.close()
    if (client.usable) await within(client, () => client.logout()).catch(() => undefined)
    client.close()
  }
}

function clientFor({ account, settings }: Place, secret: string): ImapFlow {
  const { host, port, security, user } = account
  const client = new ImapFlow({
    host,
    port,
    secure: security === 'tls',
    ...(security !== 'tls' && { doSTARTTLS: security === 'starttls' }),
    auth: { user, [account.secret.is]: secret },
    logger: false,
    disableAutoIdle: true,
    connectionTimeout: 30_000,
    // The size of a message was read before; a server that sends more is cut off.
    maxLiteralSize: settings.messageBytesMax,
    maxResponseSize: settings.messageBytesMax + 1_000_000,
    maxLineLength: 10_000_000,
  })
  // The operation that fails reports the error.
  client.on('error', () => undefined)
  return client
}

async function secretOf(file: string): Promise<string> {
  return (await readFile(file, 'utf8')).replace(/\r?\n$/, '')
}

/** Runs a step; closes the connection if it takes too long. */
async function within<T>(client: ImapFlow, step: () => Promise<T>): Promise<T> {
  using _timer = setTimeout(() => client.close(), STEP_MS)
  return await step()
}

/** Connects and opens the folder. Returns whether its messages can have keywords. */
async function openFolder(
  client: ImapFlow,
  { account, folder }: Place,
): Promise<{ hasKeywords: boolean }> {
  await client.connect().catch((error: ImapFlowError) => {
    if (!error.authenticationFailed) throw new Error(`Cannot connect: ${saidIn(error)}`)
    const { secret, user, host } = account
    throw new NotAccepted(
      `${host} does not accept the user "${user}" with the secret in ${secret.file}: ` +
        `${saidIn(error)}`,
    )
  })
  const { name, moveTo } = folder
  const names = (await client.list()).map(({ path }) => path)
  const missing = [name, moveTo].find((one) => one !== undefined && !isListed(names, one))
  if (missing !== undefined) {
    const known = names.slice(0, 20).map((one) => `"${one}"`)
    throw new Error(`There is no folder "${missing}". The account has ${known.join(', ')}.`)
  }
  const box = await client.mailboxOpen(name).catch((error: ImapFlowError) => {
    throw new Error(`The folder cannot be opened: ${saidIn(error)}`)
  })
  if (box.readOnly) throw new Error('The folder is read-only, so nothing can be marked or moved.')
  const { permanentFlags: flags } = box
  const hasKeywords = !flags || flags.has('\\*') || (flags.has(REPORTED) && flags.has(REFUSED))
  if (moveTo === undefined && !hasKeywords)
    throw new Error('The IMAP server cannot mark messages of this folder. Use move-to.')
  return { hasKeywords }
}

function isListed(names: readonly string[], name: string): boolean {
  return names.includes(name) || (name.toLowerCase() === 'inbox' && names.includes('INBOX'))
}

function saidIn(error: ImapFlowError): string {
  const said = error.responseText ?? (typeof error.response === 'string' ? error.response : '')
  return said || reasonOf(error)
}

const ASK_MS = HOUR_MS

/**
 * Returns a function that says which messages of a folder are reported: all, or one test message.
 * For this it asks the service, which decides whether one is due, so nothing needs to be stored.
 */
function createChoice({ account, folder, settings: { url } }: Place) {
  if (folder.kind !== 'test-messages') return () => Promise.resolve<SearchObject>({})
  let asked: { at: number; messageId: string | undefined } | undefined
  return async (): Promise<SearchObject | undefined> => {
    const at = performance.now()
    if (!asked || at - asked.at > ASK_MS) {
      const token = await secretOf(account.tokenFile)
      asked = { at, messageId: await askForTestMessage({ url, token, user: userOf(account) }) }
    }
    return asked.messageId === undefined ? undefined : { header: { 'message-id': asked.messageId } }
  }
}

/** The chosen messages that wait to be reported, in the order in which they arrived. */
async function waitingIn(
  client: ImapFlow,
  skipped: ReadonlySet<number>,
  chosen: SearchObject | undefined,
): Promise<number[]> {
  if (!chosen) return []
  const query = { ...chosen, unKeyword: REPORTED, not: { keyword: REFUSED }, deleted: false }
  const uids = await client.search(query, { uid: true })
  if (!uids) throw new Error('The IMAP server did not list the messages.')
  return uids.filter((uid) => !skipped.has(uid)).toSorted((a, b) => a - b)
}

/** Reports a message, unless its user or another collector took it away in the meantime. */
async function reportIfThere(
  client: ImapFlow,
  uid: number,
  place: Place,
  io: CollectIo,
): Promise<boolean> {
  try {
    return await reportOne(client, uid, place, io)
  } catch (error) {
    if (await isGone(client, String(uid))) return true
    throw error
  }
}

async function isGone(client: ImapFlow, uid: string): Promise<boolean> {
  const found = client.usable && (await client.search({ uid }, { uid: true }))
  return Array.isArray(found) && found.length === 0
}

/**
 * Reports a message, then moves or marks it. A message that the service refuses for good stays in
 * the folder. Returns whether the mark of it was stored.
 */
async function reportOne(
  client: ImapFlow,
  uid: number,
  place: Place,
  { print, complain }: CollectIo,
): Promise<boolean> {
  const one = String(uid)
  const head = await client.fetchOne(one, { size: true }, { uid: true })
  if (!head) return true
  const answer = await answerFor(client, { uid: one, bytes: head.size ?? 0 }, place)
  if (!answer) return true
  if (answer.is === 'taken') {
    print(`${named(place)}, UID ${uid}: ${answer.said}`)
    await settle(client, one, place.folder)
    return true
  }
  if (answer.is === 'away') throw new Error(answer.why)
  complain(`${named(place)}, UID ${uid}: ${answer.why} It stays in the folder.`)
  return client.messageFlagsAdd(one, [REFUSED], { uid: true })
}

/** Moves or marks a message that was reported. */
async function settle(client: ImapFlow, uid: string, { moveTo }: CollectedFolder): Promise<void> {
  if (moveTo !== undefined) {
    if (await client.messageMove(uid, moveTo, { uid: true })) return
    throw new Error(`The IMAP server did not move a message to "${moveTo}".`)
  }
  if (await client.messageFlagsAdd(uid, [REPORTED], { uid: true })) return
  throw new Error('The IMAP server did not mark a message.')
}

/** Reports a message. Returns nothing if it is no longer in the folder. */
async function answerFor(
  client: ImapFlow,
  { uid, bytes }: { uid: string; bytes: number },
  { account, folder, settings }: Place,
): Promise<Answered | undefined> {
  const { messageBytesMax, url } = settings
  if (bytes > messageBytesMax)
    return { is: 'refused', why: `The message has ${bytes} bytes, above ${messageBytesMax}.` }
  const message = await client.fetchOne(uid, { source: true }, { uid: true })
  if (!message || !message.source) {
    if (await isGone(client, uid)) return undefined
    return { is: 'refused', why: 'The message cannot be read.' }
  }
  const reported = reportedIn(message.source, folder.kind)
  if (!reported) return { is: 'refused', why: 'This is not a complaint about a message.' }
  const token = await secretOf(account.tokenFile)
  // A test message to the address of the token shows the way for all its users.
  const user = folder.kind === 'test-messages' ? userOf(account)?.key : keyOf(account)
  const request = { url, token, kind: reported.kind, user, report: folder.report }
  try {
    return await postMessage(reported.message, request)
  } catch (error) {
    return { is: 'away', why: `Cannot report to ${url}: ${reasonOf(error)}.` }
  }
}

function reportedIn(
  message: Buffer,
  kind: CollectedFolder['kind'],
): { message: Buffer; kind: string } | undefined {
  if (kind === 'complaints') return complaintIn(message)
  return { message, kind: kind === 'test-messages' ? 'spam' : kind }
}

/** The mailbox user to whom test messages go; undefined if they go to the account of the token. */
function userOf(account: CollectedAccount): MailboxUser | undefined {
  const [key, address] = [keyOf(account), account.address]
  return key === undefined || address === undefined ? undefined : { key, address }
}

/** The key of a mailbox user, as in `clients/spool/signalpost-spool`, so that both are one user. */
function keyOf({ onBehalfOf }: CollectedAccount): string | undefined {
  if (onBehalfOf === undefined) return undefined
  return createHash('sha256').update(onBehalfOf).digest('hex').slice(0, 32)
}

/** Waits for new messages in the open folder. */
function createNews(client: ImapFlow, signal: AbortSignal) {
  let hasNews = false
  let wake: () => void = () => undefined
  const onNews = () => {
    hasNews = true
    wake()
  }
  for (const event of ['exists', 'close']) client.on(event, onNews)
  signal.addEventListener('abort', onNews)
  return {
    /** Resolves when messages arrived since the last call, at the end, or after a while. */
    async wait(): Promise<void> {
      if (!hasNews) {
        const woken = new Promise<void>((resolve) => (wake = resolve))
        const timer = setTimeout(onNews, RESCAN_MS)
        client.idle().catch(onNews)
        await woken
        clearTimeout(timer)
      }
      hasNews = false
    },
    close() {
      signal.removeEventListener('abort', onNews)
    },
  }
}
