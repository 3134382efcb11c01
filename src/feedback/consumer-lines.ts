import type { WorkApp } from '../app.ts'
import type { SendOutcome } from '../letters/relay-gate.ts'
import type { Clock } from '../world.ts'

type Send = NonNullable<WorkApp['mailer']>['send']
type Lane = NonNullable<Parameters<Send>[0]['lane']>

/** Sends one mail in the given lane and calls `onStall` as soon as the delivery stalls. */
export type SendTurn = (how: { lane: Lane; onStall: () => void }) => Promise<SendOutcome>

/** A place in the queue of one consumer. */
export type Ticket = {
  /** Estimated time until this mail is sent, from the duration of recent deliveries. */
  expectedMs: number
  /** Waits for its turn and sends; undefined if the place was dropped before. */
  run: (send: SendTurn) => Promise<SendOutcome | undefined>
  /** Gives up the place; false if the mail is already being sent. */
  drop: () => boolean
}

/** A place in the queue, or the time of the next attempt. */
type Admission = { ticket: Ticket } | { waitsUntil: Date }

/**
 * The queues of all consumers in one process. Each consumer receives at most a fixed number of
 * mails in parallel. After a stall or failure, its mail is sent in the slow lane, and after
 * repeated ones sending pauses with exponential backoff, so that it does not delay other consumers.
 */
export type ConsumerLines = {
  admit: (consumer: { id: string; connectionsMax: number | null }) => Admission
}

const CONNECTIONS = 2
/** Time in milliseconds after which a waiting mail is returned to the job queue. */
const WAIT_MS_MAX = 60_000
/** The queue of a consumer holds no more mail than can be sent in this time, in milliseconds. */
const BACKLOG_MS = WAIT_MS_MAX / 2
const WAITING_MAX = 100
const WAITING_MIN = 2
/** Length of the pauses after failures, in milliseconds: the first one and the maximum. */
export type Pauses = {
  refusalMs: number
  stallMs: number
  refusalMsMax: number
  stallMsMax: number
}

/** A pause after a stall is longer than after a refusal, because a stall occupies a connection. */
export const usualPauses: Pauses = {
  ...{ refusalMs: 30_000, stallMs: 60_000 },
  ...{ refusalMsMax: 5 * 60_000, stallMsMax: 3_600_000 },
}

/** Refusals in a row without a pause: a single refusal may be about one message. */
const REFUSALS_FREE = 3
const LINES_MAX = 10_000

type Turn = {
  /** False while the mail is being composed: it keeps its place, and others may overtake it. */
  isReady: boolean
  start: (how: 'send' | 'drop') => void
  timer?: NodeJS.Timeout
}

type Rules = { clock: Clock; pauses: Pauses }

type Line = {
  connections: number
  sending: number
  waiting: Set<Turn>
  typicalMs: number
  /** Consecutive failures. */
  strikes: number
  isStalling: boolean
  notBefore: number
}

/** Creates empty queues. Their state is not shared between processes. */
export function createConsumerLines(clock: Clock, pauses = usualPauses): ConsumerLines {
  const lines = new Map<string, Line>()
  return {
    admit({ id, connectionsMax }) {
      const now = clock().getTime()
      const line = lines.get(id) ?? emptyLine()
      if (!lines.has(id)) {
        if (lines.size >= LINES_MAX) forgetIdle(lines, now)
        lines.set(id, line)
      }
      line.connections = connectionsMax ?? CONNECTIONS
      if (now < line.notBefore) return { waitsUntil: new Date(line.notBefore) }
      const room = Math.floor((BACKLOG_MS / line.typicalMs) * atOnce(line))
      if (line.waiting.size >= Math.min(WAITING_MAX, Math.max(WAITING_MIN, room))) {
        return { waitsUntil: new Date(now + BACKLOG_MS) }
      }
      return { ticket: takeTicket(line, { clock, pauses }) }
    },
  }
}

function takeTicket(line: Line, rules: Rules): Ticket {
  const places = (line.waiting.size + line.sending + 1) / atOnce(line)
  const turn: Turn = { isReady: false, start: () => undefined }
  let outcome: 'send' | 'drop' | undefined
  let wake: (() => void) | undefined
  turn.start = (how) => {
    if (outcome !== undefined) return
    outcome = how
    clearTimeout(turn.timer)
    line.waiting.delete(turn)
    if (how === 'send') line.sending++
    wake?.()
  }
  line.waiting.add(turn)
  turn.timer = setTimeout(() => turn.start('drop'), WAIT_MS_MAX)
  turn.timer.unref()
  return {
    expectedMs: line.typicalMs * Math.ceil(places),
    async run(send) {
      turn.isReady = true
      pump(line)
      if (outcome === undefined) await new Promise<void>((resolve) => (wake = resolve))
      if (outcome !== 'send') return undefined
      return sendInTurn(line, send, rules)
    },
    drop() {
      turn.start('drop')
      return outcome === 'drop'
    },
  }
}

async function sendInTurn(
  line: Line,
  send: SendTurn,
  { clock, pauses }: Rules,
): Promise<SendOutcome> {
  const startedAt = clock().getTime()
  const lane = line.strikes > 0 ? 'slow' : 'fast'
  let hasStalled = false
  const onStall = () => {
    hasStalled = true
    strike(line, 'stall', clock().getTime(), pauses)
  }
  try {
    const result = await send({ lane, onStall })
    const now = clock().getTime()
    line.typicalMs = Math.max(1, line.typicalMs * 0.7 + (now - startedAt) * 0.3)
    const isItsFault = result.outcome === 'later' && (result.fault ?? 'message') === 'message'
    if (result.outcome !== 'later') forgive(line)
    else if (isItsFault && !hasStalled) strike(line, 'refusal', now, pauses)
    return result
  } finally {
    line.sending--
    pump(line)
  }
}

/** Records a failure, returns the waiting mails to the job queue and pauses the consumer. */
function strike(line: Line, how: 'refusal' | 'stall', now: number, pauses: Pauses): void {
  line.strikes++
  line.isStalling = how === 'stall'
  const counted = how === 'stall' ? line.strikes : line.strikes - REFUSALS_FREE
  if (counted <= 0) return
  const pause = Math.min(pauses[`${how}MsMax`], pauses[`${how}Ms`] * 2 ** (counted - 1))
  line.notBefore = Math.max(line.notBefore, now + pause)
  for (const turn of line.waiting) turn.start('drop')
}

function forgive(line: Line): void {
  line.strikes = 0
  line.isStalling = false
  line.notBefore = 0
}

function pump(line: Line): void {
  for (const turn of line.waiting) {
    if (line.sending >= atOnce(line)) return
    if (turn.isReady) turn.start('send')
  }
}

/** The number of parallel deliveries; one while the consumer stalls. */
function atOnce({ connections, isStalling }: Line): number {
  return isStalling ? 1 : connections
}

function emptyLine(): Line {
  return {
    ...{ connections: CONNECTIONS, sending: 0, waiting: new Set(), typicalMs: 1 },
    ...{ strikes: 0, isStalling: false, notBefore: 0 },
  }
}

function forgetIdle(lines: Map<string, Line>, now: number): void {
  for (const [id, { sending, waiting, notBefore }] of lines) {
    if (sending === 0 && waiting.size === 0 && notBefore < now) lines.delete(id)
  }
}
