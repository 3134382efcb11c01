import type { AddressInfo, Socket } from 'node:net'
import { SMTPServer } from 'smtp-server'
import type { SMTPServerDataStream, SMTPServerSession } from 'smtp-server'

/** One message as received: the envelope, and the bytes after dot-unstuffing. */
export type SunkMail = {
  from: string
  to: string[]
  raw: Buffer
  connection: string
  /** When the last byte arrived, in Unix milliseconds. */
  arrivedMs: number
  /** The bounce content that the sender requested (RFC 3461). */
  dsn: { envid: string | null; ret: string | null; notify: string }
}

/** The step of the session at which a failure occurs: `dot` is the reply to the message itself. */
export type SinkStep = 'connect' | 'mail' | 'rcpt' | 'dot'

/**
 * What happens instead of a successful answer: an SMTP reply, a closed connection, no answer at
 * all, or (at `dot`) the message is stored but the connection is closed before the answer.
 */
export type SinkFailure = { code: number; text?: string } | 'drop' | 'stall' | 'keep-and-drop'

/** A local SMTP server that stores the messages it receives, and fails on demand. */
export type SmtpSink = {
  url: string
  port: number
  messages: SunkMail[]
  /** The number of connections opened so far. */
  connections(): number
  /** Makes the next `count` sessions that reach `step` fail there. */
  failNext(step: SinkStep, failure: SinkFailure, count?: number): void
  /** Forgets the sessions that were to fail next. */
  recover(): void
  /** Makes every session fail at `step`; undefined ends this. */
  failAll(step: SinkStep, failure: SinkFailure | undefined): void
  /** Makes every message for a recipient fail at RCPT; undefined ends this. */
  failFor(recipient: string, failure: SinkFailure | undefined): void
  /** Resolves as soon as the sink has `count` messages. */
  received(count: number): Promise<SunkMail[]>
  close(): Promise<void>
}

type Callback = (error?: Error | null) => void

/** Starts a sink on an ephemeral port of the loopback interface. Greets after 100 ms. */
export async function startSmtpSink(options: { sizeMax?: number } = {}): Promise<SmtpSink> {
  const messages: SunkMail[] = []
  const failing = new Map<string, SinkFailure>()
  const failures: { step: SinkStep; failure: SinkFailure }[] = []
  const always = new Map<SinkStep, SinkFailure>()
  const sockets = new Map<number, Socket>()
  const waiting = new Set<{ count: number; resolve: (mails: SunkMail[]) => void }>()
  let connections = 0

  const keep = (mail: SunkMail) => {
    messages.push(mail)
    for (const waiter of waiting) {
      if (messages.length < waiter.count) continue
      waiting.delete(waiter)
      waiter.resolve(messages)
    }
  }

  /** Lets the step succeed, or applies the failure that was requested for it. */
  const pass = (
    step: SinkStep,
    session: SMTPServerSession,
    callback: Callback,
    mail?: SunkMail,
    recipient = '',
  ) => {
    const index = failures.findIndex((planned) => planned.step === step)
    const lasting = always.get(step) ?? failing.get(recipient)
    const failure = index < 0 ? lasting : failures.splice(index, 1)[0]?.failure
    if (mail !== undefined && (failure === undefined || failure === 'keep-and-drop')) keep(mail)
    if (failure === undefined) return callback()
    if (failure === 'stall') return
    if (typeof failure === 'string') return sockets.get(session.remotePort)?.destroy()
    const { code, text = 'as ordered by the test' } = failure
    callback(Object.assign(new Error(text), { responseCode: code }))
  }

  const server = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
    hideDSN: false,
    logger: false,
    ...(options.sizeMax === undefined ? {} : { size: options.sizeMax }),
    onConnect: (session, callback) => pass('connect', session, callback),
    onMailFrom: (_address, session, callback) => pass('mail', session, callback),
    onRcptTo: ({ address }, session, callback) =>
      pass('rcpt', session, callback, undefined, address),
    onData: (stream, session, callback) => {
      void readAll(stream).then((raw) => {
        const { mailFrom, rcptTo } = session.envelope
        const from = mailFrom === false ? '' : mailFrom.address
        const to = rcptTo.map(({ address }) => address)
        const dsn = dsnOf(session.envelope as SMTPServerSession['envelope'] & WithDsn)
        const mail = { from, to, raw, connection: session.id, arrivedMs: Date.now(), dsn }
        pass('dot', session, callback, mail)
        // The sender closed the connection, so no answer can be sent.
      }, callback)
    },
  })
  server.server.on('connection', (socket: Socket) => {
    connections += 1
    const port = socket.remotePort ?? 0
    sockets.set(port, socket)
    socket.once('close', () => sockets.delete(port))
  })
  server.on('error', () => undefined)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.server.address() as AddressInfo

  return {
    url: `smtp://127.0.0.1:${String(port)}`,
    port,
    messages,
    connections: () => connections,
    failNext(step, failure, count = 1) {
      for (let made = 0; made < count; made += 1) failures.push({ step, failure })
    },
    recover: () => void failures.splice(0),
    failAll(step, failure) {
      if (failure === undefined) always.delete(step)
      else always.set(step, failure)
    },
    failFor(recipient, failure) {
      if (failure === undefined) failing.delete(recipient)
      else failing.set(recipient, failure)
    },
    received(count) {
      if (messages.length >= count) return Promise.resolve(messages)
      return new Promise((resolve) => waiting.add({ count, resolve }))
    },
    async close() {
      for (const socket of sockets.values()) socket.destroy()
      await new Promise<void>((resolve) => server.close(resolve))
    },
  }
}

type WithDsn = {
  dsn?: { envid?: string | null; ret?: string | null }
  rcptTo: { dsn?: { notify?: string[] | null } }[]
}

function dsnOf({ dsn, rcptTo }: WithDsn): SunkMail['dsn'] {
  const notify = (rcptTo[0]?.dsn?.notify ?? []).join()
  return { envid: dsn?.envid ?? null, ret: dsn?.ret ?? null, notify }
}

async function readAll(stream: SMTPServerDataStream): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}
