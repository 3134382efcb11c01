import { Readable } from 'node:stream'
import { parseArgs } from 'node:util'
import type { App } from '../../app.ts'
import { UsageError, withoutData } from '../../errors.ts'
import { storableText } from '../../mail/storable-text.ts'
import { keepMail } from './keep-mail.ts'
import { bytesMaxFor, recipientOf } from './recipients.ts'
import { isSmtpReply } from './smtp-reply.ts'
import { createSpool } from './spool.ts'

/** From whom to whom a mail goes. */
export type Envelope = { mailFrom: string; rcptTo: string }

type Needs = Pick<App, 'pool' | 'boss' | 'clock' | 'config' | 'log'>

const [DONE, EX_DATAERR, EX_NOUSER, EX_TEMPFAIL] = [0, 65, 67, 75]
const MAIL_FROM_CHARS = 1_000

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
  // Some mail servers say <> for nobody.
  const mailFrom = storableText(values.from.replace(/^<(.*)>$/, '$1'), MAIL_FROM_CHARS)
  return { mailFrom, rcptTo: storableText(values.to, MAIL_FROM_CHARS) }
}

/**
 * Takes one mail from a pipe and returns the exit code that mail servers understand (sysexits.h):
 * 0 kept, 65 refused for what it is, 67 no such address, 75 try again later.
 */
export async function receiveOne(
  stream: NodeJS.ReadableStream,
  { mailFrom, rcptTo }: Envelope,
  app: Needs,
): Promise<number> {
  try {
    const recipient = await recipientOf(rcptTo, app)
    if (recipient instanceof Error) return EX_NOUSER
    const bytesMax = bytesMaxFor(recipient.purpose, app.config)
    const input = new Readable().wrap(stream)
    await createSpool(bytesMax + 1).read(input, bytesMax, (raw) =>
      keepMail({ mailFrom, peerIp: null, raw }, [recipient], app),
    )
    return DONE
  } catch (error) {
    if (isSmtpReply(error) && error.responseCode >= 500) {
      app.log.warn({ reason: error.message }, 'A mail was refused.')
      return EX_DATAERR
    }
    app.log.error(withoutData(error), 'A mail could not be kept.')
    return EX_TEMPFAIL
  }
}
