import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { readShapes, type Shape } from '../support/logged-statements.ts'

/**
 * Returns the statements of the database tests that do not run on the cluster themselves: those in
 * the folder STATEMENTS, which a run with STATEMENT_LOG wrote, or those of a new run on plain
 * PostgreSQL, which takes minutes.
 */
export async function collectStatements(): Promise<Shape[]> {
  const given = process.env['STATEMENTS']
  if (given) return readShapes(given)
  const folder = await mkdtemp(path.join(tmpdir(), 'signalpost-statements-'))
  const tests = execFile('npm', ['run', 'test:postgres15', '--', '--reporter=dot'], {
    cwd: path.join(import.meta.dirname, '..', '..'),
    env: { ...process.env, STATEMENT_LOG: folder },
    maxBuffer: 2 ** 26,
  })
  await once(tests, 'close')
  const shapes = readShapes(folder)
  await rm(folder, { recursive: true, force: true })
  return shapes
}
