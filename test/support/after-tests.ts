import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, onTestFinished } from 'vitest'

type Opened = { close: () => unknown } | { clear: () => unknown }

async function end(opened: Opened): Promise<void> {
  await ('close' in opened ? opened.close() : opened.clear())
}

/**
 * Returns what was opened at the top of a test file, and closes it after all tests of the file.
 * What was opened last is closed first.
 */
export async function closeAfterTests<T extends Opened>(opening: T | Promise<T>): Promise<T> {
  const opened = await opening
  afterAll(() => end(opened))
  return opened
}

/**
 * Returns what was opened in a test, and closes it after this test, passed or failed. A test that
 * runs beside others passes the `onTestFinished` of its context.
 */
export async function closeAfterThisTest<T extends Opened>(
  opening: T | Promise<T>,
  atEnd: typeof onTestFinished = onTestFinished,
): Promise<T> {
  const opened = await opening
  atEnd(() => end(opened))
  return opened
}

/** Makes an empty folder at the top of a test file, and removes it after all tests of the file. */
export async function makeTestFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'signalpost-test-'))
  afterAll(() => rm(folder, { recursive: true, force: true }))
  return folder
}
