import { parseArgs } from 'node:util'
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server'
import type { App } from '../app.ts'
import { insertInboundMail } from '../db/inbound-mails.ts'
import { pack } from '../db/packed.ts'
import { inTransaction } from '../db/pool.ts'
import { UsageError } from '../errors.ts'
import { type OwnAddress, parseOwnAddress } from '../mail/verp.ts'
import { handleInbound } from '../queue/queues.ts'
import { send } from '../queue/send.ts'
import { uuidv7 } from '../world.ts'

/** From whom to whom a mail goes. */
export type Envelope = { mailFrom: string; rcptTo: string }

/** A mail as a peer hands it over. */
export type Arrival = Envelope & { raw: Buffer }

/** A listener that takes mail. */
export type Receiver = { port: number; close: () => Promise<void> }

type Needs = Pick<App, 'pool' | 'boss' | 'clock' | 'config' | 'log'>
type Reply = Error & { responseCode?: number }

const BYTES_MAX = 10_000_000
const CLIENTS_MAX = 100
const SILENCE_MS = 60_000
const EX_NOUSER = 67
const EX_TEMPFAIL = 75

/**
 * Listens for mail to the return paths of our feedback reports, by SMTP or LMTP. Other recipients
 * are refused: nothing is relayed. A mail is stored, with its job, before it is acknowledged.
 */
export async function receive(app: Needs): Promise<Receiver> {
  const server = new SMTPServer({
    lmtp: app.config.receiveProtocol === 'lmtp',
    banner: 'Signalpost',
    size: BYTES_MAX,
    maxClients: CLIENTS_MAX,
    socketTimeout: SILENCE_MS,
    closeTimeout: 10_000,
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
    onRcptTo({ address }, _session, done) {
      done(refusalOf(address, app))
    },
    onData(stream, session, done) {
      takeData(stream, session, app).then(
        () => done(null, 'kept'),
        (error: Reply) => {
          if (error.responseCode === undefined) {
            app.log.error({ err: error }, 'A mail could not be kept.')
          }
          done(error.responseCode ? error : reply(451, 'Cannot keep the mail now, try again later'))
        },
      )
    },
  })
  // Resets and time-outs of peers: theirs, and not worth a line each.
  server.on('error', (error) => app.log.debug({ err: error }, 'A mail peer was lost.'))
  await new Promise<void>((resolve, reject) => {
    server.server.once('error', reject)
    server.listen(app.config.receivePort, app.config.receiveHost, () => resolve())
  })
  const address = server.server.address()
  const port = typeof address === 'object' && address ? address.port : app.config.receivePort
  const { receiveHost: host, receiveProtocol: protocol } = app.config
  app.log.info({ host, port, protocol }, 'Listening for mail.')
  return { port, close: () => new Promise((resolve) => server.close(() => resolve())) }
}

/** Reads `[--stdin --to ADDRESS [--from ADDRESS]]`; undefined when it is to listen. */
export function parseReceive(args: readonly string[]): Envelope | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      stdin: { type: 'boolean', default: false },
      to: { type: 'string' },
      from: { type: 'string', default: '' },
    },
  })
  if (!values.stdin) return undefined
  if (values.to === undefined) throw new UsageError(['--to must name the recipient.'])
  return { mailFrom: values.from, rcptTo: values.to }
}

/**
 * Takes one mail from a pipe and returns the exit code that mail servers understand
 * (sysexits.h): 0 kept, 67 no such address, 75 try again later.
 */
export async function receiveOne(
  stream: NodeJS.ReadableStream,
  envelope: Envelope,
  app: Needs,
): Promise<number> {
  const token = tokenOf(envelope.rcptTo, app)
  if (token instanceof Error) return EX_NOUSER
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(Buffer.from(chunk))
  try {
    await keepMail({ ...envelope, raw: Buffer.concat(chunks) }, token, app)
    return 0
  } catch (error) {
    app.log.error({ err: error }, 'A mail could not be kept.')
    return EX_TEMPFAIL
  }
}

/** Stores a mail with its job: together or not at all. */
async function keepMail(arrival: Arrival, token: OwnAddress, app: Needs): Promise<void> {
  const id = uuidv7(app.clock())
  const packed = await pack(arrival.raw)
  await inTransaction(app.pool, async (tx) => {
    await insertInboundMail(tx, {
      id,
      receivedAt: app.clock(),
      mailFrom: arrival.mailFrom,
      rcptTo: arrival.rcptTo,
      purpose: token.is,
      reportId: 'reportId' in token ? token.reportId : null,
      number: 'number' in token ? token.number : null,
      letterId: 'letterId' in token ? token.letterId : null,
      reporterId: null,
      peerIp: null,
      ...packed,
    })
    await send(app.boss, handleInbound, [{ mailId: id }], tx)
  })
}

/** The token of a recipient of ours, or why it is none, as an SMTP reply. */
function tokenOf(address: string, { config }: Pick<App, 'config'>): OwnAddress | Reply {
  const token = parseOwnAddress(address, {
    domain: config.returnPathDomain,
    secret: config.secret,
  })
  if (token === undefined || (token !== 'forged' && token.is === 'mail-in'))
    return reply(550, '5.1.1 No such address here; nothing is relayed')
  if (token === 'forged') return reply(550, '5.7.1 This address was never given out')
  return token
}

function refusalOf(address: string, app: Needs): Error | undefined {
  const token = tokenOf(address, app)
  return token instanceof Error ? token : undefined
}

async function takeData(
  stream: SMTPServerDataStream,
  session: SMTPServerSession,
  app: Needs,
): Promise<void> {
  const raw = await readMail(stream)
  const mailFrom = session.envelope.mailFrom ? session.envelope.mailFrom.address : ''
  for (const { address } of session.envelope.rcptTo) {
    const token = tokenOf(address, app)
    if (!(token instanceof Error)) await keepMail({ mailFrom, rcptTo: address, raw }, token, app)
  }
}

async function readMail(stream: SMTPServerDataStream): Promise<Buffer> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      if (!stream.sizeExceeded) chunks.push(chunk)
    }
  } catch (cause) {
    throw Object.assign(reply(451, 'The mail did not arrive whole'), { cause })
  }
  if (stream.sizeExceeded) throw reply(552, `5.3.4 At most ${BYTES_MAX} bytes are taken`)
  return Buffer.concat(chunks)
}

function reply(responseCode: number, message: string): Reply {
  return Object.assign(new Error(message), { responseCode })
}
