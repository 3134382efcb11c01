import { z } from 'zod'
import type { Operation } from './operation.ts'
import { reportId, reportPageSchema } from './report-schemas.ts'

const idPath = z.object({ id: reportId })
const keyHeader = z.object({
  'Idempotency-Key': z
    .string()
    .regex(/^[\x21-\x7e]{1,255}$/)
    .optional()
    .describe(
      'Any text that is yours. The same key with the same messages is answered as the first ' +
        'time; with others it is refused. Kept for two days.',
    ),
})
const remarks = z.object({
  kind: z.string().optional().describe('spam, phishing or not-spam. Not for JSON and forms.'),
  comment: z.string().optional().describe('Not for JSON and forms.'),
  received_via: z
    .array(z.string())
    .optional()
    .describe('Addresses or blocks of your forwarders. Not for JSON and forms.'),
})
const messageProblems = [
  'bad-request',
  'bad-field',
  'no-message',
  'not-a-message',
  'bad-base64',
  'too-big',
  'wrong-type',
  'too-many-headers',
  'too-many-parts',
  'nested-too-deep',
  'nothing-accepted',
  'too-often',
] as const

/** Problems with files that contain messages. */
const fileProblems = [
  'no-header',
  'damaged-archive',
  'encrypted-archive',
  'nested-archive',
  'too-many-messages',
  'unpacks-too-big',
] as const

const limits = ['RateLimit', 'RateLimit-Policy'] as const
const replayed = ['Idempotency-Replayed', ...limits] as const

/** The operations on reports: submit, read and retract. */
export const reportOperations: readonly Operation[] = [
  {
    id: 'report',
    method: 'post',
    path: '/api/v1/reports',
    chapter: 'Reports',
    summary: 'Report one message, or a form of several',
    description:
      'Send the message as it arrived, with its whole header: as it is (message/rfc822), as ' +
      'JSON, or as files of a form. A file may be a message, or hold some: an .eml, .emlx or ' +
      '.msg file, a mailbox (.mbox), or a .zip archive of these, told by its bytes; such a file ' +
      'may also be sent by itself, without a form. A form may hold 100 files, and a request 500 ' +
      'messages. What comes to one message is answered by a Receipt, what comes to several by ' +
      'Results. The same message reported again is the same report.',
    need: 'report',
    parameters: { query: remarks, header: keyHeader },
    body: {
      'message/rfc822': 'bytes',
      'message/global': 'bytes',
      'application/json': 'Submission',
      'multipart/form-data': 'form',
      'application/zip': 'file',
      'application/mbox': 'file',
      'application/vnd.ms-outlook': 'file',
    },
    answers: {
      202: {
        description: 'Taken in. Of several messages at least one is new.',
        content: { 'application/json': 'Receipt', 'application/json; several': 'Results' },
        headers: ['Location', ...replayed],
      },
      200: {
        description: 'All of it had been reported before.',
        content: { 'application/json': 'Receipt', 'application/json; several': 'Results' },
        headers: ['Location', ...replayed],
      },
    },
    problems: [...messageProblems, ...fileProblems, 'key-used'],
    example: { headers: { 'Idempotency-Key': 'message-2026-11-20-1' }, body: 'message' },
  },
  {
    id: 'report-many',
    method: 'post',
    path: '/api/v1/reports/bulk',
    chapter: 'Reports',
    summary: 'Report many messages, each for itself',
    description:
      'A JSON object a line, at most 1,000 of them and 500 MB. Lines are taken in while they ' +
      'arrive, and each has its own result: some may be refused and others not. After a fault ' +
      'send the whole again: nothing is reported twice.',
    need: 'report',
    body: { 'application/x-ndjson': 'lines' },
    answers: {
      202: {
        description: 'At least one message is new.',
        content: { 'application/json': 'BulkResults' },
        headers: limits,
      },
      200: {
        description: 'All that were taken had been reported before.',
        content: { 'application/json': 'BulkResults' },
        headers: limits,
      },
    },
    problems: [...messageProblems, 'key-used'],
    example: {
      body: [
        { ref: 'first', message_base64: '{message}', kind: 'phishing' },
        { ref: 'second', message_base64: 'bm8gbWVzc2FnZQ==' },
      ],
    },
  },
  {
    id: 'list-reports',
    method: 'get',
    path: '/api/v1/reports',
    chapter: 'Reports',
    summary: 'List your own reports',
    description:
      'The newest first. Follow next to go on. With after the oldest come first, so that the ' +
      'last id you know leads to all that is new.',
    need: 'read',
    parameters: { query: reportPageSchema },
    answers: {
      200: {
        description: 'A page of the list.',
        content: { 'application/json': 'ReportList' },
        headers: ['Link', ...limits],
      },
    },
    problems: ['bad-field', 'too-often'],
    example: { query: '?limit=10&kind=spam' },
  },
  {
    id: 'read-report',
    method: 'get',
    path: '/api/v1/reports/{id}',
    chapter: 'Reports',
    summary: 'Read a report: where it stands, and what was found',
    need: 'read',
    parameters: { path: idPath },
    answers: {
      200: { description: 'The report.', content: { 'application/json': 'Report' } },
    },
    problems: ['not-found', 'too-often'],
    example: {},
  },
  {
    id: 'read-message',
    method: 'get',
    path: '/api/v1/reports/{id}/raw',
    chapter: 'Reports',
    summary: 'Get the reported message back, to the byte',
    need: 'read',
    parameters: { path: idPath },
    answers: {
      200: {
        description: 'The message.',
        content: { 'message/rfc822': 'bytes' },
        headers: ['Content-Disposition'],
      },
    },
    problems: ['not-found', 'too-often'],
    example: {},
  },
  {
    id: 'retract-report',
    method: 'delete',
    path: '/api/v1/reports/{id}',
    chapter: 'Reports',
    summary: 'Take a report back',
    description: 'What it was counted as is taken back, and who was told is told that as well.',
    need: 'retract',
    parameters: { path: idPath },
    answers: {
      200: { description: 'It is taken back.', content: { 'application/json': 'Report' } },
    },
    problems: ['not-found', 'too-often'],
    example: {},
  },
  {
    id: 'report-by-plug-in',
    method: 'post',
    path: '/api/signaler',
    chapter: 'Reports',
    summary: 'Report a message as the plug-ins of Signal Spam do',
    description: 'The field message of a form holds the message in base64.',
    need: 'plug-in',
    body: { 'application/x-www-form-urlencoded': 'form', 'multipart/form-data': 'form' },
    answers: {
      202: {
        description: 'Taken in, now or before.',
        content: { 'application/json': 'Receipt' },
      },
    },
    problems: messageProblems.filter((name) => name !== 'wrong-type'),
    example: { body: 'signaler' },
  },
  {
    id: 'try-plug-in',
    method: 'options',
    path: '/api/signaler',
    chapter: 'Reports',
    summary: 'Find out whether the credentials of a plug-in are right',
    need: 'plug-in',
    answers: { 200: { description: 'They are.', headers: ['Allow'] } },
    problems: [],
    example: {},
  },
]
