import { z } from 'zod'
import { json, type Operations } from './operation.ts'
import { reportId, reportPageSchema } from './report-schemas.ts'

const idPath = z.object({ id: reportId })
const onBehalfOf = z
  .string()
  .regex(/^[\x21-\x7e]{1,200}$/)
  .optional()
  .describe(
    'For mail providers: your own key of the mailbox user who reports. Needs the scope ' +
      '“on-behalf”, and an account that an operator created. Each user is a reporter of its own.',
  )
export const forOthers = z.object({ 'On-Behalf-Of': onBehalfOf })
const keyHeader = z.object({
  'On-Behalf-Of': onBehalfOf,
  'Idempotency-Key': z
    .string()
    .regex(/^[\x21-\x7e]{1,255}$/)
    .optional()
    .describe(
      'Any text that you choose. The same key with the same messages gets the same answer again; ' +
        'with other messages it is refused. Keys are kept for two days.',
    ),
})
const remarks = z.object({
  kind: z.string().optional().describe('spam, phishing or not-spam. Not for JSON and forms.'),
  comment: z.string().optional().describe('Not for JSON and forms.'),
  report: z
    .string()
    .optional()
    .describe('attached or whole, if a message carries another one. Not for JSON and forms.'),
  received_via: z
    .array(z.string())
    .optional()
    .describe('Addresses or CIDR blocks of your forwarders. Not for JSON and forms.'),
})
const messageProblems = [
  'bad-request',
  'bad-field',
  'no-message',
  'not-a-message',
  'several-messages',
  'choose-message',
  'bad-base64',
  'too-big',
  'wrong-type',
  'too-many-headers',
  'too-many-parts',
  'nested-too-deep',
  'nothing-accepted',
  'too-often',
] as const

const fileProblems = [
  'no-header',
  'outlook-data-file',
  'damaged-archive',
  'encrypted-archive',
  'nested-archive',
  'too-many-messages',
  'unpacks-too-big',
] as const

const submissionBody = {
  'message/rfc822': 'bytes',
  'message/global': 'bytes',
  'application/json': 'Submission',
  'multipart/form-data': 'form',
  'application/zip': 'file',
  'application/mbox': 'file',
  'application/vnd.ms-outlook': 'file',
} as const

const limits = ['RateLimit', 'RateLimit-Policy'] as const
const replayed = ['Idempotency-Replayed', ...limits] as const

/** The operations on reports: submit, read, retract, restore and confirm. */
export const reportOperations = {
  report: {
    method: 'post',
    path: '/api/v1/reports',
    chapter: 'Reports',
    summary: 'Report one or several messages',
    description:
      'Send each message unchanged, with its whole header: as raw bytes (message/rfc822), as ' +
      'JSON, or as files of a form. A file can be a message, or contain messages: an .eml, ' +
      '.emlx or .msg file, a mailbox (.mbox), or a .zip archive of these. The type is ' +
      'detected from the bytes. Such a file can also be sent without a form. A form can have ' +
      '100 files, and a request 500 messages. The answer is a Receipt for one message and ' +
      'Results for several. Reporting the same message again gives the same report.',
    need: 'report',
    parameters: { query: remarks, header: keyHeader },
    body: submissionBody,
    answers: {
      202: {
        description: 'Accepted. At least one message is new.',
        content: { 'application/json': 'Receipt', 'application/json; several': 'Results' },
        headers: ['Location', ...replayed],
      },
      200: {
        description: 'All messages had been reported before.',
        content: { 'application/json': 'Receipt', 'application/json; several': 'Results' },
        headers: ['Location', ...replayed],
      },
    },
    problems: [...messageProblems, ...fileProblems, 'key-used'],
    example: { headers: { 'Idempotency-Key': 'message-2026-11-20-1' }, body: 'message' },
  },
  'look-into': {
    method: 'post',
    path: '/api/v1/reports/look',
    chapter: 'Reports',
    summary: 'Count the messages in files before reporting them',
    description:
      'Takes the same as “Report one or several messages”, and says how many messages were ' +
      'found and which of them cannot be read. Nothing is reported or stored. It counts as one ' +
      'report under your limits.',
    need: 'report',
    parameters: { header: forOthers },
    body: submissionBody,
    answers: json('Look', 'The messages that were found.', { headers: limits }),
    problems: ['bad-request', 'no-message', 'bad-base64', 'too-big', 'wrong-type', 'too-often'],
    example: { body: 'message' },
  },
  'report-many': {
    method: 'post',
    path: '/api/v1/reports/bulk',
    chapter: 'Reports',
    summary: 'Report many messages',
    description:
      'Send one JSON object per line, at most 1,000 objects and 500 MB. Lines are processed ' +
      'while they arrive, and each has its own result: some may be refused and others ' +
      'accepted. After a failure, send the whole request again: no message is reported twice.',
    need: 'report',
    parameters: { header: forOthers },
    body: { 'application/x-ndjson': 'lines' },
    answers: {
      ...json('BulkResults', 'At least one message is new.', { status: 202, headers: limits }),
      ...json('BulkResults', 'All accepted messages had been reported before.', {
        headers: limits,
      }),
    },
    problems: [...messageProblems, 'key-used'],
    example: {
      body: [
        { ref: 'first', message_base64: '{message}', kind: 'phishing' },
        { ref: 'second', message_base64: 'bm8gbWVzc2FnZQ==' },
      ],
    },
  },
  'list-reports': {
    method: 'get',
    path: '/api/v1/reports',
    chapter: 'Reports',
    summary: 'List your own reports',
    description:
      'Newest first. Use the link "next" for the next page. With "after", the order is oldest ' +
      'first, so that the last known id leads to all newer reports.',
    need: 'read',
    parameters: { query: reportPageSchema },
    answers: json('ReportList', 'A page of the list.', { headers: ['Link', ...limits] }),
    example: { query: '?limit=10&kind=spam' },
  },
  'read-report': {
    method: 'get',
    path: '/api/v1/reports/{id}',
    chapter: 'Reports',
    summary: 'Get the state and the results of a report',
    need: 'read',
    parameters: { path: idPath },
    answers: json('Report', 'The report.'),
  },
  'read-message': {
    method: 'get',
    path: '/api/v1/reports/{id}/raw',
    chapter: 'Reports',
    summary: 'Get the reported message, byte for byte',
    need: 'read',
    parameters: { path: idPath },
    answers: {
      200: {
        description: 'The message.',
        content: { 'message/rfc822': 'bytes' },
        headers: ['Content-Disposition'],
      },
    },
  },
  'retract-report': {
    method: 'delete',
    path: '/api/v1/reports/{id}',
    chapter: 'Reports',
    summary: 'Retract a report',
    description:
      'Its counts are reversed, and the notified abuse desks are notified of the retraction. Its ' +
      'reporter can restore the report for an hour; the abuse desks are notified after that.',
    need: 'retract',
    parameters: { path: idPath },
    answers: json('Report', 'The report is retracted.'),
  },
  'restore-report': {
    method: 'post',
    path: '/api/v1/reports/{id}/restoration',
    chapter: 'Reports',
    summary: 'Undo a retraction',
    description:
      'For a report that its reporter retracted less than an hour ago: the report, its counts ' +
      'and feedback that was not sent are as before. Otherwise nothing changes, and the status ' +
      'of the report is still "retracted"; to restore the report, report the message again.',
    need: 'retract',
    parameters: { path: idPath },
    answers: json('Report', 'The report.'),
  },
  'confirm-report': {
    method: 'post',
    path: '/api/v1/reports/{id}/confirmation',
    chapter: 'Reports',
    summary: 'Confirm a complaint',
    description:
      'For a report whose message looks wanted ("confirmation_asked"): states that the reporter ' +
      'does not want it. The report is analyzed again and forwarded. Otherwise nothing changes.',
    need: 'report',
    parameters: { path: idPath },
    answers: json('Report', 'The report.'),
  },
  'report-by-plug-in': {
    method: 'post',
    path: '/api/signaler',
    chapter: 'Reports',
    summary: 'Report a message with a Signal Spam plug-in',
    description: 'The form field "message" contains the message in base64.',
    need: 'plug-in',
    body: { 'application/x-www-form-urlencoded': 'form', 'multipart/form-data': 'form' },
    answers: json('Receipt', 'Accepted, now or earlier.', { status: 202 }),
    problems: messageProblems.filter((name) => name !== 'wrong-type'),
    example: { body: 'signaler' },
  },
  'try-plug-in': {
    method: 'options',
    path: '/api/signaler',
    chapter: 'Reports',
    summary: 'Check the credentials of a plug-in',
    need: 'plug-in',
    answers: { 200: { description: 'The credentials are valid.', headers: ['Allow'] } },
  },
} as const satisfies Operations
