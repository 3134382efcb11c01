import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { freePort } from '../support/free-port.ts'
import { until } from '../support/process.ts'

/** A real pgbouncer in front of one database. */
export type Pgbouncer = {
  /** The URL of the database through the pooler. */
  url: string
  /** Ends the pooler and removes its files. */
  clear: () => Promise<void>
}

const program = process.env['PGBOUNCER'] ?? '/usr/sbin/pgbouncer'

/**
 * Whether this pgbouncer can keep prepared statements in transaction mode, which requires version
 * 1.21 or later.
 */
export async function keepsStatements(): Promise<boolean> {
  const { stdout } = await promisify(execFile)(program, ['--version']).catch((cause: unknown) => {
    throw new Error('pgbouncer is missing: apt-get install pgbouncer', { cause })
  })
  const [, major, minor] = /PgBouncer (\d+)\.(\d+)/.exec(stdout) ?? []
  return Number(major) > 1 || Number(minor) >= 21
}

/** Starts a pgbouncer with additional lines of configuration. */
export async function startPgbouncer(
  databaseUrl: string,
  settings: readonly string[],
): Promise<Pgbouncer> {
  const folder = await mkdtemp(path.join(tmpdir(), 'signalpost-pgbouncer-'))
  await chmod(folder, 0o755)
  const port = await freePort()
  const to = new URL(databaseUrl)
  const password = decodeURIComponent(to.password)
  const file = path.join(folder, 'pgbouncer.ini')
  const lines = [
    '[databases]',
    `pooled = host=${to.hostname} port=${to.port} dbname=${to.pathname.slice(1)} ` +
      `user=${to.username}${password === '' ? '' : ` password=${password}`}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    ...settings,
  ]
  await writeFile(file, `${lines.join('\n')}\n`)
  const account = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
  const child = spawn(program, [...account, file], { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.on('data', (chunk) => (said += String(chunk)))
  const ended = once(child, 'exit')
  const url = `postgres://anybody@127.0.0.1:${port}/pooled`
  await Promise.race([
    until('pgbouncer', () => answers(url)),
    ended.then(() => Promise.reject(new Error(`pgbouncer ended.\n${said}`))),
  ])
  return {
    url,
    async clear() {
      child.kill('SIGTERM')
      await ended
      await rm(folder, { recursive: true })
    },
  }
}

async function answers(url: string): Promise<true> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  await client.end()
  return true
}
