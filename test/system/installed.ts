import { execFile } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, inject } from 'vitest'
import { makePlace, type Place, untilRunning } from '../support/instance.ts'
import { spamMessage } from '../support/messages.ts'
import type { Program } from '../support/process.ts'
import { apiClient, basic } from '../support/reporter.ts'

const root = path.join(import.meta.dirname, '../..')
const RUN_MS = 1_200_000
const OUTPUT_BYTES_MAX = 50_000_000

/** The programs of the system, without those of the checkout. */
export const systemEnv = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' }

/** Runs a command with the programs of the system; returns what it printed. */
export async function run(
  file: string,
  args: readonly string[],
  options: { cwd?: string; env?: Record<string, string> } = {},
): Promise<string> {
  const { stdout } = await promisify(execFile)(file, [...args], {
    ...{ cwd: root, maxBuffer: OUTPUT_BYTES_MAX, timeout: RUN_MS },
    ...options,
    env: { ...process.env, ...systemEnv, ...options.env },
  })
  return stdout
}

/**
 * The folder with the files of a release of this checkout. The first test file that asks builds it,
 * and others wait for it: two builds at once would write to the same `dist`.
 */
export async function builtRelease(): Promise<string> {
  const out = path.join(inject('releaseFolder'), 'release')
  const build = `umask 022; npm run --silent release -- --out '${out}'`
  const once = `[ -e '${out}/SHA256SUMS' ] || { ${build}; }`
  await run('flock', [`${inject('releaseFolder')}/lock`, 'sh', '-c', once])
  return out
}

/** Returns the one file of a release with this ending. */
export async function releasedFile(ending: string): Promise<string> {
  const out = await builtRelease()
  const name = (await readdir(out)).find((one) => one.endsWith(ending))
  if (name === undefined) throw new Error(`The release has no file that ends in ${ending}.`)
  return path.join(out, name)
}

/** Starts an installed program on an empty data folder and reports one message to it. */
export async function reportsOne(
  begin: (place: Place) => Program,
  settings: Record<string, string> = {},
): Promise<void> {
  const place = await makePlace({ ...settings, SIGNALPOST_SETTINGS: '/dev/null' })
  try {
    const program = await untilRunning(begin(place))
    const { reporter } = await place.accounts()
    await takesReport(place.url, basic(reporter))
    // As Ctrl-C does: npx passes no signal on.
    program.killGroup('SIGINT')
    await program.ended
  } finally {
    await place.clear()
  }
}

/** Reports a message and waits until its feedback report is composed. */
export async function takesReport(url: string, authorization: string): Promise<void> {
  const client = apiClient(url, authorization)
  const { id } = await client.post(spamMessage('installed'))
  const report = await client.untilEvent(id, 'held')
  expect(report).toMatchObject({ status: 'analyzed', origin: { ip: '198.51.100.23' } })
}
