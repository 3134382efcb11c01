import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { openCheckSite } from './check-site.ts'

test.for([
  ['says nothing', ''],
  ['has only begun to speak', 'CHEC'],
] as const)('a client that %s does not delay the end of the process', async ([, said]) => {
  const site = await openCheckSite()
  const socket = connect(site.port, '127.0.0.1')
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  if (said !== '') await new Promise((resolve) => socket.write(said, resolve))
  // This check is answered after the other connection was opened, so the server knows that
  // connection by now.
  await site.sendRaw('PING RSPAMC/1.3\r\n\r\n')
  const began = performance.now()
  await site.stop()
  expect(performance.now() - began).toBeLessThan(3_000)
  socket.destroy()
  await site.close()
})

test('a client that disconnects after half a handshake is released', async () => {
  const site = await openCheckSite()
  const socket = connect({ port: site.port, host: '127.0.0.1', allowHalfOpen: true })
  socket.resume()
  socket.end('CHEC')
  await once(socket, 'end')
  socket.destroy()
  await site.close()
})
