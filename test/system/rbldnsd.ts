import { type ChildProcess, spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'

/** The lists of a server: for each zone, the lines of its data sets by rbldnsd's type. */
export type Zones = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>

/** A real rbldnsd on the loopback interface. */
export type Rbldnsd = {
  /** The address in the format of `DNS_SERVERS`. */
  address: string
  /** Rewrites a data set; resolves when the server has read it. */
  rewrite: (zone: string, type: string, lines: readonly string[]) => Promise<void>
  /** Ends the server; resolves when it has ended. */
  stop: () => Promise<void>
  /** Ends the server and removes its files. */
  clear: () => Promise<void>
}

const places = [process.env['RBLDNSD'] ?? '', '/usr/sbin/rbldnsd', '/usr/local/sbin/rbldnsd']

/**
 * Starts a server with the given lists, as `nobody` if we are root, because it refuses to run as
 * root.
 *
 * @throws Error if rbldnsd is not installed, because a skipped test would show nothing
 */
export async function startRbldnsd(zones: Zones): Promise<Rbldnsd> {
  const folder = await mkdtemp(path.join(tmpdir(), 'signalpost-rbldnsd-'))
  await chmod(folder, 0o755)
  const sets = Object.entries(zones).flatMap(([zone, byType]) =>
    Object.entries(byType).map(([type, lines]) => ({ zone, type, lines })),
  )
  const write = (zone: string, type: string, lines: readonly string[]) =>
    writeFile(path.join(folder, fileOf(zone, type)), `${lines.join('\n')}\n`)
  for (const { zone, type, lines } of sets) await write(zone, type, lines)
  const served = await serveFolder(
    folder,
    sets.map(({ zone, type }) => ({ zone, type, file: fileOf(zone, type) })),
  )
  return {
    address: served.address,
    async rewrite(zone, type, lines) {
      await write(zone, type, lines)
      await served.reload()
    },
    stop: served.stop,
    async clear() {
      await served.stop()
      await rm(folder, { recursive: true })
    },
  }
}

/** A real rbldnsd with files written by another program. */
export type ServedFolder = Pick<Rbldnsd, 'address' | 'stop'> & {
  /** Makes the server read its files again; resolves to its output since then. */
  reload: () => Promise<string>
  /** Returns the whole output of the server. */
  said: () => string
}

/**
 * Starts a server with the files of a folder, which must be readable for everyone.
 *
 * @throws Error if rbldnsd is not installed
 */
export async function serveFolder(
  folder: string,
  sets: readonly { zone: string; type: string; file: string }[],
): Promise<ServedFolder> {
  const program = places.find((place) => place !== '' && existsSync(place))
  if (program === undefined) throw new Error('rbldnsd is missing: apt-get install rbldnsd')
  const port = await freeUdpPort()
  const account = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
  const child = spawn(program, [
    ...['-n', ...account, '-w', folder, '-b', `127.0.0.1/${port}`],
    ...sets.map(({ zone, type, file }) => `${zone}:${type}:${file}`),
  ])
  const { says, said } = listen(child)
  await says(/ started /)
  return {
    address: `127.0.0.1:${port}`,
    said,
    async reload() {
      const before = said().length
      const reloaded = says(/zones reloaded|will not be serviced/)
      child.kill('SIGHUP')
      await reloaded
      return said().slice(before)
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
    },
  }
}

function fileOf(zone: string, type: string): string {
  return `${zone}.${type}`
}

/**
 * Collects the output of the server. `says` waits for new output that matches, and rejects if the
 * server ends instead.
 */
function listen(child: ChildProcess): {
  says: (words: RegExp) => Promise<void>
  said: () => string
} {
  let said = ''
  const listeners = new Set<(chunk: string) => void>()
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      said += String(chunk)
      for (const listener of listeners) listener(String(chunk))
    })
  }
  const says = (words: RegExp) =>
    new Promise<void>((resolve, reject) => {
      let news = ''
      const fail = (error: Error) => settle(() => reject(error))
      const end = () => fail(new Error(`rbldnsd ended.\n${said}`))
      const hear = (chunk: string) => {
        news += chunk
        if (words.test(news)) settle(resolve)
      }
      const settle = (tell: () => void) => {
        listeners.delete(hear)
        child.off('error', fail)
        child.off('exit', end)
        tell()
      }
      listeners.add(hear)
      child.once('error', fail)
      child.once('exit', end)
    })
  return { says, said: () => said }
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
