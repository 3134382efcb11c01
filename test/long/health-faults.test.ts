import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmod, open, rm } from 'node:fs/promises'
import path from 'node:path'
import { pino } from 'pino'
import { expect, test, type TestContext } from 'vitest'
import type { App } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { startEmbedded } from '../../src/db/embedded.ts'
import { ensureCounterPartitions, ensurePartitions } from '../../src/db/partitions.ts'
import { createPool } from '../../src/db/pool.ts'
import { startHeartbeats } from '../../src/health/heartbeat.ts'
import { createReadHealth } from '../../src/health/read-health.ts'
import { createAlarmWatch } from '../../src/health/run-alarms.ts'
import { addAccount } from '../../src/processes/add-account.ts'
import { migrateAll } from '../../src/processes/migrate.ts'
import { systemClock } from '../../src/world.ts'
import { signedInBrowser } from '../db/web/browser.ts'
import { closeAfterThisTest } from '../support/after-tests.ts'
import { spamMessage } from '../support/messages.ts'
import { makeSite } from '../support/parts.ts'
import { until } from '../support/process.ts'
import { makeScratchFolder } from '../support/scratch-folder.ts'
import { startSmtpSink } from '../support/smtp-sink.ts'
import { startWebhookReceiver } from '../support/webhook-receiver.ts'
import { ringOf } from '../support/key-ring.ts'

const LIGHT_MS_MAX = 30_000
const ALARM_MS_MAX = 120_000

/** Real processes on a healthy database, a mail server, and what receives alarms. */
async function startHealthy({ onTestFinished }: TestContext) {
  const mailServer = await closeAfterThisTest(startSmtpSink(), onTestFinished)
  const operators = await closeAfterThisTest(startSmtpSink(), onTestFinished)
  const hooks = await closeAfterThisTest(startWebhookReceiver(), onTestFinished)
  const site = makeSite({
    ...{ SMTP_URL: mailServer.url, ALARM_SMTP_URL: operators.url },
    ...{ ALARM_MAIL: 'operator@ops.example', ALARM_WEBHOOK_URL: hooks.url },
  })
  const here = await closeAfterThisTest(site, onTestFinished)
  const { pool } = here.database
  await ensurePartitions(pool, new Date(), 4)
  await ensureCounterPartitions(pool, new Date(), 2)
  const password = randomBytes(12).toString('hex')
  const email = 'admin@desk.example'
  const account = { email, password, role: 'administrator', wantsToken: false } as const
  await addAccount(account, { pool, clock: systemClock })
  const [, work] = await Promise.all([here.start('web'), here.start('work'), here.start('count')])
  const desk = await signedInBrowser(here.url, { email, password })
  const page = async () => (await desk.get('/admin')).text()
  const alarmed = (code: string, kind: string) =>
    until(
      `${kind} about ${code}`,
      () =>
        hooks.told.find(({ data }) => {
          const isAbout = data.raised.some((one) => one.code === code)
          return data.kind === kind && (kind !== 'alarm' || isAbout)
        }),
      ALARM_MS_MAX,
    )
  return { here, mailServer, operators, hooks, work, desk, page, alarmed }
}

/** These wait for minutes, as operators do, and need little of a processor. */
const waiting = test.concurrent

waiting('a mail server that refuses: light, alarm, repair, all-clear', async (context) => {
  const { here, mailServer, operators, hooks, desk, page, alarmed } = await startHealthy(context)
  const first = await here.client.post(spamMessage('leaves'))
  await here.client.untilEvent(first.id, 'sent')
  expect(await page()).not.toContain('#mail-leaving')
  mailServer.failAll('mail', { code: 554, text: '5.7.1 Relay access denied' })
  const second = await here.client.post(spamMessage('is-refused'))
  const isRed = async () => ((await page()).includes('Relay access denied') ? true : undefined)
  await until('the light', isRed, LIGHT_MS_MAX)
  const alarm = await alarmed('mail-leaving', 'alarm')
  const [raised] = alarm.data.raised
  expect(raised?.action).toBe('outbox retry')
  const [mail] = await operators.received(1)
  expect(mail?.raw.toString()).toContain('Subject: [Signalpost] Warning: Outgoing mail')
  mailServer.failAll('mail', undefined)
  const pressed = await desk.post('/admin/health', { do: raised?.action ?? '' })
  expect(pressed.headers.get('location')).toMatch(/^\/admin\/health\?done=retried&count=\d+$/)
  await here.client.untilEvent(second.id, 'sent')
  await alarmed('mail-leaving', 'all-clear')
  await until('the mail about its end', () => (operators.messages.length > 1 ? true : undefined))
  expect(await page()).not.toContain('Relay access denied')
  expect(hooks.told.length).toBeLessThanOrEqual(3)
})

waiting('a worker that is frozen raises an alarm, and its return ends it', async (context) => {
  const { work, page, alarmed } = await startHealthy(context)
  const isRunning = async () => ((await page()).includes('<th scope="row">work') ? true : undefined)
  await until('a heartbeat of the worker', isRunning)
  expect(await page()).not.toContain('/admin/health#processes')
  work.kill('SIGSTOP')
  const isRed = async () => ((await page()).includes('/admin/health#processes') ? true : undefined)
  try {
    await until('the light', isRed, LIGHT_MS_MAX)
    await alarmed('processes', 'alarm')
  } finally {
    work.kill('SIGCONT')
  }
  await alarmed('processes', 'all-clear')
})

const isRoot = process.getuid?.() === 0 && process.platform === 'linux'

/** Mounts a file system of 400 MB in memory; only root can. */
async function mountSmallDisk(): Promise<{ folder: string; close: () => Promise<void> }> {
  const folder = await makeScratchFolder('small-disk')
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=400m,mode=755', 'tmpfs', folder])
  return {
    folder,
    close: async () => {
      execFileSync('umount', [folder])
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Writes to a file until the disk is full. */
async function fillDisk(file: string): Promise<void> {
  const handle = await open(file, 'w')
  const block = Buffer.alloc(1 << 20)
  try {
    for (let size = block.length; size >= 1_024;) {
      await handle.write(block, 0, size).then(
        ({ bytesWritten }) => (size = bytesWritten < size ? size >> 1 : size),
        () => (size >>= 1),
      )
    }
  } finally {
    await handle.close()
  }
}

test.runIf(isRoot)('a database whose disk is full raises an alarm in its words', async () => {
  const { folder } = await closeAfterThisTest(mountSmallDisk())
  await chmod(folder, 0o755)
  const settings = ['shared_buffers=16MB', 'max_wal_size=64MB']
  const server = await startEmbedded({ dataDir: folder, password: 'signalpost', settings })
  await closeAfterThisTest(Promise.resolve({ close: server.stop }))
  await migrateAll(server.url, new Date())
  const pool = createPool(server.url, { connectionsMax: 5, name: 'full', onLost: () => undefined })
  await closeAfterThisTest(Promise.resolve({ close: () => pool.end() }))
  let ahead = 0
  const clock = () => new Date(Date.now() + ahead * 1_000)
  const config = readConfig({ DATA_DIR: folder }, { cores: 1, cwd: '/nowhere' })
  const log = pino({ level: 'silent' })
  const app = {
    pool,
    clock,
    log,
    config: { ...config, databaseUrl: server.url, secret: ringOf('none') },
  }
  const its = app as Pick<App, 'pool' | 'clock' | 'log' | 'config'>
  const told: { subject: string; text: string }[] = []
  const send = (notice: { subject: string; text: string }) =>
    Promise.resolve(void told.push(notice))
  const tools = { channels: [{ name: 'test', send }], readHealth: createReadHealth(its) }
  const watch = createAlarmWatch(its, tools)
  for (const name of ['web', 'work', 'count']) {
    await closeAfterThisTest(Promise.resolve(startHeartbeats({ ...its, clock: systemClock }, name)))
  }
  const pass = async (seconds: number) => {
    for (const end = ahead + seconds; ahead < end; ahead += 10) await watch.evaluate()
  }
  const about = () => told.filter(({ subject }) => /Database( |$)/.test(subject))
  await pass(60)
  expect(about()).toEqual([])
  await fillDisk(path.join(folder, 'ballast'))
  await pass(60)
  expect(about()).toHaveLength(1)
  expect(about()[0]?.text).toContain('No space left on device')
  await rm(path.join(folder, 'ballast'))
  await pass(120)
  expect(told.at(-1)?.text).toMatch(/Over: .*Database/)
})
