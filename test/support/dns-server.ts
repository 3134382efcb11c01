import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import {
  type answerCodes,
  decodeQuestion,
  encodeAnswer,
  type Question,
  type TestRecord,
} from './dns-message.ts'

/** How the server handles a question: with an answer code, or without any answer. */
type Conduct = keyof typeof answerCodes | 'silence'

/** A name server on the loopback interface with answers given by the test. */
export type DnsServer = {
  /** The address in the form of `DNS_SERVERS`: `ip:port`. */
  address: string
  /** All questions received by UDP or TCP, in order: `A name`. */
  questions: string[]
  /** Sets the records of a name; without records, the name exists but is empty. */
  put: (name: string, ...records: TestRecord[]) => void
  /**
   * Sets how all further questions, or questions for one name, are handled; undefined restores the
   * normal answers.
   */
  behave: (conduct: Conduct | undefined, name?: string) => void
  /** Truncates answers by UDP, so that clients repeat their questions by TCP. */
  cut: () => void
  /** Delays all further answers until the returned function is called. */
  hold: () => () => void
  /** Resolves when at least `count` questions have been received. */
  asked: (count: number) => Promise<void>
  close: () => Promise<void>
}

/** Starts a name server on a free port. A name without records does not exist. */
export async function startDnsServer(): Promise<DnsServer> {
  const zone = new Map<string, TestRecord[]>()
  const conducts = new Map<string, Conduct>()
  const questions: string[] = []
  const waiting = new Set<{ count: number; resolve: () => void }>()
  const sockets = new Set<Socket>()
  let isCut = false
  let gate = Promise.resolve(undefined)

  function note({ name, type }: Question): void {
    questions.push(`${type} ${name}`)
    for (const waiter of waiting) if (questions.length >= waiter.count) waiter.resolve()
  }

  function answerTo(query: Buffer, wire: 'udp' | 'tcp'): Buffer | undefined {
    const { name, type } = decodeQuestion(query)
    const conduct = conducts.get(name) ?? conducts.get('')
    if (conduct === 'silence') return undefined
    const known = zone.get(name)
    const code = conduct ?? (known ? 'NOERROR' : 'NXDOMAIN')
    const records = code === 'NOERROR' ? (known ?? []).filter((one) => one.type === type) : []
    return encodeAnswer(query, { code, records, isCut: isCut && wire === 'udp' })
  }

  async function take(query: Buffer, wire: 'udp' | 'tcp', send: (answer: Buffer) => void) {
    note(decodeQuestion(query))
    await gate
    const answer = answerTo(query, wire)
    if (answer) send(answer)
  }

  const tcp = createServer((socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    socket.on('error', () => undefined)
    // A question is far smaller than one packet; two bytes with its length precede it.
    socket.on('data', (bytes: Buffer) => {
      void take(bytes.subarray(2), 'tcp', (answer) => {
        const length = Buffer.alloc(2)
        length.writeUInt16BE(answer.length)
        socket.write(Buffer.concat([length, answer]))
      })
    })
  })
  tcp.listen(0, '127.0.0.1')
  await once(tcp, 'listening')
  const { port } = tcp.address() as AddressInfo
  const udp = createSocket('udp4')
  let isClosed = false
  udp.on('message', (query, from) => {
    void take(query, 'udp', (answer) => {
      if (!isClosed) udp.send(answer, from.port, from.address)
    })
  })
  udp.bind(port, '127.0.0.1')
  await once(udp, 'listening')

  return {
    address: `127.0.0.1:${port}`,
    questions,
    put: (name, ...records) => void zone.set(name, records),
    behave(conduct, name = '') {
      if (conduct === undefined) conducts.delete(name)
      else conducts.set(name, conduct)
    },
    cut: () => void (isCut = true),
    hold() {
      const { promise, resolve } = Promise.withResolvers<undefined>()
      gate = promise
      return () => resolve(undefined)
    },
    asked(count) {
      if (questions.length >= count) return Promise.resolve()
      return new Promise((resolve) => waiting.add({ count, resolve }))
    },
    async close() {
      isClosed = true
      for (const socket of sockets) socket.destroy()
      udp.close()
      tcp.close()
      await once(tcp, 'close')
    },
  }
}
