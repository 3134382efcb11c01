import { CallerError } from '../errors.ts'
import type { Choice, Refusal } from '../reports/message-refusal.ts'

/** The problem types (RFC 9457) of our responses, with their meaning for the caller. */
export const problems = {
  'bad-request': { status: 400, title: 'The request is malformed' },
  'not-a-message': { status: 400, title: 'This is not a mail message' },
  'several-messages': { status: 422, title: 'The message is a mailbox with several messages' },
  'choose-message': { status: 422, title: 'The message carries another message' },
  'bad-base64': { status: 400, title: 'The message is not valid base64' },
  'no-message': { status: 400, title: 'The request contains no message' },
  'sign-in-needed': { status: 401, title: 'Authentication is required' },
  'not-allowed': { status: 403, title: 'This account lacks the permission' },
  'stale-form': { status: 403, title: 'The form belongs to another session' },
  'not-found': { status: 404, title: 'Not found' },
  'wrong-method': { status: 405, title: 'This URL does not support the method' },
  'too-slow': { status: 408, title: 'The request took too long' },
  'too-big': { status: 413, title: 'The message is too large' },
  'wrong-type': { status: 415, title: 'This content type is not supported' },
  'bad-field': { status: 422, title: 'A field has an invalid value' },
  'too-many-headers': { status: 422, title: 'The message has too many header fields' },
  'too-many-parts': { status: 422, title: 'The message has too many parts' },
  'nested-too-deep': { status: 422, title: 'The message is nested too deeply' },
  'nothing-accepted': { status: 422, title: 'None of the messages was accepted' },
  'key-used': { status: 422, title: 'The Idempotency-Key was used for another request' },
  'no-header': { status: 422, title: 'The file does not contain the header of the message' },
  'outlook-data-file': { status: 422, title: 'Data files of Outlook are not supported' },
  'damaged-archive': { status: 422, title: 'The file cannot be unpacked' },
  'encrypted-archive': { status: 422, title: 'The archive is encrypted' },
  'nested-archive': { status: 422, title: 'Archives inside archives are not supported' },
  'too-many-messages': { status: 422, title: 'The file contains too many messages' },
  'unpacks-too-big': { status: 413, title: 'The unpacked file is too large' },
  'too-often': { status: 429, title: 'Too many requests' },
  'header-too-big': { status: 431, title: 'The header of the request is too large' },
  internal: { status: 500, title: 'An internal error occurred' },
  unavailable: { status: 503, title: 'Signalpost is temporarily unavailable' },
} as const

/** The last path segment of a problem type. */
export type ProblemName = keyof typeof problems

/** A problem (RFC 9457 §3.1). */
export type Problem = {
  type: string
  title: string
  status: number
  detail: string
  choices?: readonly Choice[]
}

/** What is wrong with a message: its line, or the messages between which to choose. */
type AboutMessage = Pick<Refusal, 'line' | 'choices'>

/** Thrown while a request is read: becomes a problem response or an error page. */
export class ProblemError extends CallerError {
  override name = 'ProblemError'
  readonly problem: ProblemName
  /** Additional header fields of the response. */
  readonly headers: Readonly<Record<string, string>>
  readonly about: AboutMessage

  constructor(
    problem: ProblemName,
    detail: string,
    headers: Record<string, string> = {},
    about: AboutMessage = {},
  ) {
    super(problems[problem].status, detail)
    this.problem = problem
    this.headers = headers
    this.about = about
  }
}

export const problemType = 'application/problem+json'

/** Composes a problem; its type links to the page that lists all problem types. */
export function problemOf(
  publicUrl: string,
  name: ProblemName,
  detail: string,
  { choices }: AboutMessage = {},
): Problem {
  const { status, title } = problems[name]
  const type = `${publicUrl}/problems#${name}`
  return { type, title, status, detail, ...(choices && { choices }) }
}
