import { createServer, type AddressInfo, type Socket } from 'node:net'

/** A step of a session at which a failure may occur. */
type Step = 'connect' | 'greeting' | 'ehlo' | 'mail' | 'rcpt' | 'data' | 'dot'

/** One mail that was accepted, and whether its sender received the answer. */
type Kept = { messageId: string; raw: string; at: number; isAnswered: boolean }

/** A mail server that fails at random at each step, and records what it accepted and refused. */
export type FaultySink = {
  url: string
  kept: readonly Kept[]
  /** Return paths of mails that were refused permanently. */
  refused: ReadonlySet<string>
  faults: ReadonlyMap<string, number>
  /** Stops all failures. */
  heal: () => void
  close: () => Promise<void>
}

type Fault = '4xx' | '5xx' | 'drop' | 'stall' | 'cut'
const FAULTS: readonly Fault[] = ['4xx', '5xx', 'drop', 'stall', 'cut']
const replies: Partial<Record<Step, string>> = {
  greeting: '220 sink\r\n',
  ehlo: '250-sink\r\n250-PIPELINING\r\n250-8BITMIME\r\n250 DSN\r\n',
  mail: '250 ok\r\n',
  rcpt: '250 ok\r\n',
  data: '354 go on\r\n',
  dot: '250 taken\r\n',
}

/** Starts a faulty sink; at each step one of `oneIn` sessions fails. */
export async function startFaultySink(chance: () => number, oneIn: number): Promise<FaultySink> {
  const kept: Kept[] = []
  const refused = new Set<string>()
  const faults = new Map<string, number>()
  const sockets = new Set<Socket>()
  let isHealed = false

  const faultAt = (step: Step): Fault | undefined => {
    if (isHealed || chance() * oneIn >= 1) return undefined
    const fault = FAULTS[Math.floor(chance() * FAULTS.length)] ?? 'drop'
    const its = fault === 'cut' && step !== 'dot' ? 'drop' : fault
    const name = `${its} at ${step}`
    faults.set(name, (faults.get(name) ?? 0) + 1)
    return its
  }

  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => sockets.delete(socket))
    if (faultAt('connect') !== undefined) return void socket.destroy()
    const session = { mailFrom: '', hasRecipient: false, isStalled: false }
    /** Answers a step or fails; returns true if the session continues. */
    const answer = (step: Step, mail?: string): boolean => {
      const fault = faultAt(step)
      const isTaken = mail !== undefined && (fault === undefined || fault === 'cut')
      if (isTaken) {
        const messageId = /^Message-ID: (\S+)/m.exec(mail)?.[1] ?? ''
        const isAnswered = fault === undefined && !socket.destroyed
        kept.push({ messageId, raw: mail, at: Date.now(), isAnswered })
      }
      if (fault === 'stall') session.isStalled = true
      else if (fault === 'drop' || fault === 'cut') socket.destroy()
      else if (fault === undefined) socket.write(replies[step] ?? '250 ok\r\n')
      else {
        const isAboutMail = step === 'mail' || step === 'rcpt' || step === 'data' || step === 'dot'
        if (fault === '5xx' && isAboutMail) refused.add(session.mailFrom)
        socket.write(fault === '5xx' ? '550 never\r\n' : '450 later\r\n')
      }
      return fault === undefined
    }
    if (answer('greeting')) converse(socket, session, answer)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `smtp://127.0.0.1:${port}?ignoreTLS=true`,
    ...{ kept, refused, faults },
    heal: () => (isHealed = true),
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise<void>((resolve) => void server.close(() => resolve()))
    },
  }
}

/** DATA is accepted without a recipient, as RFC 2920 allows if commands arrive together. */
function converse(
  socket: Socket,
  session: { mailFrom: string; hasRecipient: boolean; isStalled: boolean },
  answer: (step: Step, mail?: string) => boolean,
): void {
  let held = ''
  let isData = false
  socket.setEncoding('latin1')
  socket.on('data', (chunk: string) => {
    held += chunk
    for (;;) {
      const end = isData ? held.indexOf('\r\n.\r\n') : held.indexOf('\r\n')
      if (end < 0 || session.isStalled || socket.destroyed) return
      const piece = held.slice(isData ? 2 : 0, end)
      held = held.slice(end + (isData ? 5 : 2))
      if (isData) {
        isData = false
        if (session.hasRecipient) answer('dot', piece)
        else socket.write('554 no recipient\r\n')
      } else {
        const step = stepOf(piece)
        if (step === 'mail') session.mailFrom = /<([^>]*)>/.exec(piece)?.[1] ?? ''
        if (step === undefined) socket.write(/^quit/i.test(piece) ? '221 bye\r\n' : '250 ok\r\n')
        else {
          const isOk = answer(step)
          if (step === 'mail' || step === 'rcpt') session.hasRecipient = isOk && step === 'rcpt'
          isData = isOk && step === 'data'
          // A message without lines is a dot alone.
          if (isData) held = `\r\n${held}`
        }
      }
    }
  })
}

function stepOf(line: string): Step | undefined {
  if (/^(ehlo|helo)/i.test(line)) return 'ehlo'
  if (/^mail from/i.test(line)) return 'mail'
  if (/^rcpt to/i.test(line)) return 'rcpt'
  return /^data$/i.test(line) ? 'data' : undefined
}
