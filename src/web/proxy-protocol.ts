import { isIP, type Server, type Socket } from 'node:net'
import { addressScope, type NetworkSet, networkSet, parseIp } from '../mail/ip.ts'

/** Time in milliseconds for the header of a proxy, which sends it before anything else. */
const HEADER_MS = 5_000
/** With CR and LF. */
const TEXT_BYTES_MAX = 107
/** Far more than addresses and the usual extensions need. */
const BINARY_BYTES_MAX = 4_096
const SIGNATURE = Buffer.from('0d0a0d0a000d0a515549540a', 'hex')
const TEXT_START = Buffer.from('PROXY ')
const BINARY_HEAD_BYTES = 16

/** A header: its length, and the address of the client if it names one. */
type Header = { bytes: number; client: string | undefined }

/**
 * Parses the header of the PROXY protocol, version 1 or 2, at the start of a connection
 * (https://www.haproxy.org/download/3.0/doc/proxy-protocol.txt). It names no client if the proxy
 * speaks for itself, or does not know the client. Undefined while bytes are missing.
 */
export function parseProxyHeader(held: Buffer): Header | 'invalid' | undefined {
  if (startsLike(held, SIGNATURE)) return parseBinary(held)
  if (startsLike(held, TEXT_START)) return parseText(held)
  return 'invalid'
}

/** Whether bytes begin with others, as far as they have arrived. */
function startsLike(held: Buffer, start: Buffer): boolean {
  const length = Math.min(held.length, start.length)
  return held.subarray(0, length).equals(start.subarray(0, length))
}

function parseText(held: Buffer): Header | 'invalid' | undefined {
  const end = held.subarray(0, TEXT_BYTES_MAX).indexOf('\r\n')
  if (end < 0) return held.length < TEXT_BYTES_MAX ? undefined : 'invalid'
  const line = held.toString('latin1', 0, end)
  const bytes = end + 2
  if (/^PROXY UNKNOWN(?: |$)/.test(line)) return { bytes, client: undefined }
  const [, version, client = '', , ...ports] =
    /^PROXY TCP([46]) (\S+) (\S+) (\d{1,5}) (\d{1,5})$/.exec(line) ?? []
  if (ports.length === 0 || ports.some((port) => Number(port) > 65_535)) return 'invalid'
  return isIP(client) === Number(version) ? { bytes, client } : 'invalid'
}

function parseBinary(held: Buffer): Header | 'invalid' | undefined {
  if (held.length < BINARY_HEAD_BYTES) return undefined
  const [command = 0, family = 0] = held.subarray(SIGNATURE.length)
  const bytes = BINARY_HEAD_BYTES + held.readUInt16BE(14)
  if (command !== 0x20 && command !== 0x21) return 'invalid'
  if (bytes > BINARY_BYTES_MAX) return 'invalid'
  if (held.length < bytes) return undefined
  // The command LOCAL, or an address that is not of the Internet.
  if (command === 0x20 || (family !== 0x11 && family !== 0x21)) return { bytes, client: undefined }
  const rest = held.subarray(BINARY_HEAD_BYTES, bytes)
  const isFour = family === 0x11
  if (rest.length < (isFour ? 12 : 36)) return 'invalid'
  if (isFour) return { bytes, client: rest.subarray(0, 4).join('.') }
  const groups = Array.from({ length: 8 }, (_, at) => rest.readUInt16BE(2 * at).toString(16))
  return { bytes, client: groups.join(':') }
}

/**
 * Makes a server read the PROXY protocol from proxies, before its protocol begins: each of their
 * connections must start with a header, and has the address of the client that the header names.
 * Closes connections without a valid header. From others, a header is data that every protocol
 * refuses. Call it when all listeners for connections are there.
 *
 * @param cidrs the addresses and blocks of the proxies
 */
export function takeProxyHeaders(server: Server, cidrs: readonly string[]): void {
  if (cidrs.length === 0) return
  const proxies = networkSet(cidrs)
  const listeners = server.listeners('connection')
  server.removeAllListeners('connection')
  server.on('connection', (socket: Socket) => {
    const proceed = () => {
      for (const listener of listeners) listener.call(server, socket)
    }
    if (isProxy(socket, proxies)) readHeader(socket, proceed)
    else proceed()
  })
}

function isProxy({ remoteAddress }: Socket, proxies: NetworkSet): boolean {
  const address = parseIp(remoteAddress ?? '')
  return address !== undefined && proxies.has(address)
}

function readHeader(socket: Socket, proceed: () => void): void {
  let held: Buffer = Buffer.alloc(0)
  const giveUp = () => void socket.destroy()
  const deadline = setTimeout(giveUp, HEADER_MS)
  const look = (chunk: Buffer) => {
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk])
    const header = parseProxyHeader(held)
    if (header === undefined) return
    if (header === 'invalid') return giveUp()
    clearTimeout(deadline)
    socket.off('data', look).off('end', giveUp)
    socket.pause()
    const rest = held.subarray(header.bytes)
    if (rest.length > 0) socket.unshift(rest)
    if (header.client !== undefined) setClient(socket, header.client)
    proceed()
    // The server for mail listens to the socket only in the next turn of the loop.
    setImmediate(() => socket.off('error', giveUp).resume())
  }
  socket.on('data', look).on('end', giveUp).on('error', giveUp)
  socket.once('close', () => clearTimeout(deadline))
}

/**
 * Gives a connection the address of its client. A program on the machine of the proxy is not one on
 * ours, so it keeps the address of the proxy.
 */
function setClient(socket: Socket, client: string): void {
  const address = parseIp(client)
  if (!address || addressScope(address) === 'loopback') return
  Object.defineProperty(socket, 'remoteAddress', { value: address.text })
}
