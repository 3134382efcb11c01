import { z } from 'zod'
import { json, type Operations } from './operation.ts'
import { forOthers } from './report-operations.ts'

const idPath = z.object({ id: z.uuid() })
const cidr = z.string('Name the relay in the query, for example ?cidr=192.0.2.7')
const anEvent = { events: ['report.analyzed', 'report.told'] }

const ofWebhooks = { chapter: 'Webhooks', need: 'account', limit: 'webhook' } as const

export const accountOperations = {
  'read-account': {
    method: 'get',
    path: '/api/v1/account',
    chapter: 'Account',
    summary: 'Get your account and the rights of these credentials',
    need: 'any',
    answers: json('Account', 'You.'),
  },
  'list-relays': {
    method: 'get',
    path: '/api/v1/relays',
    chapter: 'Account',
    summary: 'List your mail servers',
    need: 'read',
    answers: json('Relays', 'All.'),
  },
  'set-relay': {
    method: 'put',
    path: '/api/v1/relays',
    chapter: 'Account',
    summary: 'Set or refuse a mail server',
    description:
      'This also answers the question of a report. Reports with that question are analyzed again.',
    need: 'account',
    body: { 'application/json': 'RelayStatement' },
    answers: json('Relays', 'All.'),
    example: { body: { cidr: '192.0.2.0/24' } },
  },
  'forget-relay': {
    method: 'delete',
    path: '/api/v1/relays',
    chapter: 'Account',
    summary: 'Remove a mail server',
    need: 'account',
    parameters: { query: z.object({ cidr }) },
    answers: json('Relays', 'All.'),
    problems: ['not-found'],
    example: { query: '?cidr=192.0.2.0/24' },
  },
  'ask-for-test-message': {
    method: 'post',
    path: '/api/v1/test-messages',
    chapter: 'Account',
    summary: 'Let a test message show your mail servers',
    description:
      'Sends a message to the address of the account. When it arrives, report it as spam, ' +
      'complete and unchanged: it shows which mail servers are yours, and is not counted. ' +
      'Repeating the request sends no other message while one is under way or has come back. ' +
      'A provider asks for one of its mailbox users with On-Behalf-Of, and gives the address.',
    need: 'report',
    parameters: { header: forOthers },
    body: { 'application/json': 'TestMessageRequest' },
    isBodyOptional: true,
    answers: {
      ...json('TestMessage', 'No message was sent.'),
      ...json('TestMessage', 'The message will be sent.', { status: 202 }),
    },
  },
  'list-webhooks': {
    ...ofWebhooks,
    method: 'get',
    path: '/api/v1/webhooks',
    summary: 'List your webhooks',
    answers: json('Webhooks', 'All.'),
  },
  'add-webhook': {
    ...ofWebhooks,
    method: 'post',
    path: '/api/v1/webhooks',
    summary: 'Add a webhook',
    description:
      'Signalpost sends a POST request to the URL when the state of one of your reports ' +
      'changes. It is signed as in Standard Webhooks. Without a 2xx answer within ten seconds ' +
      'it is repeated for a day, with pauses that double from half a minute to four hours. ' +
      'The same event always has the same webhook-id. An account can have five webhooks.',
    body: { 'application/json': 'NewWebhook' },
    answers: json('WebhookWithSecret', 'Webhook added. The secret is shown only here.', {
      status: 201,
      headers: ['Location'],
    }),
    example: { body: { url: 'https://hooks.example.org/signalpost', ...anEvent } },
  },
  'read-webhook': {
    ...ofWebhooks,
    method: 'get',
    path: '/api/v1/webhooks/{id}',
    summary: 'Get a webhook',
    parameters: { path: idPath },
    answers: json('Webhook', 'It.'),
  },
  'change-webhook': {
    ...ofWebhooks,
    method: 'patch',
    path: '/api/v1/webhooks/{id}',
    summary: 'Change, disable or enable a webhook',
    parameters: { path: idPath },
    body: { 'application/json': 'WebhookChange' },
    answers: json('Webhook', 'Changed.'),
    example: { body: { events: ['report.answered'] } },
  },
  'renew-webhook-secret': {
    ...ofWebhooks,
    method: 'post',
    path: '/api/v1/webhooks/{id}/secret',
    summary: 'Create a new secret',
    description: 'For a day, messages are signed with both the new and the previous secret.',
    parameters: { path: idPath },
    answers: json('WebhookWithSecret', 'The new secret. It is shown only here.'),
  },
  'try-webhook': {
    ...ofWebhooks,
    method: 'post',
    path: '/api/v1/webhooks/{id}/test',
    summary: 'Send a test message to a webhook',
    parameters: { path: idPath },
    answers: json('WebhookTest', 'The message will be sent.', { status: 202 }),
    problems: ['bad-field'],
  },
  'list-deliveries': {
    ...ofWebhooks,
    method: 'get',
    path: '/api/v1/webhooks/{id}/deliveries',
    summary: 'List the deliveries of a webhook',
    parameters: { path: idPath },
    answers: json('Deliveries', 'The latest deliveries.'),
  },
  'remove-webhook': {
    ...ofWebhooks,
    method: 'delete',
    path: '/api/v1/webhooks/{id}',
    summary: 'Remove a webhook',
    parameters: { path: idPath },
    answers: { 204: { description: 'Webhook removed.' } },
  },
} as const satisfies Operations
