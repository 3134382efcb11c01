import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'

/** A client that talks to a mail listener line by line, as a test tells it. */
export type SmtpTalk = {
  /** Waits for the next reply of the listener, with all its lines. */
  hear: () => Promise<string>
  /** Sends a line and waits for the reply. */
  say: (line: string) => Promise<string>
  /** Sends bytes unchanged, and does not wait for a reply. */
  push: (bytes: Buffer | string) => void
  /**
   * Sends a mail after DATA, with dots doubled and the end mark, and waits for `replies` replies.
   */
  mail: (raw: Buffer | string, replies?: number) => Promise<string[]>
  /** Sends STARTTLS and continues encrypted; resolves to the listener's certificate. */
  encrypt: () => Promise<string>
  /** Resolves when the listener has closed the connection. */
  closed: Promise<undefined>
  end: () => void
}

/** Connects to a port of this machine; the caller must wait for the greeting. */
export function smtpTalk(port: number): SmtpTalk {
  let socket: Socket | TLSSocket = connect(port, '127.0.0.1')
  let heard = ''
  const waiting: ((reply: string) => void)[] = []
  const ended = Promise.withResolvers<undefined>()
  const settle = () => {
    for (;;) {
      const reply = /^(?:\d{3}-[^\n]*\n)*\d{3}(?: [^\n]*)?\r?\n/.exec(heard)?.[0]
      const next = reply === undefined ? undefined : waiting.shift()
      if (reply === undefined || !next) return
      heard = heard.slice(reply.length)
      next(reply.trimEnd())
    }
  }
  const attach = () => {
    socket.on('data', (chunk: Buffer) => {
      heard += chunk.toString('latin1')
      settle()
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      ended.resolve(undefined)
      for (const next of waiting.splice(0)) next('closed')
    })
    // The listener has closed its side: all of its output has been received by then.
    socket.on('end', () => socket.end())
  }
  attach()
  const hear = () =>
    new Promise<string>((resolve) => {
      waiting.push(resolve)
      settle()
      if (socket.destroyed) for (const next of waiting.splice(0)) next('closed')
    })
  const say = (line: string) => {
    socket.write(`${line}\r\n`)
    return hear()
  }
  return {
    hear,
    say,
    push: (bytes) => void socket.write(bytes),
    async mail(raw, replies = 1) {
      const text = Buffer.from(raw).toString('latin1').replace(/^\./gm, '..')
      socket.write(Buffer.from(`${text.replace(/\r\n$/, '')}\r\n.\r\n`, 'latin1'))
      const answers: string[] = []
      while (answers.length < replies) answers.push(await hear())
      return answers
    },
    async encrypt() {
      await say('STARTTLS')
      socket.removeAllListeners('data')
      const secure = connectTls({ socket, rejectUnauthorized: false })
      socket = secure
      attach()
      await once(secure, 'secureConnect')
      return secure.getPeerX509Certificate()?.toString() ?? ''
    },
    closed: ended.promise,
    end: () => socket.end(),
  }
}
