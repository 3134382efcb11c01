import { execFileSync } from 'node:child_process'
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer } from 'node:net'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import type { Backend } from '../../../src/db/backend.ts'
import { type EmbeddedServer, startEmbedded } from '../../../src/db/embedded.ts'
import { startCitusCluster } from '../citus-cluster.ts'
import { postmasterOf, runOn } from '../own-database.ts'
import { descendants } from '../process.ts'

const AGAIN_MS = 300
/** How long clients reach the standby before it is promoted. */
const READ_ONLY_MS = 2_000

/** The database of a line. */
export type LineDatabase = {
  url: string
  backend: Backend
  /** The processes of the database that can be killed, by name. */
  kills: Readonly<Record<string, () => Promise<void>>>
  restart: () => Promise<void>
  close: () => Promise<void>
}

/** Starts a cluster of Citus, whose nodes are revived some time after their death. */
export async function keepCluster(lostMs: () => number): Promise<LineDatabase> {
  const cluster = await startCitusCluster({ isDurable: true })
  for (const url of cluster.urls) {
    // As the documents advise.
    await runOn(`${url}/postgres`, `alter system set citus.recover_2pc_interval = '10s'`)
    await runOn(`${url}/postgres`, 'select pg_reload_conf()')
  }
  const lose = (node: 'c' | 'w1' | 'w2') => async () => {
    await cluster.kill(node)
    await wait(lostMs())
    await cluster.revive(node)
  }
  return {
    ...{ url: `${cluster.urls[0]}/${cluster.database}`, backend: 'citus' },
    kills: { coordinator: lose('c'), 'worker 1': lose('w1'), 'worker 2': lose('w2') },
    restart: lose('c'),
    close: cluster.stop,
  }
}

/** Keeps PostgreSQL running, also when it ends by itself. */
export async function keepPostgres(dataDir: string): Promise<LineDatabase> {
  const options = { dataDir, password: 'torture', settings: [] }
  let server: EmbeddedServer = await startEmbedded(options)
  let isClosed = false
  let reviving = Promise.resolve()
  const watch = () => {
    void server.ended.then(() => {
      if (!isClosed) reviving = revive()
    })
  }
  const revive = async () => {
    for (; !isClosed; await wait(AGAIN_MS)) {
      const again = await startEmbedded({ ...options, port: server.port }).catch(() => undefined)
      if (!again) continue
      server = again
      watch()
      return
    }
  }
  watch()
  const postmaster = () => postmasterOf(server)
  const kill = async () => {
    await reviving
    process.kill(await postmaster(), 'SIGKILL')
    await server.ended
    await reviving
  }
  // Kills one backend. The server then ends all other backends, and recovers by itself.
  const killBackend = async () => {
    await reviving
    const servants = descendants(await postmaster()).filter(({ command }) =>
      /^postgres: signalpost signalpost .*\d\)/.test(command),
    )
    const victim = servants[Date.now() % (servants.length || 1)]
    if (victim) process.kill(victim.pid, 'SIGKILL')
  }
  return {
    ...{ url: server.url, backend: 'postgres' },
    kills: { postgres: kill, backend: killBackend },
    async restart() {
      await reviving
      await server.stop()
      await reviving
    },
    async close() {
      isClosed = true
      await reviving
      await server.stop()
      await rm(server.folder, { recursive: true, force: true })
    },
  }
}

/**
 * Keeps a server and a standby that has each commit before its client is answered. Clients reach
 * the primary through a proxy, as operators arrange it with Patroni. When the primary is killed,
 * the proxy leads to the standby, which is promoted two seconds later.
 */
export async function keepReplicated(dataDir: string): Promise<LineDatabase> {
  const options = { password: 'torture', settings: [] }
  const primary = await startEmbedded({ ...options, dataDir: await madeFolder(dataDir, 'first') })
  const standby = await startStandby(primary, await madeFolder(dataDir, 'second'))
  await runOn(primary.url, `alter system set synchronous_standby_names = '*'`)
  await runOn(primary.url, 'select pg_reload_conf()')
  const proxy = await startProxy(primary.port)
  const changePrimary = async () => {
    process.kill(await postmasterOf(primary), 'SIGKILL')
    await primary.ended
    proxy.leadTo(standby.port)
    await wait(READ_ONLY_MS)
    await runOn(standby.url, 'select pg_promote()')
  }
  return {
    ...{ url: primary.url.replace(`:${primary.port}/`, `:${proxy.port}/`), backend: 'postgres' },
    kills: { primary: changePrimary },
    restart: changePrimary,
    async close() {
      proxy.close()
      for (const server of [standby, primary]) {
        await server.stop()
        await rm(server.folder, { recursive: true, force: true })
      }
    },
  }
}

async function madeFolder(dataDir: string, name: string): Promise<string> {
  const folder = path.join(dataDir, name)
  await mkdir(folder)
  await chmod(folder, 0o711)
  return folder
}

/** Starts a standby from a copy of a running server (PostgreSQL, "Base Backup Using the API"). */
async function startStandby(primary: EmbeddedServer, dataDir: string): Promise<EmbeddedServer> {
  const client = new pg.Client({ connectionString: primary.url })
  await client.connect()
  await client.query(`select pg_backup_start('standby', true)`)
  const folder = path.join(dataDir, 'postgres')
  execFileSync('cp', ['-a', primary.folder, folder])
  const { rows } = await client.query<{ labelfile: string }>('select * from pg_backup_stop(false)')
  await client.end()
  await rm(path.join(folder, 'postmaster.pid'))
  for (const [name, text] of [
    ['backup_label', rows[0]?.labelfile ?? ''],
    ['standby.signal', ''],
  ] as const) {
    await writeFile(path.join(folder, name), text)
    execFileSync('chown', ['--reference', folder, path.join(folder, name)])
  }
  const { username, password, port } = new URL(primary.url)
  const source = `host=127.0.0.1 port=${port} user=${username} password=${password}`
  const settings = [`primary_conninfo=${source}`]
  return startEmbedded({ dataDir, password, settings })
}

/** Starts a TCP proxy in front of a server. */
async function startProxy(port: number) {
  let target = port
  const proxy = createServer((client) => {
    const server = connect(target, '127.0.0.1')
    client.on('error', () => server.destroy())
    server.on('error', () => client.destroy())
    client.pipe(server).pipe(client)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  return {
    port: (proxy.address() as AddressInfo).port,
    leadTo: (other: number) => void (target = other),
    close: () => void proxy.close(),
  }
}
