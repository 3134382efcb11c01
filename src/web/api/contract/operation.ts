import type { z } from 'zod'
import type { Attempt } from '../../../db/limits.ts'
import type { TokenScope } from '../../../db/sessions.ts'
import type { Role } from '../../../roles.ts'
import type { ProblemName } from '../../problem.ts'
import type { SchemaName } from './schemas.ts'

/** The header fields of responses that the contract promises. */
export const answerHeaders = {
  Location: { description: 'The URL of the created resource.', type: 'string' },
  Link: { description: 'rel="next": the next page of the list (RFC 8288).', type: 'string' },
  'Retry-After': { description: 'Seconds to wait before the next attempt.', type: 'integer' },
  Allow: { description: 'The methods that this URL supports.', type: 'string' },
  'WWW-Authenticate': {
    description: 'The supported authentication schemes (RFC 9110).',
    type: 'string',
  },
  'Accept-Post': { description: 'The supported content types.', type: 'string' },
  'Idempotency-Replayed': {
    description:
      '"true" if this is the stored answer to an earlier request with this Idempotency-Key.',
    type: 'string',
  },
  'Content-Disposition': { description: 'Always "attachment".', type: 'string' },
  RateLimit: { description: 'The remaining requests under each limit.', type: 'string' },
  'RateLimit-Policy': { description: 'The limits that apply.', type: 'string' },
} as const

export type HeaderName = keyof typeof answerHeaders

/** The chapters of the reference, in order. */
export const chapters = {
  Reports: 'Report messages, follow reports, retract them.',
  Account: 'The account of the caller, and the mail servers of the reporter.',
  Webhooks: 'Notify your own software of the state of reports.',
  Reputation: 'Reputations of addresses, domains, hosts and links.',
  'Abuse desks': 'Read and answer the feedback reports that an abuse desk received.',
  'Outgoing mail': 'What happened to mail that your own users sent.',
  'Search and actions': 'Search the reports of all reporters, and act on many at once.',
  'Mail servers': 'Verdicts on messages during delivery, in the format of rspamd.',
  Service: 'Monitoring, and this document.',
} as const

/** The required credentials: a scope, a role, those of a mail server or an abuse desk, or none. */
export type Need =
  | Exclude<TokenScope, 'on-behalf'>
  | Role
  | 'any'
  | 'mail-server'
  | 'plug-in'
  | 'desk'
  | 'nothing'

/** The content of a body or response: a schema, text or bytes. */
export type Content = SchemaName | 'text' | 'bytes' | 'file' | 'form' | 'lines'

export type OperationResponse = {
  description: string
  content?: Readonly<Record<string, Content>>
  headers?: readonly HeaderName[]
}

/**
 * The input of an operation's examples. `{id}` and similar placeholders stand for earlier results.
 */
type Example = {
  query?: string
  /** Header fields besides credentials and Content-Type. */
  headers?: Readonly<Record<string, string>>
  /** `message`: a file with a mail message. An array is sent as JSON lines. */
  body?: 'message' | 'form' | 'signaler' | object | readonly object[]
}

export type Operation = {
  id: string
  method: 'get' | 'post' | 'put' | 'patch' | 'delete' | 'options'
  path: string
  chapter: keyof typeof chapters
  summary: string
  description?: string
  need: Need
  /** The rate limit that counts the requests; `read` by default. */
  limit?: Attempt
  parameters?: { path?: z.ZodObject; query?: z.ZodObject; header?: z.ZodObject }
  body?: Readonly<Record<string, Content>>
  isBodyOptional?: boolean
  /** Maximum size of a JSON body; 8,000 by default. */
  bodyBytesMax?: number
  answers: Readonly<Record<number, OperationResponse>>
  /** Problems besides those that follow from the other fields. */
  problems: readonly ProblemName[]
  example: Example
}

export type Declared = Omit<Operation, 'id' | 'problems' | 'example'> &
  Partial<Pick<Operation, 'problems' | 'example'>>

export type Operations = Readonly<Record<string, Declared>>

export function json(
  schema: Content,
  description: string,
  { status = 200, headers }: { status?: number; headers?: readonly HeaderName[] } = {},
): Operation['answers'] {
  const content = { 'application/json': schema }
  return { [status]: { description, content, ...(headers && { headers }) } }
}
