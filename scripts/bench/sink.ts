import { createServer, type Socket } from 'node:net'

/** One accepted mail: the report's id in its Message-ID, and the time. */
export type Arrival = { id: string; at: number }

/**
 * A mail server that accepts everything immediately, and stores only the time at which each
 * feedback report arrived. It is a child process, which reports its port, and then a list of
 * arrivals every 100 ms.
 *
 * It uses no library, because it must cost almost nothing compared with the measured program.
 */
const arrivals: Arrival[] = []

const server = createServer((socket) => {
  socket.setNoDelay(true)
  socket.write('220 sink\r\n')
  socket.on('error', () => socket.destroy())
  converse(socket)
})

server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.send?.({ port: typeof address === 'object' && address ? address.port : 0 })
})

setInterval(() => {
  if (arrivals.length > 0) process.send?.({ arrivals: arrivals.splice(0) })
}, 100)

process.on('disconnect', () => process.exit())

function converse(socket: Socket): void {
  let held = ''
  let isData = false
  socket.setEncoding('latin1')
  socket.on('data', (chunk: string) => {
    held += chunk
    for (;;) {
      const end = isData ? held.indexOf('\r\n.\r\n') : held.indexOf('\r\n')
      if (end < 0) return
      const piece = held.slice(0, end)
      held = held.slice(end + (isData ? 5 : 2))
      if (isData) {
        arrivals.push({ id: idOf(piece), at: performance.timeOrigin + performance.now() })
        isData = false
        socket.write('250 taken\r\n')
      } else {
        isData = /^data$/i.test(piece)
        socket.write(answerTo(piece))
      }
    }
  })
}

function answerTo(command: string): string {
  if (/^data$/i.test(command)) return '354 go on\r\n'
  if (/^ehlo/i.test(command)) return '250-sink\r\n250-PIPELINING\r\n250 8BITMIME\r\n'
  if (/^quit/i.test(command)) return '221 bye\r\n'
  return '250 ok\r\n'
}

function idOf(mail: string): string {
  const at = mail.indexOf('Message-ID: <') + 'Message-ID: <'.length
  return mail.slice(at, at + 36)
}
