import type { z } from 'zod'
import type { TokenScope } from '../../../db/sessions.ts'
import type { ProblemName } from '../../problem.ts'
import type { SchemaName } from './document.ts'

/** The header fields of responses that the contract promises. */
export const answerHeaders = {
  Location: { description: 'Where what was made is found.', type: 'string' },
  Link: { description: 'rel="next": where the list goes on (RFC 8288).', type: 'string' },
  'Retry-After': { description: 'Seconds to wait before the next attempt.', type: 'integer' },
  Allow: { description: 'The methods that the address takes.', type: 'string' },
  'WWW-Authenticate': { description: 'How to say who you are (RFC 9110).', type: 'string' },
  'Accept-Post': { description: 'The types of bodies that are taken.', type: 'string' },
  'Idempotency-Replayed': {
    description: '"true" when this was answered before to the same Idempotency-Key.',
    type: 'string',
  },
  'Content-Disposition': { description: 'Always an attachment.', type: 'string' },
  RateLimit: { description: 'What is left of the limits that apply.', type: 'string' },
  'RateLimit-Policy': { description: 'The limits that apply.', type: 'string' },
} as const

/** The name of such a header field. */
export type HeaderName = keyof typeof answerHeaders

/** The chapters of the reference, in order. */
export const chapters = {
  Reports: 'Report messages, follow reports, take them back.',
  Account: 'Who asks, and the mail servers of the reporter.',
  Webhooks: 'Have your own software told what becomes of reports.',
  Reputation: 'What is known of addresses, domains, hosts and links.',
  'Mail servers': 'Verdicts on messages while they arrive, as rspamd gives them.',
  Service: 'For those who watch over the service, and this document.',
} as const

/** The required credentials: a scope, those of a mail server, or none. */
export type Need = TokenScope | 'any' | 'mail-server' | 'plug-in' | 'nothing'

/** The content of a body or response: a schema, text or bytes. */
export type Content = SchemaName | 'text' | 'bytes' | 'file' | 'form' | 'lines'

/** A successful response. */
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

/** One method of one path. */
export type Operation = {
  id: string
  method: 'get' | 'post' | 'put' | 'patch' | 'delete' | 'options'
  path: string
  chapter: keyof typeof chapters
  summary: string
  description?: string
  need: Need
  parameters?: { path?: z.ZodObject; query?: z.ZodObject; header?: z.ZodObject }
  body?: Readonly<Record<string, Content>>
  answers: Readonly<Record<number, OperationResponse>>
  /** Problems besides those that any operation may return. */
  problems: readonly ProblemName[]
  example: Example
}
