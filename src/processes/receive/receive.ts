import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server'
import type { App } from '../../app.ts'
import type { Config } from '../../config.ts'
import { MINUTE_MS } from '../../durations.ts'
import { BusyError, forLog, reasonOf, UsageError, withoutData } from '../../errors.ts'
import type { Logger } from '../../log.ts'
import { takeProxyHeaders } from '../../web/proxy-protocol.ts'
import { openStandby, type Standby } from '../standby.ts'
import { createMailMemory, isSmtpReply, smtpReply } from './keep-mail.ts'
import { acceptLooseCommands } from './loose-commands.ts'
import { type MailSources, openMailSources } from './mail-sources.ts'
import { bytesMaxFor } from './recipients.ts'
import { createPeers, type Line, takeMail, takeRecipient } from './session.ts'

/** The certificate and private key for STARTTLS: the contents of two PEM files. */
export type TlsFiles = { cert: Buffer; key: Buffer }

type Settings = Pick<Config, 'receiveTlsCertFile' | 'receiveTlsKeyFile'>

const LOOK_MS = 60_000

/**
 * Reads the certificate and its key; undefined if none are configured.
 *
 * @throws UsageError naming what is missing, unreadable or mismatched
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
    throw new UsageError([`RECEIVE_TLS_CERT_FILE does not contain a PEM certificate: ${why}`])
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
 * Calls `use` when the files change; checks them every minute and on SIGHUP. Unusable files are
 * logged once, and the previous certificate stays in use.
 */
function watchTlsFiles(
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
      log.info('Loaded the new TLS certificate for incoming mail.')
    } catch (error) {
      const reason = reasonOf(error)
      if (reason !== complaint)
        log.error(
          { reason },
          'Cannot use the new TLS certificate for incoming mail. The previous one stays in use.',
        )
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

/** When the certificate expires. */
export function endOf({ cert }: TlsFiles): Date {
  return new Date(new X509Certificate(cert).validTo)
}

function lacks(missing: string, given: string): string {
  return `RECEIVE_TLS_${missing}_FILE is missing: RECEIVE_TLS_${given}_FILE needs it.`
}

export type MailListener = {
  port: number
  /** Rereads the certificate, which otherwise happens every minute. */
  renew: () => Promise<void>
  close: () => Promise<void>
}

type Needs = App

/** High enough for mail servers that return a day's bounces, low enough to end idle connections. */
export const usualLimits = {
  peer: {
    connections: 120,
    sessions: 30,
    recipients: 1_200,
    bytes: 100_000_000,
    unknownRecipients: 10,
  },
  clients: 250,
  recipients: 100,
  /** Maximum number of bytes of mail in memory for all sessions together. */
  held: 128_000_000,
  /** Maximum time in milliseconds between two chunks from a client. */
  silenceMs: MINUTE_MS,
  /** Maximum time in milliseconds to receive the data of a mail. */
  dataMs: 10 * MINUTE_MS,
  sessionMs: 30 * MINUTE_MS,
  trap: { mailsPerMinute: 300, bytesPerMinute: 30_000_000, allPerMinute: 1_200 },
}

export type ReceiveLimits = typeof usualLimits

/**
 * Listens for mail to our addresses by SMTP or LMTP, with STARTTLS if a certificate is configured.
 * Refuses other recipients: it is not a relay. Stores a mail and its job before it acknowledges it.
 *
 * @throws UsageError if the certificate cannot be used
 */
export async function receive(
  app: Needs,
  limits: ReceiveLimits = usualLimits,
  standIn?: Standby,
): Promise<MailListener> {
  const tls = await readTlsFiles(app.config)
  if (tls && endOf(tls) < app.clock()) {
    app.log.warn({ endedAt: endOf(tls) }, 'The TLS certificate for incoming mail has expired.')
  }
  const size = bytesMaxFor('mail-in', app.config)
  const standby = standIn ?? (await openStandby(app, 'receive'))
  const sources = openMailSources(app, limits.trap)
  const line = lineOf({ ...app, ...standby.tools }, sources, limits, size)
  const cuts = new Map<string, NodeJS.Timeout>()
  const server = new SMTPServer({
    ...usualOptions(line, limits, size),
    ...(tls ?? { disabledCommands: ['AUTH', 'STARTTLS'] }),
    onConnect(session, done) {
      const refusal = line.peers.startSession(session.id, session.remoteAddress, app.clock())
      if (!refusal) cuts.set(session.id, cutAfter(limits.sessionMs, session, server))
      acceptLooseCommands(session, server)
      refuseProxyHeader(session, server)
      done(refusal)
    },
    onClose(session) {
      clearTimeout(cuts.get(session.id))
      cuts.delete(session.id)
      line.peers.endSession(session.id)
    },
    onData(stream, session, done) {
      const cut = cutAfter(limits.dataMs, session, server)
      takeMail(stream, session, line)
        .then(
          (replies) => done(null, replies),
          (error: unknown) => done(replyTo(error, app)),
        )
        .finally(() => clearTimeout(cut))
    },
  })
  takeProxyHeaders(server.server, app.config.receiveProxies)
  // Resets and timeouts by clients are not worth a log line above debug level.
  server.on('error', (error) =>
    app.log.debug({ reason: forLog(error.message) }, 'Lost the connection to a mail client.'),
  )
  const watch =
    tls && watchTlsFiles(app.config, tls, (files) => server.updateSecureContext(files), app.log)
  const port = await listen(server, app)
  return {
    port,
    renew: async () => watch?.look(),
    async close() {
      watch?.close()
      for (const cut of cuts.values()) clearTimeout(cut)
      await new Promise<void>((resolve) => server.close(() => resolve()))
      await standby.close()
      await sources.close()
    },
  }
}

function lineOf(app: Line['app'], sources: MailSources, limits: ReceiveLimits, size: number): Line {
  return {
    app,
    isLmtp: app.config.receiveProtocol === 'lmtp',
    // Enough for at least a few mails of the maximum size.
    peers: createPeers({ ...limits.peer, bytes: Math.max(limits.peer.bytes, 4 * size) }),
    // Enough for at least two mails of the maximum size.
    memory: createMailMemory(Math.max(limits.held, 2 * size)),
    sources,
  }
}

function usualOptions(line: Line, limits: ReceiveLimits, size: number): SMTPServerOptions {
  return {
    lmtp: line.isLmtp,
    // With PIPELINING, Exim sends QUIT together with the mail and closes its side of the
    // connection, so our reply would be lost.
    hidePIPELINING: true,
    banner: 'Signalpost',
    size,
    maxClients: limits.clients,
    maxRecipients: limits.recipients,
    maxCommandLength: 4_096,
    socketTimeout: limits.silenceMs,
    closeTimeout: 10_000,
    authOptional: true,
    disabledCommands: ['AUTH'],
    disableReverseLookup: true,
    logger: false,
    onRcptTo(address, session, done) {
      takeRecipient(address.address, session, line).then(
        (refusal) => done(refusal),
        (error: unknown) => done(replyTo(error, line.app)),
      )
    },
  }
}

async function listen(server: SMTPServer, { config, log }: Needs): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.server.once('error', reject)
    server.listen(config.receivePort, config.receiveHost, () => resolve())
  })
  const address = server.server.address()
  const port = typeof address === 'object' && address ? address.port : config.receivePort
  const { receiveHost: host, receiveProtocol: protocol } = config
  const hasTls = config.receiveTlsCertFile !== undefined
  log.info({ host, port, protocol, starttls: hasTls }, 'Listening for mail.')
  return port
}

/**
 * Ends a session that begins with the header of a proxy that is not in RECEIVE_PROXIES: otherwise
 * all its clients would have its address.
 */
function refuseProxyHeader({ id }: SMTPServerSession, { connections }: SMTPServer): void {
  for (const connection of connections) {
    if (connection.id !== id) continue
    const refuse = () => connection.send(421, '4.7.0 Your address may not use the PROXY protocol')
    Object.assign(connection, { handler_PROXY: refuse })
  }
}

/**
 * Ends a session after `ms` milliseconds, even if the client is active, because a client could send
 * one byte per minute.
 */
function cutAfter(ms: number, { id }: SMTPServerSession, server: SMTPServer): NodeJS.Timeout {
  const cut = () => {
    for (const connection of server.connections) {
      if (connection.id === id) connection.send(421, '4.4.2 Timeout')
    }
  }
  return setTimeout(cut, ms).unref()
}

/**
 * Returns the reply to a client for a thrown error. Errors other than refusals become a temporary
 * failure without details.
 */
function replyTo(error: unknown, { log }: Pick<Needs, 'log'>): Error {
  if (isSmtpReply(error)) return error
  if (error instanceof BusyError) return smtpReply(451, '4.3.0 Try again later')
  log.error(withoutData(error), 'Could not store an incoming mail. Its sender is asked to retry.')
  return smtpReply(451, '4.3.0 Cannot store the mail, try again later')
}
