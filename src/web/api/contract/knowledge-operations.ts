import { z } from 'zod'
import { counterQuestionSchema, queuePathSchema } from './knowledge-schemas.ts'
import { json, type Operations } from './operation.ts'

const envelope = z.object({
  IP: z.string().optional().describe('The address of the connecting client.'),
  Helo: z.string().optional(),
  Hostname: z.string().optional(),
  From: z.string().optional().describe('The return path.'),
  Rcpt: z.string().optional(),
  User: z.string().optional().describe('The login name of an authenticated client.'),
  'Mail-System': z.string().optional().describe('The mail system of that user.'),
  'Queue-Id': z.string().optional(),
})
const checked = {
  chapter: 'Mail servers',
  need: 'mail-server',
  body: { 'message/rfc822': 'bytes' },
} as const

const learned = {
  ...checked,
  method: 'post',
  answers: {
    ...json('Learned', 'Learned.'),
    ...json('CheckError', 'The message was already learned.', { status: 208 }),
  },
  example: { body: 'message' },
} as const

const list = {
  method: 'get',
  chapter: 'Reputation',
  description:
    'Use If-None-Match. Lists that are not public, and feeds without a delay, need credentials ' +
    'with the role viewer. Without any, a list that is not public redirects to the sign-in page.',
  need: 'nothing',
  answers: {
    200: {
      description: 'The file.',
      content: {
        'text/plain': 'text',
        'application/json': 'text',
        'application/jsonl': 'text',
        'text/csv': 'text',
      },
    },
    303: { description: 'Redirect to the sign-in page.', headers: ['Location'] },
    304: { description: 'Not modified.' },
    403: { description: 'The role is missing.', content: { 'text/html': 'text' } },
    404: { description: 'List not found.', content: { 'text/html': 'text' } },
  },
} as const

/** The operations that return stored knowledge, for programs and for mail servers. */
export const knowledgeOperations = {
  'look-up': {
    method: 'get',
    path: '/api/v1/reputation/{name}',
    chapter: 'Reputation',
    summary: 'Look up the reputation of an address, domain, host or link',
    description:
      'Needs no account; at most sixty requests a minute. For more, query the DNS lists.',
    need: 'nothing',
    limit: 'lookup',
    parameters: { path: z.object({ name: z.string() }) },
    answers: json('Reputation', 'The reputation.'),
    problems: ['bad-request', 'bad-field', 'too-often'],
  },
  'read-counters': {
    method: 'get',
    path: '/api/v1/counters',
    chapter: 'Reputation',
    summary: 'Look up how often something was seen',
    need: 'viewer',
    parameters: { query: counterQuestionSchema },
    answers: json('Counters', 'Counts.'),
    example: { query: '?value=198.51.100.23' },
  },
  'get-list': {
    ...list,
    path: '/lists/{file}',
    summary: 'Download a list or a feed of phishing pages',
    parameters: { path: z.object({ file: z.string() }) },
  },
  'get-list-part': {
    ...list,
    path: '/lists/{folder}/{part}',
    summary: 'Download a file of the MISP feed of phishing pages',
    parameters: { path: z.object({ folder: z.string(), part: z.string() }) },
  },
  check: {
    ...checked,
    method: 'post',
    path: '/checkv2',
    summary: 'Check a message during delivery',
    description:
      'Compatible with the rspamd worker. Send the header Password if a password is set.',
    parameters: { header: envelope },
    answers: json('CheckAnswer', 'A verdict.'),
    example: { headers: { IP: '198.51.100.23', Helo: 'mail.shop.example' }, body: 'message' },
  },
  'add-outgoing-events': {
    method: 'post',
    path: '/api/v1/outgoing-events',
    chapter: 'Outgoing mail',
    summary: 'Add bounces, complaints and reads of mail that your users sent',
    description:
      'At most 500 events. They count within seconds. The same event of a user and a recipient ' +
      'counts once a day, so a request can be repeated; give the time of each event for that.',
    need: 'operator',
    body: { 'application/json': 'OutgoingEvents' },
    bodyBytesMax: 500_000,
    answers: json('AcceptedEvents', 'Accepted.', { status: 202 }),
    example: {
      body: {
        events: [{ event: 'bounce', user: 'ann@home.example', recipient: 'you@there.example' }],
      },
    },
  },
  'learn-spam': { ...learned, path: '/learnspam', summary: 'Learn a message as spam' },
  'learn-ham': { ...learned, path: '/learnham', summary: 'Learn a message as wanted' },
  ping: {
    method: 'get',
    path: '/ping',
    chapter: 'Mail servers',
    summary: 'Check whether the server answers',
    need: 'nothing',
    answers: { 200: { description: 'pong', content: { 'text/plain': 'text' } } },
  },
  'check-statistics': {
    method: 'get',
    path: '/stat',
    chapter: 'Mail servers',
    summary: 'Get statistics of this process',
    need: 'mail-server',
    answers: json('CheckStatistics', 'Counts.'),
  },
  'check-password': {
    method: 'get',
    path: '/auth',
    chapter: 'Mail servers',
    summary: 'Check the password',
    need: 'mail-server',
    answers: json('CheckStatistics', 'The password is correct.'),
  },
  'is-alive': {
    method: 'get',
    path: '/healthz',
    chapter: 'Service',
    summary: 'Check whether the process is alive',
    need: 'nothing',
    answers: { 200: { description: 'The process is alive.', content: { 'text/plain': 'text' } } },
  },
  'is-ready': {
    method: 'get',
    path: '/readyz',
    chapter: 'Service',
    summary: 'Check whether the process is ready',
    need: 'nothing',
    answers: {
      200: { description: 'The process is ready.', content: { 'text/plain': 'text' } },
      503: {
        description: 'The process is not ready. The text says why.',
        content: { 'text/plain': 'text' },
        headers: ['Retry-After'],
      },
    },
  },
  'read-health': {
    method: 'get',
    path: '/api/v1/health',
    chapter: 'Service',
    summary: 'Read all conditions of health',
    description:
      'What should happen and whether it does, with the reason and what to do. The level is that ' +
      'of the worst condition. While the database is away, the answer is the problem unavailable.',
    need: 'viewer',
    answers: json('Health', 'The state.'),
  },
  'list-queues': {
    method: 'get',
    path: '/api/v1/queues',
    chapter: 'Service',
    summary: 'List the queues',
    need: 'viewer',
    answers: json('Queues', 'All queues.'),
  },
  'change-queue': {
    method: 'patch',
    path: '/api/v1/queues/{queue}',
    chapter: 'Service',
    summary: 'Pause or resume a queue, or change its concurrency',
    description:
      'A pause needs a reason. The queue * stands for all queues: to resume it ends every pause. ' +
      'The change takes effect in all processes within five seconds.',
    need: 'operator',
    parameters: { path: queuePathSchema },
    body: { 'application/json': 'QueueChange' },
    answers: json('QueueControl', 'Changed.'),
    example: { body: { concurrency: 2 } },
  },
  'read-metrics': {
    method: 'get',
    path: '/metrics',
    chapter: 'Service',
    summary: 'Metrics for Prometheus',
    need: 'viewer',
    answers: { 200: { description: 'Figures.', content: { 'text/plain': 'text' } } },
  },
  'read-contract': {
    method: 'get',
    path: '/openapi.json',
    chapter: 'Service',
    summary: 'The OpenAPI document',
    need: 'nothing',
    answers: json('text', 'OpenAPI 3.1.'),
  },
} as const satisfies Operations
