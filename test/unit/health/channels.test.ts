import { chmod, readFile, writeFile } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { composeNotice } from '../../../src/health/alarm-text.ts'
import type { AlarmMessage } from '../../../src/health/alarms.ts'
import { alarmWebhookKeys, createChannels } from '../../../src/health/channels.ts'
import { readConfig } from '../../../src/config.ts'
import { webhookHeaders } from '../../../src/mail/webhook-message.ts'
import { createMailer } from '../../../src/net/mailer.ts'
import { phrase } from '../../../src/phrase.ts'
import { ringOf } from '../../support/key-ring.ts'
import { makeScratchFolder } from '../../support/scratch-folder.ts'
import { startSmtpSink } from '../../support/smtp-sink.ts'

const message: AlarmMessage = {
  kind: 'alarm',
  at: '2026-11-20T12:00:00.000Z',
  raised: [
    {
      ...{ code: 'disk', level: 'critical', advice: 'disk', action: null },
      reason: phrase('health-disk', { host: 'a', percent: 4 }),
    },
    {
      ...{ code: 'backup', level: 'warning', advice: 'backup', action: 'health backup-done' },
      reason: phrase('health-backup', { duration: 200_000 }),
    },
  ],
  over: ['counters'],
  standing: [],
}
const notice = composeNotice('id-1', message, 'https://signalpost.example')

const folder = await makeScratchFolder('alarms')
const sink = await startSmtpSink()
const requests: { headers: IncomingHttpHeaders; body: string }[] = []
let status = 204
const receiver = createServer((req, res) => {
  let body = ''
  req.on('data', (chunk) => (body += String(chunk)))
  req.on('end', () => {
    requests.push({ headers: req.headers, body })
    res.statusCode = status
    res.end()
  })
})
await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
const { port } = receiver.address() as AddressInfo
const mailer = createMailer(sink.url, { connectionMs: 1_000 })

afterAll(async () => {
  await mailer.close(0)
  receiver.close()
  await sink.close()
})

function channelsOf(env: Record<string, string>, secret = ringOf('x'.repeat(40))) {
  const config = readConfig(env, { cores: 1, cwd: '/nowhere' })
  const own = { ...config, databaseUrl: 'postgres://none', secret }
  const clock = () => new Date('2026-11-20T12:00:05Z')
  return { config: own, channels: createChannels({ config: own, clock }, mailer) }
}

test('a message says what is wrong, what is over, and what to do', () => {
  expect(notice.subject).toBe('Critical: Disk space and 1 more')
  expect(notice.text).toContain('Of the disk with the data folder of a, 4% is free.')
  expect(notice.text).toContain('What to do: Free space on the disk')
  expect(notice.text).toContain('The last backup was made 2 d 7 h ago.')
  expect(notice.text).toContain('Over: Statistics.')
})

test('each address gets a mail of its own, without a return path', async () => {
  const { channels } = channelsOf({ ALARM_MAIL: 'ann@ops.example, bob@ops.example' })
  expect(channels.map(({ name }) => name)).toEqual(['mail 1', 'mail 2'])
  for (const channel of channels) await channel.send(notice)
  const [first, second] = await sink.received(2)
  expect([first?.to, second?.to]).toEqual([['ann@ops.example'], ['bob@ops.example']])
  expect(first?.from).toBe('')
  expect(first?.raw.toString()).toContain('Subject: [Signalpost] Critical: Disk space and 1')
  sink.failAll('mail', { code: 554, text: 'Relay access denied' })
  await expect(channels[0]?.send(notice)).rejects.toThrow('Relay access denied')
  sink.failAll('mail', undefined)
})

test('a request to the webhook is signed, and fails unless the answer is 2xx', async () => {
  const { channels, config } = channelsOf({ ALARM_WEBHOOK_URL: `http://127.0.0.1:${port}/hook` })
  await channels[0]?.send(notice)
  const [request] = requests
  const { body = '', headers } = request ?? {}
  const timestamp = Date.parse('2026-11-20T12:00:05Z') / 1_000
  const keys = alarmWebhookKeys(config)
  const signed = webhookHeaders({ url: '', id: 'id-1', timestamp, body, keys })
  expect(headers).toMatchObject({ ...signed, 'content-type': 'application/json' })
  expect(JSON.parse(body)).toMatchObject({
    ...{ type: 'health.alarm', id: 'id-1', timestamp: message.at },
    data: { kind: 'alarm', raised: [{ code: 'disk' }, { code: 'backup' }] },
  })
  for (const other of [500, 302]) {
    status = other
    await expect(channels[0]?.send(notice)).rejects.toThrow(`HTTP ${other}`)
  }
  const { channels: gone } = channelsOf({ ALARM_WEBHOOK_URL: 'http://127.0.0.1:1/' })
  await expect(gone[0]?.send(notice)).rejects.toThrow(/ECONNREFUSED|bad port/)
})

test('a file gets a line for each message, and a command gets it as its input', async () => {
  const file = path.join(folder, 'alarms.jsonl')
  const command = path.join(folder, 'page')
  await writeFile(command, `#!/bin/sh\ncat > ${folder}/paged\n`)
  await chmod(command, 0o755)
  const { channels } = channelsOf({ ALARM_FILE: file, ALARM_COMMAND: command })
  for (const channel of channels) await channel.send(notice)
  await channels[0]?.send(notice)
  expect(await readFile(file, 'utf8')).toBe(`${notice.json}\n${notice.json}\n`)
  expect(await readFile(path.join(folder, 'paged'), 'utf8')).toBe(`${notice.json}\n`)
  await writeFile(command, '#!/bin/sh\nexit 3\n')
  await expect(channels[1]?.send(notice)).rejects.toThrow('exit code 3')
  const { channels: missing } = channelsOf({ ALARM_COMMAND: path.join(folder, 'missing') })
  await expect(missing[0]?.send(notice)).rejects.toThrow('ENOENT')
})
