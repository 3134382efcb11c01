import { Counter, Gauge, Registry } from '@prometheus-io/client'
import type { Clock } from '../../world.ts'
import type { MailNow, ReadMail } from '../mail-now.ts'

/** How mail leaves, in the Prometheus text format; empty where the database does not answer. */
export function createMailMetrics(readMail: ReadMail, clock: Clock): () => Promise<string> {
  return async () => {
    const mail = await readMail().catch(() => undefined)
    return mail ? textOf(mail, clock()) : ''
  }
}

async function textOf({ relay, totals, waiting, refused }: MailNow, now: Date): Promise<string> {
  const registry = new Registry()
  const registers = [registry]
  const ended = new Counter({
    name: 'signalpost_mail_total',
    help: 'Mails of ours by kind and by how they ended.',
    labelNames: ['kind', 'outcome'],
    registers,
  })
  const kinds = ['feedback', 'letter'] as const
  for (const kind of kinds) {
    for (const outcome of ['sent', 'refused', 'bounced'] as const) {
      const its = totals.find((one) => one.kind === kind && one.outcome === outcome)
      ended.inc({ kind, outcome }, its?.total ?? 0)
    }
  }
  const unsent = new Gauge({
    name: 'signalpost_mail_unsent',
    help: 'Mails that have not left: queued, waiting for their hour, held, or refused.',
    labelNames: ['kind', 'state'],
    registers,
  })
  for (const kind of kinds) {
    for (const state of ['queued', 'waiting', 'held'] as const) {
      const its = waiting.find((one) => one.kind === kind && one.state === state)
      unsent.set({ kind, state }, its?.mails ?? 0)
    }
    unsent.set({ kind, state: 'refused' }, refused[kind])
  }
  const since = new Gauge({
    name: 'signalpost_mail_relay_refusing_seconds',
    help: 'Since when our own mail server takes none of our mail; 0 while it does.',
    registers,
  })
  const refusedMs = relay.refusedSince ? now.getTime() - relay.refusedSince.getTime() : 0
  since.set(Math.max(0, refusedMs) / 1000)
  return registry.metrics()
}
