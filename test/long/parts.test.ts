import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { expect, test } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { closeAfterThisTest } from '../support/after-tests.ts'
import { freshDatabase } from '../support/database.ts'
import { makePlace, type Place, untilRunning } from '../support/instance.ts'
import { spamMessage } from '../support/messages.ts'
import { descendants, isAlive, until } from '../support/process.ts'
import { apiClient, basic } from '../support/reporter.ts'
import { parts } from '../../src/processes/parts.ts'

/** Uses an external PostgreSQL, because these tests are about the other processes. */
async function place(): Promise<Place> {
  const database = await closeAfterThisTest(freshDatabase())
  return closeAfterThisTest(makePlace({ DATABASE_URL: database.url }))
}

test('killed parts are restarted and do their work', async () => {
  const here = await place()
  const { pid } = await untilRunning(here.start())
  const client = apiClient(here.url, basic((await here.accounts()).reporter))
  const partsNow = () => descendants(pid).filter(({ command }) => command.includes('main.ts'))
  const before = partsNow()
  expect(before).toHaveLength(parts.length)
  for (const part of before) process.kill(part.pid, 'SIGKILL')
  await until('as many new parts', () => {
    const after = partsNow().filter((part) => before.every((old) => old.pid !== part.pid))
    return after.length === parts.length ? after : undefined
  })
  const { id } = await until('the API', () => client.post(spamMessage('after-the-kill')))
  await client.untilEvent(id, 'held')
  expect(await until('mail', () => greeting(here.receivePort))).toMatch(/^220 /)
})

test('a part that cannot start yet is retried until it can', async () => {
  const here = await place()
  const squatter = createServer().listen(Number(here.env['HTTP_PORT']), '127.0.0.1')
  await once(squatter, 'listening')
  const program = here.start()
  await program.says(/address already in use/)
  await program.says(/A process ended unexpectedly/)
  squatter.close()
  await untilRunning(program)
  expect((await fetch(`${here.url}/readyz`)).status).toBe(200)
})

test('SIGTERM while the parts are starting ends them too', async () => {
  const here = await place()
  const program = here.start()
  const parts = await until('the first parts', () => {
    const found = here.tree()
    return found.length > 0 ? found : undefined
  })
  expect(await program.stop()).toEqual({ code: 0, signal: null })
  expect([...parts, ...here.tree()].filter(({ pid }) => isAlive(pid))).toEqual([])
})

async function greeting(port: number): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  const [chunk] = (await once(socket, 'data')) as [Buffer]
  socket.destroy()
  return chunk.toString()
}

test('with CHECK_PORT a separate part answers mail servers', async () => {
  const database = await closeAfterThisTest(freshDatabase())
  const port = await freePort()
  const env = { DATABASE_URL: database.url, CHECK_PORT: String(port) }
  const made = await closeAfterThisTest(makePlace(env))
  const program = await untilRunning(made.start())
  expect(program.said()).toContain(`http://127.0.0.1:${port}`)
  const ping = await fetch(`http://127.0.0.1:${port}/ping`)
  expect(await ping.text()).toBe('pong\r\n')
  expect((await program.stop()).code).toBe(0)
})
