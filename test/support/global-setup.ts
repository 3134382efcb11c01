import { rm } from 'node:fs/promises'
import path from 'node:path'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import type { Backend } from '../../src/db/backend.ts'
import { startEmbedded } from '../../src/db/embedded.ts'
import { migrateAll } from '../../src/processes/migrate.ts'
import { isInMemory, makeScratchFolder } from './scratch-folder.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    backend: Backend
    /** The server's URL without a database name. */
    serverUrl: string
    /** The URLs of the servers that have a part of each database: the workers of a cluster. */
    workerUrls: readonly string[]
    templateName: string
    /** The settings of the template that a clone does not have: `name=value`. */
    databaseSettings: readonly string[]
    /** Whether databases are dropped as soon as their tests have ended. */
    isDroppedEarly: boolean
  }
}

/**
 * Halves the processor time of starting a process or thread, most of which is spent on stripping
 * types from hundreds of files. All processes that the tests start inherit it.
 */
const modules = path.join(import.meta.dirname, '..', '..', 'node_modules')
process.env['NODE_COMPILE_CACHE'] ??= path.join(modules, '.cache', 'compiled')

/**
 * Few partitions are created, because each costs every clone a dozen files. Tests that need later
 * partitions migrate their clone again.
 */
export const AHEAD = { weeks: 1, generations: 1 }

/**
 * Provides every test file with a PostgreSQL server and a template database built by the real
 * migrations. The server runs the bundled programs or those in TEST_POSTGRES_DIR (such as
 * `/usr/lib/postgresql/15`), or is the running one of TEST_DATABASE_URL. At the end, the databases
 * of the run are dropped from a running server; any other server is deleted as a whole, and if it
 * is in memory, each database is dropped as soon as its tests have ended.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env['TEST_DATABASE_URL']
  const server = given ? foreignServer(given) : await ownServer()
  const templateName = `signalpost_${process.pid}_template`
  const admin = new pg.Client({ connectionString: `${server.url}/postgres` })
  await admin.connect()
  await admin.query(`create database ${templateName}`)
  await migrateAll(`${server.url}/${templateName}`, new Date(), { ahead: AHEAD })
  project.provide('backend', 'postgres')
  project.provide('serverUrl', server.url)
  project.provide('workerUrls', [])
  project.provide('databaseSettings', [])
  project.provide('templateName', templateName)
  project.provide('isDroppedEarly', server.isInMemory)
  return async () => {
    if (!given) {
      await admin.end()
      return server.stop()
    }
    const { rows } = await admin.query<{ datname: string }>(
      `select datname from pg_database where datname like 'signalpost\\_${process.pid}\\_%'`,
    )
    for (const { datname } of rows) await admin.query(`drop database ${datname} with (force)`)
    await admin.end()
    await server.stop()
  }
}

function foreignServer(text: string) {
  const url = new URL(text)
  const login = url.username === '' ? '' : `${url.username}:${url.password}@`
  const stop = () => Promise.resolve()
  return { url: `postgres://${login}${url.host}`, isInMemory: false, stop }
}

async function ownServer() {
  const dataDir = await makeScratchFolder('test')
  const server = await startEmbedded({
    dataDir,
    password: 'test',
    programs: process.env['TEST_POSTGRES_DIR'] || undefined,
    settings: [
      'fsync=off',
      'synchronous_commit=off',
      'full_page_writes=off',
      'max_connections=200',
      'max_wal_size=256MB',
    ],
  })
  return {
    url: server.url.replace(/\/signalpost$/, ''),
    isInMemory: isInMemory(dataDir),
    stop: async () => {
      await server.stop()
      await rm(dataDir, { recursive: true, force: true })
      await rm(server.folder, { recursive: true, force: true })
    },
  }
}
