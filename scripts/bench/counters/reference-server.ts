import { spawn, spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { freePort } from '../../../src/db/embedded.ts'
import { endAlways } from '../endings.ts'
import { connected } from './pipelining.ts'

/**
 * Starts a server for comparison on a free port and in a separate folder, drives it over one
 * connection, and ends it. Prints a note and returns undefined if it is not installed.
 */
export async function withReferenceServer<T>(
  command: string,
  argsOf: (port: number, folder: string) => Promise<string[]> | string[],
  drive: (socket: Socket) => Promise<T>,
): Promise<T | undefined> {
  if (spawnSync(command, ['--version']).status !== 0) {
    console.log(`${command} is not installed: no comparison.`)
    return undefined
  }
  const folder = await mkdtemp(path.join(tmpdir(), 'signalpost-reference-'))
  const port = await freePort()
  const server = spawn(command, await argsOf(port, folder), { stdio: 'ignore' })
  const ended = new Promise((resolve) => server.once('exit', resolve))
  const end = endAlways(async () => {
    server.kill()
    await ended
    await rm(folder, { recursive: true, force: true })
  })
  try {
    const socket = await connected(port)
    const result = await drive(socket)
    socket.destroy()
    return result
  } finally {
    await end()
  }
}
