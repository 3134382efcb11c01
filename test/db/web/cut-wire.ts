import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

/** A connection to a server that tests can cut and restore. */
export type Wire = { port: number; cut: () => Promise<void>; mend: () => Promise<void> }

/** Opens an interruptible connection to a port of this machine. */
export async function layWire(target: number): Promise<Wire> {
  const sockets = new Set<Socket>()
  let server = await listenOn(0, target, sockets)
  const { port } = server.address() as AddressInfo
  return {
    port,
    async cut() {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
    },
    async mend() {
      server = await listenOn(port, target, sockets)
    },
  }
}

function listenOn(port: number, target: number, sockets: Set<Socket>): Promise<Server> {
  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1')
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one)
      one.pipe(other)
      one.on('error', () => other.destroy())
      one.on('close', () => {
        sockets.delete(one)
        other.destroy()
      })
    }
  })
  return new Promise((resolve) => server.listen(port, '127.0.0.1', () => resolve(server)))
}
