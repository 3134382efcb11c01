import { parseBase64 } from '../base64.ts'
import { ProblemError } from '../problem.ts'
import { percentDecoded } from '../urlencoded.ts'

/**
 * The message in the field `message` of an urlencoded body.
 *
 * @throws ProblemError 400
 */
export function signalerMessage(body: Buffer): Buffer {
  return messageInBase64(urlencodedField(body, 'message'))
}

/** @throws ProblemError 400 when there is no text, or it is not base64 */
export function messageInBase64(text: string | undefined): Buffer {
  if (text === undefined || text === '') {
    throw new ProblemError('no-message', 'Send the message in base64 in the field "message".')
  }
  const raw = parseBase64(text)
  if (raw) return raw
  throw new ProblemError('bad-base64', 'The field "message" must hold the message in base64.')
}

/**
 * A base64 field of an urlencoded body, from clients that percent-encode and from those that do
 * not: a plus sign stands for itself, what some layer made a space was one, and `=` may stand
 * bare. Base64 itself has neither spaces nor `&`.
 */
export function urlencodedField(body: Buffer, name: string): string | undefined {
  const prefix = `${name}=`
  const inside = body.indexOf(`&${prefix}`)
  if (inside < 0 && body.indexOf(prefix) !== 0) return undefined
  const start = body.indexOf(prefix) === 0 ? prefix.length : inside + 1 + prefix.length
  const end = body.indexOf('&', start)
  const value = percentDecoded(body.subarray(start, end < 0 ? body.length : end)).toString('latin1')
  return value
    .trim()
    .replaceAll(/[\r\n\t]+ */g, '')
    .replaceAll(' ', '+')
}
