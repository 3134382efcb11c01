import type { z } from 'zod'
import type { Scope } from '../../../db/tokens.ts'
import type { ProblemName } from '../../problem.ts'
import type { HeaderName } from './answer-headers.ts'
import type { SchemaName } from './schemas.ts'

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
export type Need = Scope | 'any' | 'mail-server' | 'plug-in' | 'nothing'

/** What a body or an answer is: a schema of ours, or text and bytes. */
export type Content = SchemaName | 'text' | 'bytes' | 'file' | 'form' | 'lines'

/** An answer that is no problem. */
export type Answer = {
  description: string
  content?: Readonly<Record<string, Content>>
  headers?: readonly HeaderName[]
}

/** What the examples of an operation send. `{id}` and its like stand for what was made before. */
export type Example = {
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
  answers: Readonly<Record<number, Answer>>
  /** Beside those that any operation may answer. */
  problems: readonly ProblemName[]
  example: Example
}
