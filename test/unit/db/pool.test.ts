import { type AddressInfo, createServer } from 'node:net'
import { expect, test } from 'vitest'
import { createPool, inTransaction } from '../../../src/db/pool.ts'

/** A message of the server: its type, its length and its content. */
function message(type: string, content: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeInt32BE(content.length + 4)
  return Buffer.concat([Buffer.from(type), length, content])
}

test('a connection that the server ends as it begins does not end the process', async () => {
  const accepted = message('R', Buffer.alloc(4))
  const ready = message('Z', Buffer.from('I'))
  const ended = message('E', Buffer.from('SFATAL\0C57P01\0Mthe server stops\0\0'))
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => socket.end(Buffer.concat([accepted, ready, ended])))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const options = { connectionsMax: 1, name: 'test', onLost: () => undefined }
  const pool = createPool(`postgres://someone@127.0.0.1:${port}/any`, options)
  try {
    await expect(inTransaction(pool, (tx) => tx.query('select 1'))).rejects.toThrow()
    await expect(pool.query('select 1')).rejects.toThrow()
  } finally {
    await pool.end()
    server.close()
  }
})
