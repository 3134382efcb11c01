import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import type { Config } from '../../config.ts'
import { reasonOf, UsageError } from '../../errors.ts'
import type { Logger } from '../../log.ts'

/** What STARTTLS shows and proves: the contents of two PEM files. */
export type TlsFiles = { cert: Buffer; key: Buffer }

type Settings = Pick<Config, 'receiveTlsCertFile' | 'receiveTlsKeyFile'>

const LOOK_MS = 60_000

/**
 * Reads the certificate and its key; undefined when none are set.
 *
 * @throws UsageError naming what is missing, unreadable, or does not belong together
 */
export async function readTlsFiles(settings: Settings): Promise<TlsFiles | undefined> {
  const { receiveTlsCertFile: certFile, receiveTlsKeyFile: keyFile } = settings
  if (certFile === undefined && keyFile === undefined) return undefined
  if (certFile === undefined) throw new UsageError([lacks('CERT', 'KEY')])
  if (keyFile === undefined) throw new UsageError([lacks('KEY', 'CERT')])
  const problems: string[] = []
  const read = (name: string, file: string) =>
    readFile(file).catch((error: unknown) => {
      problems.push(`RECEIVE_TLS_${name}_FILE cannot be read: ${reasonOf(error)}`)
      return Buffer.alloc(0)
    })
  const files = { cert: await read('CERT', certFile), key: await read('KEY', keyFile) }
  if (problems.length > 0) throw new UsageError(problems)
  try {
    new X509Certificate(files.cert)
  } catch (error) {
    const why = reasonOf(error)
    throw new UsageError([`RECEIVE_TLS_CERT_FILE holds no certificate in PEM: ${why}`])
  }
  try {
    createSecureContext(files)
  } catch (error) {
    const why = reasonOf(error)
    throw new UsageError([
      `RECEIVE_TLS_KEY_FILE is not the key of the certificate, in PEM without a password: ${why}`,
    ])
  }
  return files
}

/**
 * Hands on what the files hold whenever that changes: it looks each minute, and on SIGHUP. Files
 * that cannot be used are told of once, and what was used before stays in use.
 */
export function watchTlsFiles(
  settings: Settings,
  first: TlsFiles,
  use: (files: TlsFiles) => void,
  log: Logger,
): { look: () => Promise<void>; close: () => void } {
  let used = first
  let complaint: string | undefined
  async function look(): Promise<void> {
    try {
      const files = await readTlsFiles(settings)
      complaint = undefined
      if (!files || (files.cert.equals(used.cert) && files.key.equals(used.key))) return
      use(files)
      used = files
      log.info('The certificate of the mail listener was renewed.')
    } catch (error) {
      const reason = reasonOf(error)
      if (reason !== complaint) log.error({ reason }, 'The new certificate cannot be used.')
      complaint = reason
    }
  }
  const lookNow = () => void look()
  const timer = setInterval(lookNow, LOOK_MS).unref()
  process.on('SIGHUP', lookNow)
  return {
    look,
    close: () => {
      clearInterval(timer)
      process.off('SIGHUP', lookNow)
    },
  }
}

/** When the certificate ends; for a word about one that has ended. */
export function endOf({ cert }: TlsFiles): Date {
  return new Date(new X509Certificate(cert).validTo)
}

function lacks(missing: string, given: string): string {
  return `RECEIVE_TLS_${missing}_FILE is missing: RECEIVE_TLS_${given}_FILE needs it.`
}
