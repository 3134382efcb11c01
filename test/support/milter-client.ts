import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import {
  createPacketReader,
  formatPacket,
  type Packet,
} from '../../src/web/check/milter/packets.ts'

/** The mail server's side of a milter connection. */
export type MilterClient = {
  socket: Socket
  send: (packet: Buffer) => void
  /** Sends packets and returns the letter of the reply, or the letters of all until the last. */
  ask: (...packets: readonly Buffer[]) => Promise<Packet>
  next: () => Promise<Packet>
  /** Everything that Postfix sends for a message up to its body; returns the reply to RCPT. */
  envelope: (given?: { user?: string; from?: string; to?: string }) => Promise<Packet>
  /** Sends a message after its envelope; returns all packets up to the final reply. */
  message: (raw: Buffer) => Promise<Packet[]>
}

/** The offer of Postfix 3.7 with `milter_protocol = 6`: all actions and steps. */
export const POSTFIX_OFFER = formatPacket('O', 6, 0x1ff, 0x1f_ffff)

/** Connects and negotiates as Postfix does; `client` is the address of its client. */
export async function openMilterClient(
  port: number,
  client: { ip?: string; name?: string; port?: string } = {},
): Promise<MilterClient> {
  const { ip = '203.0.113.9', name = 'mx.shop.example', port: daemonPort = '25' } = client
  const its = await connectMilter(port)
  await its.ask(POSTFIX_OFFER)
  its.send(macros('C', '{daemon_port}', daemonPort, '_', `${name} [${ip}]`))
  await its.ask(connectPacket(name, ip))
  its.send(formatPacket('H', name))
  return its
}

/** Connects without a word. */
export async function connectMilter(port: number): Promise<MilterClient> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  const packets = packetsOf(socket)
  const send = (packet: Buffer) => void socket.write(packet)
  const next = async () => {
    const { value, done } = await packets.next()
    if (done) throw new Error('The milter closed the connection.')
    return value
  }
  const ask: MilterClient['ask'] = (...all) => {
    all.forEach(send)
    return next()
  }
  return {
    socket,
    send,
    ask,
    next,
    envelope({ user, from = 'offers@shop.example', to = 'you@home.example' } = {}) {
      if (user !== undefined) send(macros('M', '{auth_authen}', user))
      send(formatPacket('M', `<${from}>`, 'SIZE=100'))
      return ask(formatPacket('R', `<${to}>`))
    },
    async message(raw) {
      const end = raw.indexOf('\r\n\r\n')
      for (const field of raw.toString('latin1', 0, end).split(/\r\n(?![ \t])/)) {
        const colon = field.indexOf(':')
        const value = field.slice(colon + 1).replaceAll('\r\n', '\n')
        send(formatPacket('L', field.slice(0, colon), value))
      }
      send(macros('E', 'i', '4XYZ'))
      const replies = [await ask(rawPacket('B', raw.subarray(end + 4)))]
      replies.push(await ask(rawPacket('E', Buffer.alloc(0))))
      while (!'acry'.includes(replies.at(-1)?.command ?? '')) replies.push(await next())
      return replies
    },
  }
}

async function* packetsOf(socket: Socket): AsyncGenerator<Packet, undefined> {
  const reader = createPacketReader()
  for await (const chunk of socket as AsyncIterable<Buffer>) yield* reader.read(chunk)
  return undefined
}

/** A packet with arbitrary data. */
export function rawPacket(command: string, data: Buffer): Buffer {
  const packet = Buffer.concat([Buffer.alloc(4), Buffer.from(command), data])
  packet.writeUInt32BE(data.length + 1)
  return packet
}

/** The macros before a command. */
export function macros(command: string, ...texts: readonly string[]): Buffer {
  return rawPacket('D', Buffer.from(`${command}${texts.map((text) => `${text}\0`).join('')}`))
}

/** The packet about the client; of the family IPv6 if the address has a colon. */
export function connectPacket(name: string, ip: string): Buffer {
  const family = ip.includes(':') ? '6' : '4'
  return rawPacket('C', Buffer.from(`${name}\0${family}\x11\x22${ip}\0`, 'latin1'))
}
