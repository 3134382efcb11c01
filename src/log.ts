import pino from 'pino'
import { concealKeys } from './mail/conceal-keys.ts'

/** Writes sentences with fields. Never pass it an address, a subject, a body or a key. */
export type Logger = pino.Logger

/**
 * Creates a logger to standard error: JSON lines, or readable lines on a terminal. `process` names
 * the part of Signalpost that logs. Keys are masked in each line, because the errors of libraries
 * and servers may quote anything. `destination` is for tests.
 */
export async function createLogger(
  level: string,
  process_: string,
  destination?: pino.DestinationStream,
): Promise<Logger> {
  const options = { level, base: { process: process_ }, hooks: { streamWrite: concealKeys } }
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
