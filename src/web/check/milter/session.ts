import type { Ask } from '../answer-question.ts'
import type { CheckAnswer, Fields } from '../protocol.ts'
import {
  MilterError,
  negotiate,
  type Packet,
  parseConnect,
  parseHeaderField,
  parseMacros,
  STEPS,
  type Terms,
  textsIn,
} from './packets.ts'
import {
  ACCEPT,
  CONTINUE,
  MARK,
  type MilterPolicy,
  NOTHING,
  type Outcome,
  REJECT_ENVELOPE,
  replyAtEnd,
  SKIP,
} from './reply.ts'

/** What the sessions of one process share. */
export type MilterTools = {
  ask: Ask
  /** Looks up what the first filter will need. Never rejects. */
  prepare: (fields: Fields) => Promise<void>
  policy: MilterPolicy
  bytesMax: number
  /** Reserves memory for a part of a message; false if there is none. Negative bytes are free. */
  hold: (bytes: number) => boolean
  /** Counts a message, and whether its envelope or its content settled it. */
  done: (stage: 'envelope' | 'message', outcome: Outcome) => void
}

/** The connection of a mail server, which has one for each of its clients. */
export type MilterSession = {
  /**
   * Takes a packet and returns the reply, which may be empty; undefined if the mail server is
   * finished. One packet at a time.
   *
   * @throws MilterError if the packet is malformed or out of order
   */
  take: (packet: Packet) => Promise<Buffer | undefined>
  /** Whether the mail server is expected to go on at once. */
  isBusy: () => boolean
  /** Whether a message has begun that has no answer yet. */
  isInMessage: () => boolean
  /** Frees the memory. */
  close: () => void
}

const RECIPIENTS_MAX = 10_000
const CHARS_MAX = 1_000
/** Memory in bytes that each part of a message takes besides its bytes. */
const PART_BYTES = 200
/** The port on which mail servers receive mail from each other. */
const SMTP_PORT = '25'

type Client = {
  ip?: string | undefined
  hostname?: string | undefined
  helo?: string | undefined
  /** The port of the mail server. */
  port?: string | undefined
  isForged?: boolean | undefined
}

type Message = {
  from: string
  recipients: string[]
  user: string | undefined
  queueId: string | undefined
  /** The answer about the envelope. */
  first: CheckAnswer | undefined
  parts: Buffer[]
  heldBytes: number
  /** Why the parts are not kept. */
  lost: 'too-big' | 'no-room' | undefined
  /** How many fields have the name of our mark. */
  marks: number
  /** What of the message itself has begun. */
  reading: 'header' | 'body' | undefined
  isCounted: boolean
}

type State = {
  tools: MilterTools
  isPassing: boolean
  /** Version 0 before the negotiation. */
  terms: Terms
  client: Client
  /** The user of the message that is about to begin. */
  nextUser: string | undefined
  message: Message | undefined
  isPreparing: boolean
}

type Take = (state: State, data: Buffer) => Buffer | undefined | Promise<Buffer>

/**
 * Creates the session of a connection: the envelope is asked about at the first recipient, before
 * the message is transferred, and the message at its end. With `isPassing`, all mail passes.
 */
export function createMilterSession(tools: MilterTools, isPassing = false): MilterSession {
  const state: State = {
    tools,
    isPassing,
    terms: { version: 0, actions: 0, steps: 0 },
    client: {},
    nextUser: undefined,
    message: undefined,
    isPreparing: false,
  }
  return {
    async take({ command, data }) {
      const take = Object.hasOwn(commands, command) ? commands[command] : undefined
      if (!take) fail('A command is unknown.')
      if (command !== 'O' && state.terms.version === 0)
        fail('A command came before the negotiation.')
      return take(state, data)
    },
    isBusy: () => state.terms.version === 0 || state.message?.reading !== undefined,
    isInMessage: () => state.message !== undefined,
    close: () => endMessage(state),
  }
}

/** What to do at each command, by its letter. */
const commands: Readonly<Record<string, Take>> = {
  O(state, data) {
    const { terms, reply } = negotiate(data)
    state.terms = terms
    return reply
  },
  D: takeMacros,
  C: takeClient,
  H(state, data) {
    state.client = { ...state.client, helo: firstText(data) }
    return replyUnless(state, STEPS.noReplyToHelo)
  },
  M: takeReturnPath,
  R: takeRecipient,
  T: (state) => replyUnless(state, STEPS.noData),
  L: takeField,
  N: (state) => replyUnless(state, STEPS.noEndOfHeader),
  B: takeBody,
  E: takeEnd,
  A(state) {
    endMessage(state)
    return NOTHING
  },
  U: (state) => replyUnless(state, STEPS.noUnknown),
  K(state) {
    endMessage(state)
    state.client = {}
    return NOTHING
  },
  Q: () => undefined,
}

function takeMacros(state: State, data: Buffer): Buffer {
  const macros = parseMacros(data)
  const command = String.fromCharCode(data[0] ?? 0)
  if (command === 'C') state.client = { ...state.client, ...clientMacros(macros) }
  if (command === 'M') state.nextUser = short(macros.get('auth_authen'))
  else if (state.message && macros.has('i')) state.message.queueId = short(macros.get('i'))
  return NOTHING
}

function takeClient(state: State, data: Buffer): Buffer {
  if (state.isPassing) return ACCEPT
  const { ip, hostname } = parseConnect(data)
  const { isForged, port } = state.client
  state.client = { ip, hostname: hostname.slice(0, CHARS_MAX), isForged, port }
  // Clients of other ports may be about to sign in, and users are not looked up.
  if (port === SMTP_PORT) prepare(state)
  return CONTINUE
}

function takeReturnPath(state: State, data: Buffer): Buffer {
  endMessage(state)
  state.message = newMessage(firstText(data), state.nextUser)
  state.nextUser = undefined
  if (state.message.user === undefined) prepare(state)
  return replyUnless(state, STEPS.noReplyToMail)
}

async function takeRecipient(state: State, data: Buffer): Promise<Buffer> {
  const message = messageOf(state)
  const { ask, policy } = state.tools
  message.first ??= await ask('envelope', fieldsOf(state))
  const recipient = firstText(data)
  if (isSettled(message) && policy.firstFilter === 'reject' && !isDesk(recipient)) {
    count(state, 'envelope', 'reject')
    return REJECT_ENVELOPE
  }
  if (message.recipients.length < RECIPIENTS_MAX) message.recipients.push(recipient)
  return CONTINUE
}

function takeField(state: State, data: Buffer): Buffer {
  const message = messageOf(state)
  message.reading ??= 'header'
  const field = parseHeaderField(data, has(state, STEPS.leadingSpace))
  if (field.name.toLowerCase() === MARK.toLowerCase()) message.marks++
  keep(state, field.bytes)
  return replyUnless(state, STEPS.noReplyToField)
}

function takeBody(state: State, data: Buffer): Buffer {
  const message = messageOf(state)
  beginBody(state)
  keep(state, data)
  const isEnough = message.lost !== undefined || isSettled(message)
  return isEnough && has(state, STEPS.skip) ? SKIP : CONTINUE
}

async function takeEnd(state: State, data: Buffer): Promise<Buffer> {
  const { tools, terms } = state
  const message = messageOf(state)
  beginBody(state)
  if (data.length > 0) keep(state, data)
  const { lost, parts, marks } = message
  const first = isSettled(message) ? message.first : undefined
  const answer = first ?? (await tools.ask(lost ?? Buffer.concat(parts), fieldsOf(state)))
  const { reply, outcome } = replyAtEnd(answer, { policy: tools.policy, terms, marks })
  count(state, first ? 'envelope' : 'message', outcome)
  endMessage(state)
  return reply
}

/** Keeps a part of a message if it is needed and there is room for it. */
function keep(state: State, part: Buffer): void {
  const { hold, bytesMax } = state.tools
  const message = messageOf(state)
  if (message.lost || isSettled(message)) return
  const bytes = part.length + PART_BYTES
  if (message.heldBytes + bytes > bytesMax) message.lost = 'too-big'
  else if (!hold(bytes)) message.lost = 'no-room'
  if (message.lost) return free(state, message)
  message.heldBytes += bytes
  message.parts.push(part)
}

function free({ tools }: State, message: Message): void {
  tools.hold(-message.heldBytes)
  message.heldBytes = 0
  message.parts = []
}

function beginBody(state: State): void {
  const message = messageOf(state)
  if (message.reading !== 'body') keep(state, Buffer.from('\r\n'))
  message.reading = 'body'
}

function endMessage(state: State): void {
  if (state.message) free(state, state.message)
  state.message = undefined
}

/** Counts a message once. */
function count(state: State, stage: 'envelope' | 'message', outcome: Outcome): void {
  const message = messageOf(state)
  if (!message.isCounted) state.tools.done(stage, outcome)
  message.isCounted = true
}

function prepare(state: State): void {
  if (state.isPreparing) return
  state.isPreparing = true
  void state.tools.prepare(fieldsOf(state)).finally(() => (state.isPreparing = false))
}

function messageOf({ message }: State): Message {
  return message ?? fail('A command came before MAIL.')
}

function has({ terms }: State, step: number): boolean {
  return (terms.steps & step) !== 0
}

function replyUnless(state: State, step: number): Buffer {
  return has(state, step) ? NOTHING : CONTINUE
}

function fail(why: string): never {
  throw new MilterError(why)
}

function isSettled({ first }: Message): boolean {
  return first !== undefined && !first.is_skipped
}

/** Whether a recipient must be able to get mail from listed clients (RFC 5321 §4.5.1, RFC 2142). */
function isDesk(recipient: string): boolean {
  return /^<?(postmaster|abuse)(@|>|$)/i.test(recipient)
}

function newMessage(from: string, user: string | undefined): Message {
  return {
    from,
    user,
    recipients: [],
    queueId: undefined,
    first: undefined,
    parts: [],
    heldBytes: 0,
    lost: undefined,
    marks: 0,
    reading: undefined,
    isCounted: false,
  }
}

function clientMacros(macros: Map<string, string>): Client {
  // Sendmail passes on names of clients that it could not confirm.
  const isForged = /may be forged/.test(macros.get('_') ?? '')
  return { isForged, port: macros.get('daemon_port') }
}

/** Composes the fields of a check, as in the HTTP interface. */
function fieldsOf({ client, message }: State): Fields {
  const { ip, hostname = '', helo, isForged } = client
  // Sendmail puts the address in brackets if the client has no name.
  const isNamed = !isForged && !hostname.startsWith('[')
  return Object.fromEntries(
    Object.entries({
      ip,
      helo,
      hostname: isNamed ? hostname : undefined,
      from: message?.from,
      user: message?.user,
      'queue-id': message?.queueId,
      rcpt: message && [...message.recipients],
    }).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value : [value]]],
    ),
  )
}

function firstText(data: Buffer): string {
  return (textsIn(data, 1)[0] ?? '').slice(0, CHARS_MAX)
}

function short(text: string | undefined): string | undefined {
  return text === undefined || text === '' ? undefined : text.slice(0, CHARS_MAX)
}
