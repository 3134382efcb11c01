import { spawn } from 'node:child_process'
import { appendFile } from 'node:fs/promises'
import type { App } from '../app.ts'
import { composeLetter } from '../mail/letter.ts'
import { webhookHeaders, webhookKey } from '../mail/webhook-message.ts'
import type { Mailer } from '../net/mailer.ts'
import { callOperator } from '../net/operator-http.ts'
import type { AlarmNotice } from './alarm-text.ts'

/** A way to reach operators. */
export type Channel = {
  /** For pages and logs; contains no address. */
  name: string
  /** Delivers a message; throws with the reason if it could not. */
  send: (notice: AlarmNotice) => Promise<void>
}

type Needs = Pick<App, 'config' | 'clock'>

const COMMAND_MS_MAX = 10_000

/**
 * The keys with which requests to ALARM_WEBHOOK_URL are signed, the one of the present secret
 * first.
 */
export function alarmWebhookKeys({ secret }: Pick<App['config'], 'secret'>): Buffer[] {
  return secret.accepted('webhook').map((key) => webhookKey({ id: 'alarms', generation: 1 }, key))
}

/** Returns the channels of the settings; each is tried on its own. `mailer` sends only alarms. */
export function createChannels(app: Needs, mailer: Mailer | undefined): Channel[] {
  const { webhookUrl, file, command, mailTo } = app.config.alarms
  const channels: Channel[] = mailTo.map((address, index) => ({
    name: mailTo.length === 1 ? 'mail' : `mail ${index + 1}`,
    send: (notice) => sendMail(notice, address, app, mailer),
  }))
  if (webhookUrl !== undefined) {
    channels.push({ name: 'webhook', send: (notice) => callWebhook(notice, webhookUrl, app) })
  }
  if (file !== undefined) {
    channels.push({ name: 'file', send: ({ json }) => appendFile(file, `${json}\n`) })
  }
  if (command !== undefined) {
    channels.push({ name: 'command', send: (notice) => runCommand(command, notice) })
  }
  return channels
}

async function sendMail(
  { id, subject, text, at }: AlarmNotice,
  to: string,
  { config }: Needs,
  mailer: Mailer | undefined,
): Promise<void> {
  if (!mailer) throw new Error('Neither ALARM_SMTP_URL nor SMTP_URL is set.')
  const raw = composeLetter({
    ...{ from: config.mailFrom, operator: config.operatorName, to, text, language: 'en' },
    ...{ subject: `[Signalpost] ${subject}`, date: new Date(at), autoSubmitted: 'generated' },
    messageId: `<alarm.${id}@${config.returnPathDomain}>`,
  })
  // Without a return path, a mail that cannot be delivered causes no other mail.
  const result = await mailer.send({ envelope: { from: '', to }, raw })
  if (result.outcome === 'accepted') return
  throw new Error(result.outcome === 'later' ? result.reason : result.reply)
}

function callWebhook({ id, json }: AlarmNotice, url: string, app: Needs): Promise<void> {
  const timestamp = Math.floor(app.clock().getTime() / 1_000)
  const keys = alarmWebhookKeys(app.config)
  const signed = webhookHeaders({ url, id, timestamp, body: json, keys })
  return callOperator(url, {
    body: json,
    headers: { ...signed, 'content-type': 'application/json' },
  })
}

/** Runs a program without a shell; it reads the message in JSON from its standard input. */
function runCommand(command: string, { json }: AlarmNotice): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, [], {
      ...{ stdio: ['pipe', 'ignore', 'ignore'], timeout: COMMAND_MS_MAX, killSignal: 'SIGKILL' },
    })
    child.once('error', reject)
    // A program may end without reading its input.
    child.stdin.on('error', () => undefined)
    child.once('close', (code, signal) => {
      if (code === 0) resolve()
      else reject(new Error(`The command ended with ${signal ?? `exit code ${code}`}.`))
    })
    child.stdin.end(`${json}\n`)
  })
}
