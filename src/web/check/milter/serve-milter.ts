import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { Counter, Gauge, Registry } from '@prometheus-io/client'
import { reasonOf } from '../../../errors.ts'
import type { Logger } from '../../../log.ts'
import { takeProxyHeaders } from '../../proxy-protocol.ts'
import { createPacketReader, MilterError } from './packets.ts'
import { ACCEPT, NOTHING, type Outcome } from './reply.ts'
import { createMilterSession, type MilterSession, type MilterTools } from './session.ts'

export type Milter = {
  port: number
  /**
   * Accepts no more connections, lets mail servers finish their messages for at most 9 s, and
   * closes the rest.
   */
  close: () => Promise<void>
  /** Statistics in the Prometheus text format. */
  metrics: () => Promise<string>
}

/** Limits, in numbers, bytes and milliseconds. */
const LIMITS = {
  /** Connections beyond it pass all mail. */
  sessions: 1_000,
  /** Connections beyond it are closed. */
  connections: 2_000,
  /** Bytes of all messages that are being transferred. */
  bytesInHand: 150_000_000,
  /** Bytes of replies to a mail server that does not read them. */
  unreadBytes: 100_000,
  /** A mail server is silent for as long as its client is. */
  silenceMs: 600_000,
  /** Time for the negotiation, for a packet, and from the first header field to the end. */
  busyMs: 180_000,
  /** Time in which the mail server reads our last reply. */
  goodbyeMs: 5_000,
}

/** In milliseconds; shorter than the time after which the listener for HTTP closes connections. */
const CLOSE_MS = 9_000

/** What a milter needs. Tests may lower the limits. */
type MilterNeeds = Pick<MilterTools, 'ask' | 'prepare' | 'policy' | 'bytesMax'> & {
  log: Logger
  limits?: Partial<typeof LIMITS>
}

type Inside = {
  tools: MilterTools
  log: Logger
  limits: typeof LIMITS
  statistics: Statistics
  open: Map<Socket, MilterSession>
  isStopping: boolean
}

/**
 * Answers mail servers by the milter protocol, version 6: Postfix and Sendmail. Whatever fails, the
 * mail passes. Resolves when it listens.
 */
export async function serveMilter(
  { host, port, proxies = [] }: { host: string; port: number; proxies?: readonly string[] },
  needs: MilterNeeds,
): Promise<Milter> {
  const limits = { ...LIMITS, ...needs.limits }
  const statistics = createStatistics()
  let inHand = 0
  const hold = (bytes: number) => {
    if (bytes > 0 && inHand + bytes > limits.bytesInHand) return false
    inHand += bytes
    return true
  }
  const { ask, prepare, policy, bytesMax, log } = needs
  const tools = { ask, prepare, policy, bytesMax, hold, done: statistics.done }
  const open: Inside['open'] = new Map()
  const inside: Inside = { tools, log, limits, statistics, open, isStopping: false }
  const server = createServer({ noDelay: true }, (socket) => void converse(socket, inside))
  server.maxConnections = limits.connections
  takeProxyHeaders(server, proxies)
  server.on('drop', () => statistics.failed('connections'))
  server.listen({ host, port, backlog: 1_024 })
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      inside.isStopping = true
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      for (const [socket, session] of open) if (!session.isInMessage()) socket.destroy()
      const cut = setTimeout(() => open.forEach((_session, socket) => socket.destroy()), CLOSE_MS)
      await closed
      clearTimeout(cut)
    },
    metrics: () => statistics.metrics(open.size),
  }
}

/** Serves a connection until it ends. */
async function converse(socket: Socket, inside: Inside): Promise<void> {
  const { open, limits, statistics, tools, log } = inside
  const isPassing = open.size >= limits.sessions
  if (isPassing) statistics.failed('sessions')
  const session = createMilterSession(tools, isPassing)
  open.set(socket, session)
  // Without it, an error of the connection ends the process. The loop ends by it too.
  socket.on('error', () => undefined)
  const giveUp = () => {
    statistics.failed('slow')
    leave(socket, limits.goodbyeMs, ACCEPT)
  }
  socket.setTimeout(limits.silenceMs, giveUp)
  const deadline = createDeadline(limits.busyMs, giveUp)
  try {
    await takeAll(socket, session, { deadline, inside })
    leave(socket, limits.goodbyeMs, NOTHING)
  } catch (error) {
    if (!socket.destroyed) {
      statistics.failed(error instanceof MilterError ? 'protocol' : 'internal')
      log.warn({ reason: reasonOf(error).slice(0, 200) }, 'A connection of the milter failed.')
      leave(socket, limits.goodbyeMs, ACCEPT)
    }
  } finally {
    deadline.set(false)
    session.close()
    open.delete(socket)
  }
}

async function takeAll(
  socket: Socket,
  session: MilterSession,
  { deadline, inside }: { deadline: Deadline; inside: Inside },
): Promise<void> {
  const { limits } = inside
  const reader = createPacketReader()
  deadline.set(true)
  // The socket stays open after the loop, so that the last reply is sent.
  for await (const chunk of socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    for (const packet of reader.read(chunk)) {
      const reply = await session.take(packet)
      if (!reply) return
      if (reply.length > 0) socket.write(reply)
      if (socket.writableLength > limits.unreadBytes) {
        throw new MilterError('The mail server does not read our replies.')
      }
    }
    if (inside.isStopping && !session.isInMessage()) return
    deadline.set(reader.isInPacket() || session.isBusy())
  }
}

/** Sends a last reply and closes the connection. The rest of what the peer sends is not kept. */
function leave(socket: Socket, goodbyeMs: number, reply: Buffer): void {
  if (socket.destroyed) return
  socket.end(reply)
  socket.resume()
  setTimeout(() => socket.destroy(), goodbyeMs).unref()
}

/** A time limit that runs while it is set. */
type Deadline = { set: (isRunning: boolean) => void }

function createDeadline(ms: number, end: () => void): Deadline {
  let timer: NodeJS.Timeout | undefined
  return {
    set(isRunning) {
      if (isRunning) timer ??= setTimeout(end, ms).unref()
      else timer = void clearTimeout(timer)
    },
  }
}

type Statistics = {
  done: (stage: 'envelope' | 'message', outcome: Outcome) => void
  failed: (reason: 'connections' | 'sessions' | 'slow' | 'protocol' | 'internal') => void
  metrics: (sessions: number) => Promise<string>
}

function createStatistics(): Statistics {
  const registry = new Registry()
  const registers = [registry]
  const messages = new Counter({
    name: 'signalpost_milter_messages_total',
    help:
      'Messages by what was done with them (none: they passed without a verdict), and whether ' +
      'the envelope settled it before they were transferred.',
    labelNames: ['stage', 'answer'],
    registers,
  })
  const failures = new Counter({
    name: 'signalpost_milter_failed_total',
    help: 'Connections of mail servers whose mail passed because of an error or a limit.',
    labelNames: ['reason'],
    registers,
  })
  const open = new Gauge({
    name: 'signalpost_milter_sessions',
    help: 'Open connections of mail servers.',
    registers,
  })
  return {
    done: (stage, answer) => messages.inc({ stage, answer }),
    failed: (reason) => failures.inc({ reason }),
    metrics(sessions) {
      open.set(sessions)
      return registry.metrics()
    },
  }
}
