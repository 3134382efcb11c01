import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { discardRest } from './bodies/read-body.ts'
import { type ProblemName, problems, problemType } from './problem.ts'

/** A server that takes connections. */
export type Listener = {
  port: number
  /**
   * Goes on answering for `drainMs`, so that a load balancer has time to see that this process is
   * not ready. Then it accepts no connection, lets requests in hand finish for at most 10 s, and
   * cuts what is left. `drained` is called in between.
   */
  close: (drained?: () => void) => Promise<void>
}

/** A 25 MB message at 2 Mbit/s, with some patience. */
const REQUEST_MS = 180_000
const HEADER_MS = 15_000
/** Longer than the idle time of common proxies, so that they close first. */
const IDLE_MS = 75_000
const CLOSE_MS = 9_500
/** Longer than load balancers usually wait between two looks at `/readyz`, and one more. */
const DRAIN_MS = 5_000

/** Where is listened, and what is otherwise than usual there. */
export type ListenOptions = {
  host: string
  port: number
  /** How long it goes on answering once it is to close. */
  drainMs?: number | undefined
  http?: ServerOptions
  /** How many header fields a request may have; Node says 431 from its own limit on. */
  fieldsMax?: number
  /** Takes connections first, and gives those that speak HTTP on. */
  connections?: (socket: Socket, speaksHttp: (socket: Socket) => void) => void
}

/**
 * Listens with limits that a slow or a malformed client runs into, not we. The handler is made once
 * the port is known.
 */
export async function listen(
  createHandler: (port: number, isClosing: () => boolean) => RequestListener,
  { host, port, drainMs = DRAIN_MS, http = {}, fieldsMax, connections }: ListenOptions,
): Promise<Listener> {
  let isClosing = false
  const server = createServer({
    headersTimeout: HEADER_MS,
    requestTimeout: REQUEST_MS,
    connectionsCheckingInterval: 5_000,
    keepAliveTimeout: IDLE_MS,
    noDelay: true,
    ...http,
  })
  if (fieldsMax !== undefined) server.maxHeadersCount = fieldsMax
  if (connections) divert(server, connections)
  server.on('clientError', (error, socket) => refuse(error, socket as Socket))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port, backlog: 1024 }, () => {
      server.removeListener('error', reject)
      resolve()
    })
  })
  const taken = (server.address() as AddressInfo).port
  const handle = createHandler(taken, () => isClosing)
  const inHand = new Set<ServerResponse>()
  server.on('request', (req, res) => {
    inHand.add(res)
    res.once('close', () => inHand.delete(res))
    if (isClosing) res.setHeader('connection', 'close')
    else if (hasBody(req) && !res.shouldKeepAlive) closeAfterBody(req, res)
    // Before Node reads the rest as fast as it comes.
    res.once('prefinish', () => {
      if (!req.complete) discardRest(req)
    })
    handle(req, res)
  })
  // The body is asked for by who reads it, once all that refuses it before has been looked at.
  server.on('checkContinue', (req, res) => void server.emit('request', req, res))
  return {
    port: taken,
    close: async (drained) => {
      isClosing = true
      for (const res of inHand) if (!res.headersSent) res.setHeader('connection', 'close')
      await wait(drainMs)
      drained?.()
      await closeServer(server)
    },
  }
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/**
 * Closes the connection of a client that wants so when the body has ended. Node closes it behind
 * the answer: if that comes while the client still sends, the client sees a reset connection only.
 */
function closeAfterBody(req: IncomingMessage, res: ServerResponse): void {
  // Who waits to be asked for its body has not begun it.
  if (req.headers.expect !== undefined) return
  res.shouldKeepAlive = true
  res.once('finish', () => {
    if (req.complete) return void req.socket.end()
    req.once('end', () => req.socket.end())
    discardRest(req)
  })
}

/** Puts somebody before the server's own reading of connections. */
function divert(server: Server, connections: NonNullable<ListenOptions['connections']>): void {
  const read = server.listeners('connection')
  server.removeAllListeners('connection')
  server.on('connection', (socket: Socket) =>
    connections(socket, (speaking) => {
      for (const listener of read) listener.call(server, speaking)
    }),
  )
}

async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  const idle = setInterval(() => server.closeIdleConnections(), 50)
  const isCut = await Promise.race([closed.then(() => false), wait(CLOSE_MS, true, { ref: false })])
  if (isCut) server.closeAllConnections()
  await closed
  clearInterval(idle)
}

const clientProblems: Readonly<Record<string, ProblemName>> = {
  HPE_HEADER_OVERFLOW: 'header-too-big',
  ERR_HTTP_REQUEST_TIMEOUT: 'too-slow',
}

/** Answers what is no HTTP request, which Express never sees. */
function refuse(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy()
  const { status, title } = problems[clientProblems[error.code ?? ''] ?? 'bad-request']
  const body = JSON.stringify({ type: 'about:blank', title, status })
  socket.end(
    `HTTP/1.1 ${status} Refused\r\nConnection: close\r\nContent-Type: ${problemType}\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
}
