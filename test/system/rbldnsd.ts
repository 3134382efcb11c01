import { type ChildProcess, spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'

/** The lists of a server: zone, then data sets of rbldnsd by their type. */
export type Zones = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>

/** A real rbldnsd on the loopback interface. */
export type Rbldnsd = {
  /** As `DNS_SERVERS` takes it. */
  address: string
  /** Writes a data set anew; resolves when the server has read it. */
  rewrite: (zone: string, type: string, lines: readonly string[]) => Promise<void>
  /** Ends the server; resolves when it is gone. */
  stop: () => Promise<void>
  /** Ends the server and removes its files. */
  clear: () => Promise<void>
}

const places = [process.env['RBLDNSD'] ?? '', '/usr/sbin/rbldnsd', '/usr/local/sbin/rbldnsd']

/**
 * Starts a server on these lists, as `nobody` when we are root, which it refuses to be.
 *
 * @throws Error where rbldnsd is not installed: a test of it that is left out shows nothing
 */
export async function startRbldnsd(zones: Zones): Promise<Rbldnsd> {
  const program = places.find((place) => place !== '' && existsSync(place))
  if (program === undefined) throw new Error('rbldnsd is missing: apt-get install rbldnsd')
  const folder = await mkdtemp(path.join(tmpdir(), 'signalpost-rbldnsd-'))
  await chmod(folder, 0o755)
  const sets = Object.entries(zones).flatMap(([zone, byType]) =>
    Object.entries(byType).map(([type, lines]) => ({ zone, type, lines })),
  )
  const write = (zone: string, type: string, lines: readonly string[]) =>
    writeFile(path.join(folder, fileOf(zone, type)), `${lines.join('\n')}\n`)
  for (const { zone, type, lines } of sets) await write(zone, type, lines)
  const port = await freeUdpPort()
  const account = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
  const child = spawn(program, [
    ...['-n', ...account, '-w', folder, '-b', `127.0.0.1/${port}`],
    ...sets.map(({ zone, type }) => `${zone}:${type}:${fileOf(zone, type)}`),
  ])
  const says = listen(child)
  await says(/ started /)
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    await ended
  }
  return {
    address: `127.0.0.1:${port}`,
    async rewrite(zone, type, lines) {
      await write(zone, type, lines)
      const reloaded = says(/zones reloaded/)
      child.kill('SIGHUP')
      await reloaded
    },
    stop,
    async clear() {
      await stop()
      await rm(folder, { recursive: true })
    },
  }
}

function fileOf(zone: string, type: string): string {
  return `${zone}.${type}`
}

/** Waits for what the server has not said before; rejects when it ends instead. */
function listen(child: ChildProcess): (words: RegExp) => Promise<void> {
  let said = ''
  const listeners = new Set<(chunk: string) => void>()
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      said += String(chunk)
      for (const listener of listeners) listener(String(chunk))
    })
  }
  return (words) =>
    new Promise((resolve, reject) => {
      let news = ''
      const hear = (chunk: string) => {
        news += chunk
        if (!words.test(news)) return
        listeners.delete(hear)
        resolve()
      }
      listeners.add(hear)
      child.once('error', reject)
      child.once('exit', () => reject(new Error(`rbldnsd ended.\n${said}`)))
    })
}

async function freeUdpPort(): Promise<number> {
  const socket = createSocket('udp4')
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const { port } = socket.address()
  socket.close()
  await once(socket, 'close')
  return port
}
