import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { readShapes, type Shape } from '../support/logged-statements.ts'

/**
 * Returns the statements of the database tests: those in the folder STATEMENTS, which a run with
 * STATEMENT_LOG wrote, or those of a new run on plain PostgreSQL, which takes minutes.
 */
export async function collectStatements(): Promise<Shape[]> {
  const given = process.env['STATEMENTS']
  if (given) return readShapes(given)
  const folder = await mkdtemp(path.join(tmpdir(), 'signalpost-statements-'))
  const vitest = path.join(import.meta.dirname, '..', '..', 'node_modules', '.bin', 'vitest')
  const tests = execFile(vitest, ['run', 'test/db', '--reporter=dot'], {
    cwd: path.join(import.meta.dirname, '..', '..'),
    env: { ...process.env, STATEMENT_LOG: folder, TEST_POSTGRES_DIR: '/usr/lib/postgresql/15' },
    maxBuffer: 2 ** 26,
  })
  await once(tests, 'close')
  const shapes = readShapes(folder)
  await rm(folder, { recursive: true, force: true })
  return shapes
}
