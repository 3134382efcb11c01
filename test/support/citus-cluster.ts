import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { freePort } from './free-port.ts'
import { makeScratchFolder } from './scratch-folder.ts'

/** The scripts that build Citus into PostgreSQL 15, and start and stop a cluster with it. */
const scripts = path.join(import.meta.dirname, '..', '..', '..', 'shared', 'citus')

/** The nodes of a cluster: the coordinator and two workers. */
type NodeName = 'c' | 'w1' | 'w2'

/** A cluster on this machine; `urls` are those of its nodes, without a database name. */
export type CitusCluster = {
  urls: readonly [coordinator: string, ...workers: string[]]
  /** The data folders of the nodes. */
  folders: readonly string[]
  /** The database that has the extension, and knows the nodes. */
  database: string
  /** Stops a node as a power failure does. */
  kill: (node: NodeName) => Promise<void>
  revive: (node: NodeName) => Promise<void>
  stop: () => Promise<void>
}

/**
 * Builds Citus if it is missing, which takes some minutes, and starts a cluster. It writes to disk
 * only if it `isDurable`.
 *
 * @throws when Citus cannot be built or started, with the output of the script
 */
export async function startCitusCluster({ isDurable = false } = {}): Promise<CitusCluster> {
  if (!existsSync(scripts)) throw new Error(`The scripts for Citus are missing: ${scripts}`)
  await script('build.sh')
  const folder = await makeScratchFolder('citus')
  // Also takes the next two ports, which are rarely in use: programs choose theirs elsewhere.
  const port = await freePort()
  const stop = async () => {
    await script('cluster.sh', 'stop', folder)
    await rm(folder, { recursive: true, force: true })
  }
  try {
    await script('cluster.sh', 'start', folder, String(port))
    const urls = [0, 1, 2].map((node) => `postgres://postgres@127.0.0.1:${port + node}`)
    if (!isDurable) for (const url of urls) await useForTests(url)
    return {
      urls: urls as [string, ...string[]],
      folders: ['c', 'w1', 'w2'].map((node) => path.join(folder, node)),
      database: 'signalpost',
      kill: (node) => script('cluster.sh', 'kill', folder, node),
      revive: (node) => script('cluster.sh', 'revive', folder, node),
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

async function script(name: string, ...args: string[]): Promise<void> {
  await promisify(execFile)(path.join(scripts, name), args)
}

async function useForTests(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: `${url}/postgres` })
  await client.connect()
  try {
    for (const setting of ['fsync = off', 'synchronous_commit = off', 'full_page_writes = off']) {
      await client.query(`alter system set ${setting}`)
    }
    await client.query('select pg_reload_conf()')
  } finally {
    await client.end()
  }
}
