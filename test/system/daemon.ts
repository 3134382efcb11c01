import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { until } from '../support/process.ts'

/** A system server in the foreground, as a child process. */
export type Daemon = {
  /** Returns everything that the daemon has written. */
  said: () => string
  /** Ends the daemon; resolves when it has ended. */
  stop: () => Promise<void>
}

/** Creates a folder readable by every account, and a function that removes it. */
export async function openFolder(
  name: string,
): Promise<{ at: string; clear: () => Promise<void> }> {
  const at = await mkdtemp(path.join(tmpdir(), `signalpost-${name}-`))
  await chmod(at, 0o755)
  return { at, clear: () => rm(at, { recursive: true, maxRetries: 5 }) }
}

/**
 * Starts a server and waits until it sends its greeting on a port, or accepts connections there if
 * its protocol has no greeting.
 *
 * @throws Error if it is not installed or ends, because a skipped test would show nothing
 */
export async function startDaemon(
  command: readonly [program: string, ...args: string[]],
  { port, package: name, env }: { port: number; package: string; env?: Record<string, string> },
): Promise<Daemon> {
  const [program, ...args] = command
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => (text += String(chunk)))
  }
  const ended = endOf(child, name)
  await Promise.race([
    until(program, () => isListening(port)),
    ended.then(() => Promise.reject(new Error(`${program} ended.\n${text}`))),
  ]).catch((cause: unknown) => {
    child.kill('SIGKILL')
    throw new Error(`${program} did not start.\n${text}`, { cause })
  })
  return {
    said: () => text,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM')
      await ended
    },
  }
}

async function endOf(child: ChildProcess, name: string): Promise<void> {
  const failed = once(child, 'error').then(([cause]) => {
    throw new Error(`${child.spawnfile} is missing: apt-get install ${name}`, { cause })
  })
  await Promise.race([once(child, 'exit'), failed])
}

function isListening(port: number): Promise<true | undefined> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => resolve(undefined))
    socket.on('connect', () => {
      socket.destroy()
      resolve(true)
    })
  })
}
