import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

const REQUESTS_AT_ONCE = 2_000

/** Connects to a server on this machine, and retries while it is starting. */
export async function connected(port: number): Promise<Socket> {
  for (let attempt = 0; ; attempt++) {
    const socket = connect(port, '127.0.0.1')
    try {
      await new Promise((resolve, reject) => {
        socket.once('connect', resolve)
        socket.once('error', reject)
      })
      return socket
    } catch (error) {
      if (attempt === 100) throw error
      await wait(50)
    }
  }
}

/**
 * The load of a measurement: `requests` composes that many requests, and `count` returns how many
 * answers the received bytes complete.
 */
type Load = {
  requests: (count: number) => string | Buffer
  count: (data: Buffer) => number
  seconds: number
}

/**
 * Returns the number of requests answered per second. Two pipelines are always under way, so that
 * neither side waits for the other.
 */
export async function pipelined(
  socket: Socket,
  { requests, count, seconds }: Load,
): Promise<number> {
  let answered = 0
  let sent = 0
  let failed: unknown
  let wake: () => void = () => undefined
  const fail = (error: unknown) => {
    failed = error
    wake()
  }
  socket.on('error', fail)
  socket.on('close', () => fail(new Error('The server has hung up.')))
  socket.on('data', (data: Buffer) => {
    try {
      answered += count(data)
    } catch (error) {
      fail(error)
    }
    wake()
  })
  const until = async (answers: number) => {
    while (answered < answers) {
      if (failed) throw failed
      await new Promise<void>((resolve) => (wake = resolve))
    }
  }
  const started = performance.now()
  while (performance.now() - started < seconds * 1_000) {
    socket.write(requests(REQUESTS_AT_ONCE), 'latin1')
    sent += REQUESTS_AT_ONCE
    await until(sent - REQUESTS_AT_ONCE * 2)
  }
  await until(sent)
  return (answered / (performance.now() - started)) * 1_000
}
