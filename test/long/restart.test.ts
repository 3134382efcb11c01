import { readFile, writeFile } from 'node:fs/promises'
import { spawn } from 'node:child_process'
import { expect, test } from 'vitest'
import { unprivileged } from '../../src/db/embedded.ts'
import { closeAfterThisTest } from '../support/after-tests.ts'
import { makePlace, type Place, untilRunning } from '../support/instance.ts'
import { spamMessage } from '../support/messages.ts'
import { isAlive, killAll, untilGone } from '../support/process.ts'
import { apiClient, basic } from '../support/reporter.ts'
import { parts } from '../../src/processes/parts.ts'

const place = () => closeAfterThisTest(makePlace())

test.for([
  ['an https address', { PUBLIC_URL: 'https://spam.example' }],
  ['a mail server', { SMTP_URL: 'smtp://127.0.0.1:1' }],
] as const)('an instance with %s has no demo account', async ([, settings]) => {
  const here = await place()
  const canSignIn = async (who: { email: string; password: string }) =>
    (await fetch(`${here.url}/api/v1/account`, { headers: { authorization: basic(who) } })).ok
  const demo = await untilRunning(here.start())
  const { admin, reporter } = await here.accounts()
  expect(await canSignIn(reporter)).toBe(true)
  await demo.stop()
  const open = await untilRunning(here.start(settings))
  expect(open.said()).not.toContain(reporter.email)
  expect([await canSignIn(reporter), await canSignIn(admin)]).toEqual([false, true])
  await open.stop()
})

test('start recovers after everything was killed, with any stale pid file', async () => {
  const here = await place()
  const { client, id } = await reportAndKillAll(here, 'before-the-crash')
  expect(await readFile(here.postmasterFile, 'utf8')).toMatch(/^\d+\n/)

  await untilRunning(here.start())
  expect(await client.get(id)).toMatchObject({ status: 'analyzed' })
  await killAllOf(here)

  // After a reboot, another process may have the pid.
  const stranger = spawn('sleep', ['600'], { ...unprivileged(), argv0: 'postgres' })
  try {
    const [, ...rest] = (await readFile(here.postmasterFile, 'utf8')).split('\n')
    await writeFile(here.postmasterFile, [String(stranger.pid), ...rest].join('\n'))
    await untilRunning(here.start())
    expect(await client.raw(id)).toEqual(Buffer.from(spamMessage('before-the-crash')))
    expect(stranger.exitCode ?? stranger.signalCode).toBeNull()
  } finally {
    stranger.kill('SIGKILL')
  }
})

test('when only the supervisor is killed its parts end, and the next start works', async () => {
  const here = await place()
  const first = await untilRunning(here.start())
  const client = apiClient(here.url, basic((await here.accounts()).reporter))
  const { id } = await client.post(spamMessage('orphaned'))
  const running = here
    .tree()
    .filter(({ command }) => /main\.ts (web|work|count|receive)/.test(command))
  expect(running).toHaveLength(parts.length)
  const server = Number((await readFile(here.postmasterFile, 'utf8')).split('\n')[0])
  expect(isAlive(server)).toBe(true)
  first.kill('SIGKILL')
  await untilGone(running.map(({ pid }) => pid))

  await untilRunning(here.start())
  expect(isAlive(server)).toBe(false)
  await client.untilEvent(id, 'held')
})

test('a second start on the same folder is refused, and does not harm the first', async () => {
  const here = await place()
  await untilRunning(here.start())
  const second = here.start()
  expect(await second.ended).toEqual({ code: 2, signal: null })
  expect(second.said()).toContain(`already running on ${here.dataDir}`)
  const answer = await fetch(`${here.url}/readyz`)
  expect(answer.status).toBe(200)
})

async function reportAndKillAll(here: Place, mark: string) {
  await untilRunning(here.start())
  const client = apiClient(here.url, basic((await here.accounts()).reporter))
  const { id } = await client.post(spamMessage(mark))
  await client.untilEvent(id, 'held')
  await killAllOf(here)
  return { client, id }
}

/**
 * Kills the supervisor first, so that it cannot restart anything, and then all other processes,
 * including PostgreSQL.
 */
async function killAllOf(here: Place): Promise<void> {
  const tree = here.tree().map(({ pid }) => pid)
  await killAll([...here.running(), ...tree])
}
