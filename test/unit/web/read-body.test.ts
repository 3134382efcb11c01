import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { PassThrough } from 'node:stream'
import { setImmediate as settled } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createBodies, type ReadBody } from '../../../src/web/bodies/read-body.ts'

const IN_HAND_MAX = 10_000_000
const BYTES_MAX = 5_000_000

/** Reads a request whose body arrives in pieces. */
function slowly(read: ReadBody, ownerId?: string) {
  const stream = new PassThrough({ highWaterMark: IN_HAND_MAX })
  const req = Object.assign(stream, { headers: {}, complete: true }) as unknown as IncomingMessage
  const res = new EventEmitter()
  const body = read(req, res as ServerResponse, BYTES_MAX, ownerId)
  body.catch(() => undefined)
  return {
    body,
    async send(bytes: number) {
      for (let left = bytes; left > 0; left -= 100_000) stream.write(Buffer.alloc(100_000))
      await settled()
    },
    async end() {
      stream.end()
      return (await body).length
    },
    close: () => res.emit('close'),
  }
}

test('a slow sender of large bodies does not block others', async () => {
  const read = createBodies(IN_HAND_MAX).readBody
  const hostile = [slowly(read, 'eve'), slowly(read, 'eve'), slowly(read, 'eve')]
  for (const one of hostile) await one.send(2_500_000)
  await expect(hostile[2]?.end()).rejects.toMatchObject({ problem: 'unavailable' })
  const other = slowly(read, 'ann')
  await other.send(2_500_000)
  expect(await other.end()).toBe(2_500_000)
})

test('large bodies leave room for small ones, until there is none', async () => {
  const read = createBodies(IN_HAND_MAX).readBody
  const large = [slowly(read, 'a'), slowly(read, 'b')]
  for (const one of large) await one.send(4_000_000)
  const more = slowly(read, 'c')
  await more.send(600_000)
  await expect(more.end()).rejects.toMatchObject({ problem: 'unavailable' })
  for (let small = 0; small < 4; small++) {
    const one = slowly(read)
    await one.send(500_000)
    expect(await one.end()).toBe(500_000)
  }
  const last = slowly(read)
  await last.send(100_000)
  await expect(last.end()).rejects.toMatchObject({ problem: 'unavailable' })
  large[0]?.close()
  const next = slowly(read)
  await next.send(100_000)
  expect(await next.end()).toBe(100_000)
})
