import type { Readable } from 'node:stream'
import { isSmtpReply, type SmtpReply, smtpReply } from './smtp-reply.ts'

/** The memory in which mails wait that are still coming, or being stored. */
export type Spool = {
  /**
   * Reads a mail to its end and hands it to `keep`; its memory is given back afterwards. What is
   * beyond `bytesMax`, or has no room beside the others, is let pass by and refused.
   *
   * @throws SmtpReply when the mail is too big, not whole, or has no room now
   */
  read: <T>(stream: Readable, bytesMax: number, keep: (raw: Buffer) => Promise<T>) => Promise<T>
}

/** A spool that holds at most so many bytes of mail. */
export function createSpool(heldMax: number): Spool {
  let held = 0
  return {
    async read(stream, bytesMax, keep) {
      let own = 0
      const hold = (bytes: number) => {
        const refusal = own + bytes > bytesMax ? tooBig(bytesMax) : noRoom(held + bytes, heldMax)
        const change = refusal ? -own : bytes
        own += change
        held += change
        return refusal
      }
      try {
        return await keep(await collect(stream, hold))
      } finally {
        held -= own
      }
    },
  }
}

async function collect(
  stream: Readable,
  hold: (bytes: number) => SmtpReply | undefined,
): Promise<Buffer> {
  const chunks: Buffer[] = []
  let refusal: SmtpReply | undefined
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      refusal ??= hold(chunk.length)
      if (refusal) chunks.length = 0
      else chunks.push(chunk)
    }
  } catch (error) {
    throw isSmtpReply(error) ? error : smtpReply(451, '4.4.2 The mail did not arrive whole', error)
  }
  if (refusal) throw refusal
  return Buffer.concat(chunks)
}

function tooBig(bytesMax: number): SmtpReply {
  return smtpReply(552, `5.3.4 At most ${bytesMax} bytes are taken`)
}

function noRoom(held: number, heldMax: number): SmtpReply | undefined {
  if (held <= heldMax) return undefined
  return smtpReply(452, '4.3.1 No room for more mail now, try again later')
}
