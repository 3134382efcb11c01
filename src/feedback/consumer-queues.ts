import type { WorkApp } from '../app.ts'
import { HOUR_MS } from '../durations.ts'
import type { SendOutcome } from '../letters/relay-memory.ts'
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
 * mails in parallel. After a stall or failure, the consumer's mail is sent in the slow lane. After
 * several, sending to it pauses with exponential backoff. So no consumer delays the others.
 */
export type ConsumerQueues = {
  admit: (consumer: { id: string; connectionsMax: number | null }) => Admission
  /** Forgets all failures, because our own mail server may have caused them. */
  forgive: () => void
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
  ...{ refusalMsMax: 5 * 60_000, stallMsMax: HOUR_MS },
}

/**
 * Maximum number of consecutive refusals without a pause: a single refusal may be about one
 * message.
 */
const REFUSALS_FREE = 3
const QUEUES_MAX = 10_000

type Turn = {
  /** False while the mail is being composed: it keeps its place, and others may overtake it. */
  isReady: boolean
  start: (how: 'send' | 'drop') => void
  timer?: NodeJS.Timeout
}

type Rules = { clock: Clock; pauses: Pauses }

type ConsumerQueue = {
  connections: number
  sending: number
  waiting: Set<Turn>
  typicalMs: number
  /** Consecutive failures. */
  failures: number
  isStalling: boolean
  notBefore: number
}

/** Creates empty queues. Their state is not shared between processes. */
export function createConsumerQueues(clock: Clock, pauses = usualPauses): ConsumerQueues {
  const queues = new Map<string, ConsumerQueue>()
  return {
    admit({ id, connectionsMax }) {
      const now = clock().getTime()
      const queue = queues.get(id) ?? emptyQueue()
      if (!queues.has(id)) {
        if (queues.size >= QUEUES_MAX) deleteIdle(queues, now)
        queues.set(id, queue)
      }
      queue.connections = connectionsMax ?? CONNECTIONS
      if (now < queue.notBefore) return { waitsUntil: new Date(queue.notBefore) }
      const room = Math.floor((BACKLOG_MS / queue.typicalMs) * atOnce(queue))
      if (queue.waiting.size >= Math.min(WAITING_MAX, Math.max(WAITING_MIN, room))) {
        return { waitsUntil: new Date(now + BACKLOG_MS) }
      }
      return { ticket: takeTicket(queue, { clock, pauses }) }
    },
    forgive() {
      for (const queue of queues.values()) clearFailures(queue)
    },
  }
}

function takeTicket(queue: ConsumerQueue, rules: Rules): Ticket {
  const places = (queue.waiting.size + queue.sending + 1) / atOnce(queue)
  const turn: Turn = { isReady: false, start: () => undefined }
  let outcome: 'send' | 'drop' | undefined
  let wake: (() => void) | undefined
  turn.start = (how) => {
    if (outcome !== undefined) return
    outcome = how
    clearTimeout(turn.timer)
    queue.waiting.delete(turn)
    if (how === 'send') queue.sending++
    wake?.()
  }
  queue.waiting.add(turn)
  turn.timer = setTimeout(() => turn.start('drop'), WAIT_MS_MAX)
  turn.timer.unref()
  return {
    expectedMs: queue.typicalMs * Math.ceil(places),
    async run(send) {
      turn.isReady = true
      startWaiting(queue)
      if (outcome === undefined) await new Promise<void>((resolve) => (wake = resolve))
      if (outcome !== 'send') return undefined
      return sendInTurn(queue, send, rules)
    },
    drop() {
      turn.start('drop')
      return outcome === 'drop'
    },
  }
}

async function sendInTurn(
  queue: ConsumerQueue,
  send: SendTurn,
  { clock, pauses }: Rules,
): Promise<SendOutcome> {
  const startedAt = clock().getTime()
  const lane = queue.failures > 0 ? 'slow' : 'fast'
  let hasStalled = false
  const onStall = () => {
    hasStalled = true
    recordFailure(queue, 'stall', clock().getTime(), pauses)
  }
  try {
    const result = await send({ lane, onStall })
    const now = clock().getTime()
    queue.typicalMs = Math.max(1, queue.typicalMs * 0.7 + (now - startedAt) * 0.3)
    const isItsFault = result.outcome === 'later' && (result.fault ?? 'message') === 'message'
    if (result.outcome !== 'later') clearFailures(queue)
    else if (isItsFault && !hasStalled) recordFailure(queue, 'refusal', now, pauses)
    return result
  } finally {
    queue.sending--
    startWaiting(queue)
  }
}

/** Records a failure, returns the waiting mails to the job queue and pauses the consumer. */
function recordFailure(
  queue: ConsumerQueue,
  how: 'refusal' | 'stall',
  now: number,
  pauses: Pauses,
): void {
  queue.failures++
  queue.isStalling = how === 'stall'
  const counted = how === 'stall' ? queue.failures : queue.failures - REFUSALS_FREE
  if (counted <= 0) return
  const pause = Math.min(pauses[`${how}MsMax`], pauses[`${how}Ms`] * 2 ** (counted - 1))
  queue.notBefore = Math.max(queue.notBefore, now + pause)
  for (const turn of queue.waiting) turn.start('drop')
}

function clearFailures(queue: ConsumerQueue): void {
  queue.failures = 0
  queue.isStalling = false
  queue.notBefore = 0
}

function startWaiting(queue: ConsumerQueue): void {
  for (const turn of queue.waiting) {
    if (queue.sending >= atOnce(queue)) return
    if (turn.isReady) turn.start('send')
  }
}

/** Returns the maximum number of parallel deliveries; one while the consumer stalls. */
function atOnce({ connections, isStalling }: ConsumerQueue): number {
  return isStalling ? 1 : connections
}

function emptyQueue(): ConsumerQueue {
  return {
    ...{ connections: CONNECTIONS, sending: 0, waiting: new Set(), typicalMs: 1 },
    ...{ failures: 0, isStalling: false, notBefore: 0 },
  }
}

function deleteIdle(queues: Map<string, ConsumerQueue>, now: number): void {
  for (const [id, { sending, waiting, notBefore }] of queues) {
    if (sending === 0 && waiting.size === 0 && notBefore < now) queues.delete(id)
  }
}
