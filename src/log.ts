import pino from 'pino'
import { concealKeys } from './mail/conceal-keys.ts'

/** Writes sentences with fields. Never pass it an address, a subject, a body or a key. */
export type Logger = pino.Logger

type LogTarget = { isJournal?: boolean; destination?: pino.DestinationStream }

/**
 * Creates a logger to standard error: JSON lines, or readable lines on a terminal. `process` names
 * the part of Signalpost that logs. Keys are masked in each line, because the errors of libraries
 * and servers may quote anything. With `isJournal`, each line begins with its level as the journal
 * of systemd reads it (sd-daemon(3)). `destination` is for tests.
 */
export async function createLogger(
  level: string,
  process_: string,
  { isJournal = false, destination }: LogTarget = {},
): Promise<Logger> {
  const streamWrite = isJournal
    ? (line: string) => `<${priorityOf(line)}>${concealKeys(line)}`
    : concealKeys
  const options = { level, base: { process: process_ }, hooks: { streamWrite } }
  if (destination) return pino(options, destination)
  if (!process.stderr.isTTY) return pino(options, pino.destination({ dest: 2, sync: true }))
  const { default: pretty } = await import('pino-pretty')
  const stream = pretty({
    destination: 2,
    sync: true,
    ignore: 'process',
    messageFormat: `${process_}: {msg}`,
    translateTime: 'HH:MM:ss',
  })
  return pino(options, stream)
}

/** The severity of a line (RFC 5424 §6.2.1): from 2, critical, to 7, debugging. */
function priorityOf(line: string): number {
  const level = Number(/^\{"level":(\d+)/.exec(line)?.[1] ?? 30)
  if (level >= 60) return 2
  if (level >= 50) return 3
  if (level >= 40) return 4
  return level >= 30 ? 6 : 7
}
