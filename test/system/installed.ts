import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'vitest'
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

/** Packs the program as `npm pack` does; returns the file. */
export async function packInto(folder: string): Promise<string> {
  const printed = await run('npm', ['pack', '--pack-destination', folder])
  return path.join(folder, printed.trim().split('\n').at(-1) ?? '')
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
