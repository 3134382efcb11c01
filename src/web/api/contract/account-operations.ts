import { z } from 'zod'
import type { Operation } from './operation.ts'

const idPath = z.object({ id: z.uuid() })
const anEvent = { events: ['report.analyzed', 'report.told'] }

/** The operations on the account, its relays and its webhooks. */
export const accountOperations: readonly Operation[] = [
  {
    id: 'read-account',
    method: 'get',
    path: '/api/v1/account',
    chapter: 'Account',
    summary: 'Get your account and the rights of these credentials',
    need: 'any',
    answers: { 200: { description: 'You.', content: { 'application/json': 'Account' } } },
    problems: ['too-often'],
    example: {},
  },
  {
    id: 'list-relays',
    method: 'get',
    path: '/api/v1/relays',
    chapter: 'Account',
    summary: 'List your mail servers',
    need: 'read',
    answers: { 200: { description: 'All.', content: { 'application/json': 'Relays' } } },
    problems: ['too-often'],
    example: {},
  },
  {
    id: 'set-relay',
    method: 'put',
    path: '/api/v1/relays',
    chapter: 'Account',
    summary: 'Set or refuse a mail server',
    description:
      'This also answers the question of a report. Reports with that question are analyzed again.',
    need: 'account',
    body: { 'application/json': 'RelayStatement' },
    answers: { 200: { description: 'All.', content: { 'application/json': 'Relays' } } },
    problems: ['bad-request', 'bad-field', 'too-big', 'wrong-type', 'too-often'],
    example: { body: { cidr: '192.0.2.0/24' } },
  },
  {
    id: 'forget-relay',
    method: 'delete',
    path: '/api/v1/relays',
    chapter: 'Account',
    summary: 'Remove a mail server',
    need: 'account',
    parameters: { query: z.object({ cidr: z.string() }) },
    answers: { 200: { description: 'All.', content: { 'application/json': 'Relays' } } },
    problems: ['bad-field', 'not-found', 'too-often'],
    example: { query: '?cidr=192.0.2.0/24' },
  },
  {
    id: 'ask-for-test-message',
    method: 'post',
    path: '/api/v1/test-messages',
    chapter: 'Account',
    summary: 'Let a test message show your mail servers',
    description:
      'Sends a message to the address of the account. When it arrives, report it as spam, ' +
      'complete and unchanged: it shows which mail servers are yours, and is not counted. ' +
      'Repeating the request sends no other message while one is under way or has come back.',
    need: 'report',
    answers: {
      200: {
        description: 'No message was sent.',
        content: { 'application/json': 'TestMessage' },
      },
      202: {
        description: 'The message will be sent.',
        content: { 'application/json': 'TestMessage' },
      },
    },
    problems: ['too-often'],
    example: {},
  },
  {
    id: 'list-webhooks',
    method: 'get',
    path: '/api/v1/webhooks',
    chapter: 'Webhooks',
    summary: 'List your webhooks',
    need: 'account',
    answers: { 200: { description: 'All.', content: { 'application/json': 'Webhooks' } } },
    problems: ['too-often'],
    example: {},
  },
  {
    id: 'add-webhook',
    method: 'post',
    path: '/api/v1/webhooks',
    chapter: 'Webhooks',
    summary: 'Add a webhook',
    description:
      'Signalpost sends a POST request to the URL when the state of one of your reports ' +
      'changes. It is signed as in Standard Webhooks. Without a 2xx answer within ten seconds ' +
      'it is repeated for a day, with pauses that double from half a minute to four hours. ' +
      'The same event always has the same webhook-id. An account can have five webhooks.',
    need: 'account',
    body: { 'application/json': 'NewWebhook' },
    answers: {
      201: {
        description: 'Webhook added. The secret is shown only here.',
        content: { 'application/json': 'WebhookWithSecret' },
        headers: ['Location'],
      },
    },
    problems: ['bad-request', 'bad-field', 'too-big', 'wrong-type', 'too-often'],
    example: { body: { url: 'https://hooks.example.org/signalpost', ...anEvent } },
  },
  {
    id: 'read-webhook',
    method: 'get',
    path: '/api/v1/webhooks/{id}',
    chapter: 'Webhooks',
    summary: 'Get a webhook',
    need: 'account',
    parameters: { path: idPath },
    answers: { 200: { description: 'It.', content: { 'application/json': 'Webhook' } } },
    problems: ['not-found', 'too-often'],
    example: {},
  },
  {
    id: 'change-webhook',
    method: 'patch',
    path: '/api/v1/webhooks/{id}',
    chapter: 'Webhooks',
    summary: 'Change, disable or enable a webhook',
    need: 'account',
    parameters: { path: idPath },
    body: { 'application/json': 'WebhookChange' },
    answers: { 200: { description: 'Changed.', content: { 'application/json': 'Webhook' } } },
    problems: ['bad-request', 'bad-field', 'not-found', 'too-big', 'wrong-type', 'too-often'],
    example: { body: { events: ['report.answered'] } },
  },
  {
    id: 'renew-webhook-secret',
    method: 'post',
    path: '/api/v1/webhooks/{id}/secret',
    chapter: 'Webhooks',
    summary: 'Create a new secret',
    description: 'For a day, messages are signed with both the new and the previous secret.',
    need: 'account',
    parameters: { path: idPath },
    answers: {
      200: {
        description: 'The new secret. It is shown only here.',
        content: { 'application/json': 'WebhookWithSecret' },
      },
    },
    problems: ['not-found', 'too-often'],
    example: {},
  },
  {
    id: 'try-webhook',
    method: 'post',
    path: '/api/v1/webhooks/{id}/test',
    chapter: 'Webhooks',
    summary: 'Send a test message to a webhook',
    need: 'account',
    parameters: { path: idPath },
    answers: {
      202: {
        description: 'The message will be sent.',
        content: { 'application/json': 'WebhookTest' },
      },
    },
    problems: ['not-found', 'bad-field', 'too-often'],
    example: {},
  },
  {
    id: 'list-deliveries',
    method: 'get',
    path: '/api/v1/webhooks/{id}/deliveries',
    chapter: 'Webhooks',
    summary: 'List the deliveries of a webhook',
    need: 'account',
    parameters: { path: idPath },
    answers: {
      200: { description: 'The latest deliveries.', content: { 'application/json': 'Deliveries' } },
    },
    problems: ['not-found', 'too-often'],
    example: {},
  },
  {
    id: 'remove-webhook',
    method: 'delete',
    path: '/api/v1/webhooks/{id}',
    chapter: 'Webhooks',
    summary: 'Remove a webhook',
    need: 'account',
    parameters: { path: idPath },
    answers: { 204: { description: 'Webhook removed.' } },
    problems: ['not-found', 'too-often'],
    example: {},
  },
]
