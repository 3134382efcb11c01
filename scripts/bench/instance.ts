import type { ChildProcess } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import { addAccount } from '../../src/processes/add-account.ts'
import { migrateAll } from '../../src/processes/migrate.ts'
import { checkPart, parts, startPart } from '../../src/processes/parts.ts'
import type { Backend } from '../../src/db/backend.ts'
import { type EmbeddedServer, freePort } from '../../src/db/embedded.ts'
import { replaceNetworks } from '../../src/db/networks.ts'
import { createPool, inTransaction, type Pool } from '../../src/db/pool.ts'
import { raiseLimits } from '../../test/support/limits.ts'
import { openOwnServer, postmasterOf } from '../../test/support/own-database.ts'
import { rsaKey } from '../../test/support/signing.ts'

/** A temporary instance with its parts as real processes. */
export type Instance = {
  databaseUrl: string
  pool: Pool
  server: InstanceServer
  /**
   * Starts a part like `signalpost start`, and waits until it is ready. Each call starts another
   * process.
   */
  run: (
    name: 'web' | 'work' | 'count' | 'receive' | 'check',
    env?: NodeJS.ProcessEnv,
  ) => Promise<ChildProcess>
  httpUrl: string
  token: string
  /** The settings of a `work` that signs its mail with an RSA key. */
  signing: NodeJS.ProcessEnv
  close: () => Promise<void>
}

const main = path.join(import.meta.dirname, '..', '..', 'src', 'main.ts')

/** Settings of PostgreSQL for up to sixteen workers; the usual ones are for one machine. */
export const manyConnections: readonly string[] = ['max_connections=400']

/**
 * Starts a migrated, embedded PostgreSQL with the usual durable settings, unless `settings` change
 * them (`name=value`), and one reporter.
 */
export async function startInstance(settings: readonly string[] = []): Promise<Instance> {
  return startInstanceOn(await openOwnServer(settings), 'postgres')
}

/** A server for an instance; `close` is called with the instance. */
type InstanceServer = Pick<EmbeddedServer, 'url' | 'folder'> & {
  dataDir: string
  close: () => Promise<void>
}

/** Starts an instance on an empty database. */
export async function startInstanceOn(server: InstanceServer, backend: Backend): Promise<Instance> {
  const { dataDir } = server
  await migrateAll(server.url, new Date(), { backend })
  const onLost = () => undefined
  const pool = createPool(server.url, { connectionsMax: 4, name: 'bench', onLost })
  const clock = () => new Date()
  await raiseLimits(pool)
  await inTransaction(pool, (tx) => replaceNetworks(tx, 'bench', [everyNetwork()], clock()))
  const { token = '' } = await addAccount(
    {
      email: 'bench@reporter.example',
      password: undefined,
      role: 'administrator' as const,
      wantsToken: true,
    },
    { pool, clock },
  )
  const port = await freePort()
  const environment = {
    ...process.env,
    DATABASE_URL: server.url,
    DB_BACKEND: backend,
    DATA_DIR: dataDir,
    SECRET: 'a secret of the benchmark, not of anybody',
    HTTP_PORT: String(port),
    RECEIVE_PORT: String(await freePort()),
    LOG_LEVEL: 'warn',
    RDAP_BOOTSTRAP_URL: 'none',
    DNS_SERVERS: 'none',
    MESSAGE_AGE_MAX: '0',
  }
  const keyFile = path.join(dataDir, 'dkim.pem')
  await writeFile(keyFile, rsaKey().privateKey)
  const children: ChildProcess[] = []
  const workers = availableParallelism()
  return {
    databaseUrl: server.url,
    pool,
    server,
    httpUrl: `http://127.0.0.1:${port}`,
    token,
    signing: {
      DKIM_DOMAIN: 'signalpost.example',
      DKIM_SELECTOR: 'bench',
      DKIM_KEY_FILE: keyFile,
    },
    async run(name, env = {}) {
      const part = [...parts, checkPart].find((one) => one.name === name)
      if (!part) throw new Error(`There is no part ${name}.`)
      const child = startPart(main, part, { ...environment, ...env }, { dataDir, workers })
      children.push(child)
      await new Promise<void>((resolve, reject) => {
        child.once('message', () => resolve())
        child.once('exit', (code) => reject(new Error(`${name} ended with ${code}`)))
      })
      return child
    },
    async close() {
      await Promise.all(children.map(endOf))
      await pool.end()
      await server.close()
    },
  }
}

/** Ends a child process and waits for it. */
export async function endOf(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  await ended
}

/** Seconds of CPU used by a process and its ended children. */
export async function cpuSeconds(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
  const [user = 0, system = 0, childUser = 0, childSystem = 0] = fields.slice(11, 15)
  return (user + system + childUser + childSystem) / 100
}

/** Seconds of CPU used by a PostgreSQL server with all its processes. */
export async function serverCpuSeconds(server: Pick<EmbeddedServer, 'folder'>): Promise<number> {
  const postmaster = await postmasterOf(server)
  const children = await readFile(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8')
  const pids = [postmaster, ...children.trim().split(' ').map(Number)]
  const seconds = await Promise.all(pids.map((pid) => cpuSeconds(pid).catch(() => 0)))
  return seconds.reduce((sum, one) => sum + one, 0)
}

/** The whole Internet in /8 blocks, with 64 abuse desks in total. */
function everyNetwork() {
  const block = (cidr: string, index: number) => ({
    cidr,
    asn: 64_496 + (index % 16),
    name: `Bench Network ${index % 64}`,
    country: 'FR',
    contacts: [`abuse@network-${index % 64}.example`],
  })
  return [
    ...Array.from({ length: 224 }, (_, index) => block(`${index}.0.0.0/8`, index)),
    block('2000::/3', 7),
  ]
}
