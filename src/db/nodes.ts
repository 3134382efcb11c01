import { sqlState } from '../errors.ts'
import { shardOf } from '../world.ts'
import { isOutage } from './follow.ts'
import {
  beginTransaction,
  createPool,
  type Db,
  endedError,
  inTransaction,
  type Pool,
  type Transaction,
} from './pool.ts'
import { rowsOf } from './rows.ts'

/**
 * The servers of a distributed database that store its shards. Any of them can run any statement on
 * distributed and reference tables; the one that stores the rows runs it without asking another.
 * The queues and the local tables are on the coordinator only.
 *
 * On a single server, every function here uses the pool that it is given.
 */

/** Time in milliseconds for which a node is not asked again after it could not be reached. */
const AWAY_MS = 30_000
/** Interval in milliseconds at which the places of the shards are read. */
const REFRESH_MS = 60_000

type Host = { host: string; port: number }
type Node = { name: string; pool: Pool; awayUntil: number }
/**
 * Connections to the coordinator for the parts of transactions. Each part has its own: otherwise a
 * transaction could wait for a connection that is in use by one that waits for its locks.
 */
type Coordinator = { before: Pool; locks: Pool }
type OnAway = (node: string, error: unknown) => void
type OpenNodes = {
  /** The nodes by the shards that they store. */
  byShard: ReadonlyMap<number, Node>
  coordinator: Coordinator
  onAway: OnAway
}

const opened = new WeakMap<Pool, OpenNodes>()

/**
 * Connects to the nodes of the distributed database of a pool, with the account of `databaseUrl`,
 * from then on. While a node cannot be reached, the coordinator takes its place; `onAway` is called
 * each time that begins.
 */
export async function openNodes(
  pool: Pool,
  databaseUrl: string,
  { onAway, ...connections }: Parameters<typeof createPool>[1] & { onAway: OnAway },
): Promise<{ close: () => Promise<void> }> {
  const create = () => createPool(databaseUrl, connections)
  const coordinator = { before: create(), locks: create() }
  const nodes = new Map<string, Node>()
  const open = (name: string, where: Host): Node => {
    const options = { ...connections, settings: SETTINGS, endsIdle: true }
    const node = { name, pool: createPool(urlAt(databaseUrl, where), options), awayUntil: 0 }
    nodes.set(name, node)
    return node
  }
  const read = async () => {
    const byShard = new Map<number, Node>()
    for (const { shard, ...where } of await listPlacements(pool)) {
      const name = `${where.host}:${where.port}`
      byShard.set(shard, nodes.get(name) ?? open(name, where))
    }
    opened.set(pool, { byShard, coordinator, onAway })
  }
  await read()
  // While the places cannot be read, the last known ones are used.
  const timer = setInterval(() => void read().catch(() => undefined), REFRESH_MS)
  timer.unref()
  return {
    async close() {
      clearInterval(timer)
      opened.delete(pool)
      const { before, locks } = coordinator
      const pools = [before, locks, ...[...nodes.values()].map((node) => node.pool)]
      await Promise.all(pools.map((one) => one.end()))
    },
  }
}

/** As on the coordinator, where `migrate` sets them. */
const SETTINGS = '-c citus.multi_shard_modify_mode=sequential'

/** Returns the URL of the same database on another server. */
function urlAt(databaseUrl: string, { host, port }: Host): string {
  const url = new URL(databaseUrl)
  url.hostname = host.includes(':') ? `[${host}]` : host
  url.port = String(port)
  for (const name of ['host', 'port']) url.searchParams.delete(name)
  return url.href
}

/** Returns where the rows of each shard are; shards on the coordinator are absent. */
function listPlacements(db: Db): Promise<({ shard: number } & Host)[]> {
  return rowsOf(db)`
    select shard, nodename as host, nodeport as port
    from generate_series(0, 15) as shard
      join pg_dist_placement as placement on placement.shardid =
        get_shard_id_for_distribution_column('reports', shard::smallint)
      join pg_dist_node as node on node.groupid = placement.groupid and noderole = 'primary'
    where node.groupid <> 0`
}

function nodeOf(pool: Pool, shard: number): Node | undefined {
  const node = opened.get(pool)?.byShard.get(shard)
  return node && node.awayUntil <= performance.now() ? node : undefined
}

/** Returns a handler of errors that lets the coordinator take the place of a node for a while. */
function setAside(pool: Pool, node: Node): (error: unknown) => undefined {
  return (error) => {
    const isNews = node.awayUntil <= performance.now()
    node.awayUntil = performance.now() + AWAY_MS
    if (isNews) opened.get(pool)?.onAway(node.name, error)
  }
}

export function groupedByNode<T>(
  pool: Pool,
  items: readonly T[],
  shardOf: (item: T) => number,
): T[][] {
  return [...Map.groupBy(items, (item) => nodeOf(pool, shardOf(item))).values()]
}

/**
 * Returns the node that stores a shard, for statements that read distributed and reference tables.
 * They are repeated on the coordinator if the node is lost.
 */
export function nearShard(pool: Pool, shard: number): Db {
  if (!opened.has(pool)) return pool
  const query = async (...given: Parameters<Pool['query']>) => {
    const node = nodeOf(pool, shard)
    if (!node) return pool.query(...given)
    try {
      return await node.pool.query(...given)
    } catch (error) {
      if (!isOutage(error) && !isRefusal(error)) throw error
      setAside(pool, node)(error)
      return pool.query(...given)
    }
  }
  return { query: query as Db['query'] }
}

/** Whether the server does not let us connect: no such account, password or database. */
function isRefusal(error: unknown): boolean {
  return /^(28|3D)/.test(sqlState(error) ?? '')
}

/** Like `nearShard`, for a report and others that arrived with it, which are mostly beside it. */
export function nearReport(pool: Pool, id = '0'): Db {
  return nearShard(pool, shardOf(id))
}

/** The parts of a transaction on a node that are on the coordinator. */
type Parts = { before: Transaction; locks: Transaction; after: ((tx: Db) => Promise<unknown>)[] }

const partsOf = new WeakMap<Db, Parts>()

/**
 * Runs `work` in a transaction on the server that stores a shard. Its statements may use all
 * distributed and reference tables. What belongs to the queues and the local tables, which are on
 * the coordinator, goes to `committedBefore` or `afterCommit`: both servers cannot commit at once.
 */
export async function inShardTransaction<T>(
  pool: Pool,
  shard: number,
  work: (tx: Db) => Promise<T>,
): Promise<T> {
  const coordinator = opened.get(pool)?.coordinator
  const node = nodeOf(pool, shard)
  const own = node && (await beginTransaction(node.pool).catch(setAside(pool, node)))
  if (!coordinator || !own) return inTransaction(pool, work)
  const { tx } = own
  const [before, locks] = [partOn(coordinator.before), partOn(coordinator.locks)]
  const after: Parts['after'] = []
  partsOf.set(tx, { before, locks, after })
  try {
    const result = await work(tx)
    await locks.check()
    await before.commit()
    await own.commit()
    await locks.commit().catch(locks.rollback)
    if (after.length > 0) await finish(pool, after)
    return result
  } catch (error) {
    await Promise.all([before.rollback(), own.rollback(), locks.rollback()])
    throw error
  }
}

/** Returns a transaction that begins with its first statement. */
function partOn(pool: Pool): Transaction {
  let begun: Promise<Transaction> | undefined
  let isOver = false
  const query = async (...given: Parameters<Pool['query']>) => {
    if (isOver) throw endedError()
    const { tx } = await (begun ??= beginTransaction(pool))
    return tx.query(...given)
  }
  return {
    tx: { query: query as Db['query'] },
    check: async () => (await begun)?.check(),
    async commit() {
      isOver = true
      await (await begun)?.commit()
      begun = undefined
    },
    async rollback() {
      isOver = true
      await (await begun?.catch(() => undefined))?.rollback()
    },
  }
}

/** Never rejects: the rest is committed, and losing these rows does no harm. */
async function finish(pool: Pool, after: Parts['after']): Promise<void> {
  await inTransaction(pool, (tx) => Promise.all(after.map((work) => work(tx)))).catch(
    () => undefined,
  )
}

/**
 * Returns the coordinator's part of a transaction that commits before the rest, for rows that do no
 * harm without it: jobs that find nothing to do yet or at all.
 */
export function committedBefore(tx: Db): Db {
  return partsOf.get(tx)?.before.tx ?? tx
}

/** Returns the coordinator's part of a transaction that ends after the rest, for advisory locks. */
export function lockedWith(tx: Db): Db {
  return partsOf.get(tx)?.locks.tx ?? tx
}

/**
 * Runs statements for rows that do no harm if they are lost: in the transaction, or, if that is on
 * a node, after its commit in a transaction on the coordinator.
 */
export async function afterCommit(tx: Db, work: (tx: Db) => Promise<unknown>): Promise<void> {
  const parts = partsOf.get(tx)
  if (parts) parts.after.push(work)
  else await work(tx)
}
