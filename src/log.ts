import pino from 'pino'

/** Writes sentences with fields. Never pass it an address, a subject, a body or a key. */
export type Logger = pino.Logger

/**
 * Creates a logger to standard error: JSON lines, or readable lines on a terminal. `process` names
 * the part of Signalpost that logs.
 */
export async function createLogger(level: string, process_: string): Promise<Logger> {
  const base = { process: process_ }
  if (!process.stderr.isTTY) return pino({ level, base }, pino.destination({ dest: 2, sync: true }))
  const { default: pretty } = await import('pino-pretty')
  const stream = pretty({
    destination: 2,
    sync: true,
    ignore: 'process',
    messageFormat: `${process_}: {msg}`,
    translateTime: 'HH:MM:ss',
  })
  return pino({ level, base }, stream)
}
