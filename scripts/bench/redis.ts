import { spawn, spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { freePort } from '../../src/db/embedded.ts'
import { keyOf, zipf } from './counter-stage.ts'

const PIPELINE = 2_000

/**
 * How many `HINCRBY` a second one pipelining client gets through to a Redis syncing every second,
 * each on a key of Zipf's law. Undefined where no Redis is installed.
 */
export async function benchRedis(seconds: number, keys: number): Promise<number | undefined> {
  if (spawnSync('redis-server', ['--version']).status !== 0) {
    console.log('redis-server is not installed: no comparison.')
    return undefined
  }
  const folder = await mkdtemp(path.join(tmpdir(), 'signalpost-redis-'))
  const port = await freePort()
  const durable = ['--appendonly', 'yes', '--appendfsync', 'everysec', '--save', '']
  const args = ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', folder, ...durable]
  const server = spawn('redis-server', args, { stdio: 'ignore' })
  const ended = new Promise((resolve) => server.once('exit', resolve))
  try {
    const socket = await connected(port)
    const perSecond = await drive(socket, seconds, keys)
    socket.destroy()
    console.log(`Redis, everysec: ${Math.round(perSecond).toLocaleString('en')} HINCRBY/s`)
    return perSecond
  } finally {
    server.kill()
    await ended
    await rm(folder, { recursive: true, force: true })
  }
}

async function connected(port: number): Promise<Socket> {
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

/** Two pipelines are always under way, so that neither side waits for the other. */
async function drive(socket: Socket, seconds: number, keys: number): Promise<number> {
  let answered = 0
  let sent = 0
  let wake: () => void = () => undefined
  socket.on('data', (data) => {
    for (const byte of data) if (byte === 58) answered++
    wake()
  })
  const started = performance.now()
  while (performance.now() - started < seconds * 1_000) {
    let commands = ''
    for (let count = 0; count < PIPELINE; count++) {
      const { hi, lo } = keyOf(zipf(keys))
      const key = `${hi.toString(36)}${lo.toString(36)}`
      commands += `*4\r\n$7\r\nHINCRBY\r\n$${key.length}\r\n${key}\r\n$1\r\ns\r\n$1\r\n1\r\n`
    }
    socket.write(commands, 'latin1')
    sent += PIPELINE
    while (answered < sent - PIPELINE * 2) await new Promise<void>((resolve) => (wake = resolve))
  }
  while (answered < sent) await new Promise<void>((resolve) => (wake = resolve))
  return (answered / (performance.now() - started)) * 1_000
}
