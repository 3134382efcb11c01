import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'

/**
 * Ways in which a mail server stops working. `kept`: it accepts each message, but never answers the
 * final dot. `trickle`: it sends a byte a second. `half-close`: it ends its side of each
 * connection.
 */
export const hangings = [
  ...([
    'greeting',
    'ehlo',
    'starttls',
    'handshake',
    'mail',
    'rcpt',
    'data',
    'dot',
    'kept',
  ] as const),
  ...(['trickle', 'trickle-rcpt', 'half-close', 'refuse', 'reset', 'reset-rcpt'] as const),
  ...(['421', '451', '421-mail', '451-rcpt', '451-dot'] as const),
] as const

export type Hanging = (typeof hangings)[number]

/** A mail server that hangs on demand. Connections that hang are never answered, also later. */
export type HangingRelay = {
  url: string
  /** The Message-IDs of the messages that it accepted, in order. */
  kept: string[]
  /** The connections that were opened since the last `hang`. */
  opened: () => number
  hang: (how: Hanging | undefined) => Promise<void>
  close: () => Promise<void>
}

const replies: Record<string, string> = {
  greeting: '220 relay',
  ehlo: '250-relay\r\n250 8BITMIME',
  mail: '250 ok',
  rcpt: '250 ok',
  data: '354 go on',
  dot: '250 taken',
}

/** What is answered at a step instead of the usual reply; null: nothing. */
function answerAt(step: string, how: Hanging | undefined): string | null | undefined {
  if (how === undefined) return replies[step]
  if (step === 'ehlo' && (how === 'starttls' || how === 'handshake')) {
    return '250-relay\r\n250 STARTTLS'
  }
  if (step === 'starttls') return how === 'starttls' ? null : '220 go on'
  if (how === step || (how === 'kept' && step === 'dot')) return null
  const [code = '', at = 'greeting'] = how.split('-')
  return /^4\d\d$/.test(code) && at === step ? `${code} 4.3.0 later` : replies[step]
}

/** Starts a mail server on the loopback interface that works until it is told to hang. */
export async function startHangingRelay(): Promise<HangingRelay> {
  const kept: string[] = []
  const sockets = new Set<Socket>()
  let how: Hanging | undefined
  let opened = 0

  const accept = (socket: Socket) => {
    sockets.add(socket)
    opened++
    socket.on('error', () => socket.destroy())
    socket.on('close', () => sockets.delete(socket))
    socket.on('end', () => socket.end())
    if (how === 'reset') return void socket.resetAndDestroy()
    if (how === 'half-close') return void socket.end()
    let held = ''
    let isData = false
    let isHung = false
    const say = (step: string): boolean => {
      const answer = answerAt(step, how)
      if (how === 'reset-rcpt' && step === 'rcpt') socket.resetAndDestroy()
      if (socket.destroyed) return false
      isHung = answer === null
      if (answer === null || answer === undefined) return false
      if (how === 'trickle' || (how === 'trickle-rcpt' && step === 'rcpt')) {
        isHung = true
        void trickle(socket, answer)
        return false
      }
      socket.write(`${answer}\r\n`)
      isHung = how === 'handshake' && step === 'starttls'
      return answer === replies[step]
    }
    socket.setEncoding('latin1')
    socket.on('data', (chunk: string) => {
      held += chunk
      for (;;) {
        const end = isData ? held.indexOf('\r\n.\r\n') : held.indexOf('\r\n')
        if (end < 0 || isHung || socket.destroyed) return
        const piece = held.slice(0, end)
        held = held.slice(end + (isData ? 5 : 2))
        if (isData) {
          isData = false
          const isTaken = how === 'kept' || answerAt('dot', how) === replies['dot']
          if (isTaken) kept.push(/^Message-ID: (\S+)/im.exec(piece)?.[1] ?? '')
          say('dot')
        } else {
          const step = /^(ehlo|starttls|mail|rcpt|data)/i.exec(piece)?.[1]?.toLowerCase()
          if (step === undefined) socket.write(/^quit/i.test(piece) ? '221 bye\r\n' : '250 ok\r\n')
          else isData = say(step) && step === 'data'
        }
      }
    })
    say('greeting')
  }

  let port = 0
  let server: Server | undefined
  const listen = async () => {
    const opening = createServer({ allowHalfOpen: true }, accept)
    await new Promise<void>((resolve) => opening.listen(port, '127.0.0.1', resolve))
    port = (opening.address() as AddressInfo).port
    server = opening
  }
  const shut = async () => {
    const closing = server
    server = undefined
    for (const socket of sockets) socket.destroy()
    if (closing) await new Promise<void>((resolve) => void closing.close(() => resolve()))
  }
  await listen()
  return {
    url: `smtp://127.0.0.1:${port}`,
    kept,
    opened: () => opened,
    async hang(next) {
      how = next
      opened = 0
      if (next === 'refuse') await shut()
      else if (!server) await listen()
    },
    close: shut,
  }
}

async function trickle(socket: Socket, answer: string): Promise<void> {
  for (const byte of `${answer.slice(0, 3)}-${answer.slice(4)}`) {
    if (socket.destroyed) return
    socket.write(byte)
    await new Promise((resolve) => setTimeout(resolve, 1_000).unref())
  }
}
