import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { createMailMemory } from '../../../../src/processes/receive/keep-mail.ts'

const bytes = (count: number) => Readable.from([Buffer.alloc(count), Buffer.alloc(0)])
const length = (raw: Buffer) => Promise.resolve(raw.length)

test('a mail has room beside those that are still being stored, or is deferred', async () => {
  const memory = createMailMemory(100)
  const { promise: stored, resolve: end } = Promise.withResolvers<undefined>()
  const { promise: held, resolve: hold } = Promise.withResolvers<undefined>()
  const first = memory.read(bytes(60), 100, () => {
    hold(undefined)
    return stored
  })
  await held
  await expect(memory.read(bytes(41), 100, length)).rejects.toMatchObject({ responseCode: 452 })
  expect(await memory.read(bytes(40), 100, length)).toBe(40)
  end(undefined)
  await first
  expect(await memory.read(bytes(100), 100, length)).toBe(100)
})

test('a mail that is too large is refused, and its memory released', async () => {
  const memory = createMailMemory(100)
  const chunks = Readable.from([Buffer.alloc(50), Buffer.alloc(1), Buffer.alloc(500)])
  await expect(memory.read(chunks, 50, length)).rejects.toMatchObject({ responseCode: 552 })
  expect(await memory.read(bytes(100), 100, length)).toBe(100)
})

test('a mail that breaks off or cannot be stored is deferred', async () => {
  const memory = createMailMemory(100)
  const broken = new Readable({
    read() {
      this.push(Buffer.alloc(90))
      this.destroy(new Error('The peer is gone.'))
    },
  })
  await expect(memory.read(broken, 100, length)).rejects.toMatchObject({ responseCode: 451 })
  const away = () => Promise.reject(new Error('The database is away.'))
  await expect(memory.read(bytes(90), 100, away)).rejects.toThrow('The database is away.')
  expect(await memory.read(bytes(100), 100, length)).toBe(100)
})
