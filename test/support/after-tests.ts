import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll } from 'vitest'

/**
 * Returns what was opened at the top of a test file, and closes it after all tests of the file.
 * What was opened last is closed first.
 */
export async function closeAfterTests<T extends { close: () => unknown }>(
  opening: T | Promise<T>,
): Promise<T> {
  const opened = await opening
  afterAll(async () => {
    await opened.close()
  })
  return opened
}

/** Makes an empty folder at the top of a test file, and removes it after all tests of the file. */
export async function makeTestFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'signalpost-test-'))
  afterAll(() => rm(folder, { recursive: true, force: true }))
  return folder
}
