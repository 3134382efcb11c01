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
import { inTime } from '../world.ts'

/** A running HTTP server: its port, and the function that stops it. */
export type Listener = {
  port: number
  /**
   * Continues to answer for `drainMs`, so that a load balancer can notice that this process is not
   * ready, and then calls `drained`. After that, accepts no more connections, lets active requests
   * finish for at most 9.5 s, and closes the rest.
   */
  close: (drained?: () => void) => Promise<void>
}

/**
 * Time limit of a request in milliseconds: enough for a 25 MB message at 2 Mbit/s, with a margin.
 */
const REQUEST_MS = 180_000
const HEADER_MS = 15_000
/** In milliseconds; longer than the idle timeout of common proxies, so that they close first. */
const IDLE_MS = 75_000
const CLOSE_MS = 9_500
/**
 * In milliseconds; longer than the usual interval between two load balancer checks of `/readyz`.
 */
const DRAIN_MS = 5_000

export type ListenOptions = {
  host: string
  port: number
  /** Time in milliseconds for which a closing server continues to answer. */
  drainMs?: number | undefined
  http?: ServerOptions
  /** Maximum number of header fields per request; Node responds with 431 above its own limit. */
  fieldsMax?: number
  /** Gets the server before it listens, with its listeners for connections. */
  prepare?: (server: Server) => void
  /** Receives each new connection, and passes it to `speaksHttp` if the client uses HTTP. */
  connections?: (socket: Socket, speaksHttp: (socket: Socket) => void) => void
}

/**
 * Starts an HTTP server with time limits for slow and malformed clients. `createHandler` is called
 * when the port is known.
 */
export async function listen(
  createHandler: (port: number, isClosing: () => boolean) => RequestListener,
  { host, port, drainMs = DRAIN_MS, http = {}, fieldsMax, connections, prepare }: ListenOptions,
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
  if (connections) redirectConnections(server, connections)
  prepare?.(server)
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
    // Must run before Node reads the rest of the body at full speed.
    res.once('prefinish', () => {
      if (!req.complete) discardRest(req)
    })
    handle(req, res)
  })
  // Sends no 100 Continue here: the code that reads the body sends it, after all checks that may
  // refuse the request.
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
 * If the client asked for the connection to be closed, closes it after the end of the body. Node
 * would close it after the response; a client that is still sending would only see a reset
 * connection.
 */
function closeAfterBody(req: IncomingMessage, res: ServerResponse): void {
  // A client that waits for 100-continue has not started its body.
  if (req.headers.expect !== undefined) return
  res.shouldKeepAlive = true
  res.once('finish', () => {
    if (req.complete) return void req.socket.end()
    req.once('end', () => req.socket.end())
    discardRest(req)
  })
}

/** Passes connections to `connections` before the server reads them. */
function redirectConnections(
  server: Server,
  connections: NonNullable<ListenOptions['connections']>,
): void {
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
  const isCut = await inTime(
    closed.then(() => false),
    CLOSE_MS,
    true,
  )
  if (isCut) server.closeAllConnections()
  await closed
  clearInterval(idle)
}

const clientProblems: Readonly<Record<string, ProblemName>> = {
  HPE_HEADER_OVERFLOW: 'header-too-big',
  ERR_HTTP_REQUEST_TIMEOUT: 'too-slow',
}

/** Responds to malformed HTTP requests, which never reach Express. */
function refuse(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy()
  const { status, title } = problems[clientProblems[error.code ?? ''] ?? 'bad-request']
  const body = JSON.stringify({ type: 'about:blank', title, status })
  socket.end(
    `HTTP/1.1 ${status} Refused\r\nConnection: close\r\nContent-Type: ${problemType}\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
}

/** Returns the URL under which programs on this machine reach the server. */
export function localUrl(host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}
