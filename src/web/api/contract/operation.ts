import type { z } from 'zod'
import type { TokenScope } from '../../../db/sessions.ts'
import type { ProblemName } from '../../problem.ts'
import type { SchemaName } from './document.ts'

/** The header fields of answers that the contract promises. */
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

/** One of them. */
export type HeaderName = keyof typeof answerHeaders

/** The chapters of the reference, in their order. */
export const chapters = {
  Reports: 'Report messages, follow reports, take them back.',
  Account: 'Who asks, and the mail servers of the reporter.',
  Webhooks: 'Have your own software told what becomes of reports.',
  Reputation: 'What is known of addresses, domains, hosts and links.',
  'Mail servers': 'Verdicts on messages while they arrive, as rspamd gives them.',
  Service: 'For those who watch over the service, and this document.',
} as const

/** What must be proved: a scope, that one is a mail server, or nothing. */
export type Need = TokenScope | 'any' | 'mail-server' | 'plug-in' | 'nothing'

/** What a body or an answer is: a schema of ours, or text and bytes. */
export type Content = SchemaName | 'text' | 'bytes' | 'file' | 'form' | 'lines'

/** An answer that is no problem. */
export type OperationResponse = {
  description: string
  content?: Readonly<Record<string, Content>>
  headers?: readonly HeaderName[]
}

/** What the examples of an operation send. `{id}` and its like stand for what was made before. */
type Example = {
  query?: string
  /** Header fields beside those for credentials and the type of the body. */
  headers?: Readonly<Record<string, string>>
  /** `message`: a file of a mail message. An array is sent as JSON lines. */
  body?: 'message' | 'form' | 'signaler' | object | readonly object[]
}

/** One method of one address. */
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
  /** Beside those that any operation may answer. */
  problems: readonly ProblemName[]
  example: Example
}
