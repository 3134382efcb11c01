import { z } from 'zod'
import { scopes } from '../../../db/sessions.ts'
import { WEBHOOK_URL_CHARS_MAX } from '../../../mail/webhook-message.ts'
import { webhookEvents } from '../../../people/webhooks.ts'
import { roles } from '../../../roles.ts'
import { instant, list } from './report-schemas.ts'

export const accountSchema = z
  .object({
    id: z.uuid(),
    email: z.string(),
    role: z.enum(roles).nullable().describe('The role of these credentials; null: a reporter.'),
    proved_by: z.enum(['token', 'password']),
    scopes: list(z.enum(scopes)).describe('The scopes of these credentials.'),
    limits: z.object({
      message_bytes: z.int(),
      files_in_a_form: z.int(),
      messages_in_a_request: z.int().describe('Includes messages inside files.'),
      reports_in_bulk: z.int(),
      webhooks: z.int(),
      relays: z.int(),
    }),
  })
  .describe('The account of the caller.')

const webhookEvent = z.enum(webhookEvents)

const url = z
  .string()
  .max(WEBHOOK_URL_CHARS_MAX)
  .describe('An https URL of a public host, on port 443.')
const events = z
  .array(webhookEvent)
  .min(1)
  .transform((some) => [...new Set(some)])
  .describe('The events that are sent.')

export const newWebhookSchema = z.object({ url, events })

export const webhookChangeSchema = z.object({
  url: url.optional(),
  events: events.optional(),
  state: z
    .enum(['enabled', 'disabled'])
    .optional()
    .describe(
      'enabled: events are sent. Enabling also resets earlier failures. disabled: no events ' +
        'are sent.',
    ),
})

export const webhookSchema = z
  .object({
    id: z.uuid(),
    url: z.url(),
    events: list(webhookEvent),
    state: z
      .enum(['enabled', 'disabled', 'failed'])
      .describe('failed: no events are sent, after five days of failures or status 410.'),
    created_at: instant,
    failing_since: instant.nullable(),
    paused_until: instant.nullable().describe('No deliveries before this time.'),
  })
  .describe('A URL of the reporter’s software that is called when the state of a report changes.')

/** A webhook with its secret, which is returned only once. */
export const webhookSecretSchema = webhookSchema.extend({
  secret: z
    .string()
    .regex(/^whsec_/)
    .describe('The secret that signs messages (Standard Webhooks). Shown once.'),
})

export const webhooksSchema = z.object({ webhooks: list(webhookSchema) })

/** The messages sent to a webhook, and their delivery results. */
export const deliveriesSchema = z.object({
  deliveries: list(
    z.object({
      id: z.string().describe('The header webhook-id.'),
      type: z.string(),
      report_id: z.uuid().nullable(),
      state: z.enum(['waiting', 'delivered', 'given-up', 'dropped']),
      at: instant.describe('When it happened.'),
      tries: z.int(),
      tried_at: instant.nullable(),
      status: z.int().nullable().describe('The last HTTP status; null without an answer.'),
      outcome: z.string().nullable().describe('What happened, in English.'),
    }),
  ).describe('The latest twenty, newest first; at most a week old.'),
})

export const webhookTestSchema = z.object({ id: z.string().describe('The header webhook-id.') })

export const webhookMessageSchema = z
  .object({
    type: webhookEvent.or(z.literal('webhook.test')),
    timestamp: instant.describe('When it happened.'),
    data: z.union([
      z.object({
        report_id: z.uuid(),
        url: z.url(),
        status: z.string().describe('The state of the report at the time of sending.'),
      }),
      z.object({ webhook_id: z.uuid() }),
      z
        .object({
          alert_id: z.uuid(),
          url: z.url(),
          system: z.string(),
          user: z.string(),
          cause: z.enum(['unwanted', 'complaints', 'bounces']),
          today: z.record(z.string(), z.number()).describe('What was counted today.'),
          last_hour: z.object({ sent: z.int(), unwanted: z.int() }),
          messages: list(
            z.object({
              at: instant,
              queue_id: z.string().nullable(),
              recipients: z.int(),
              class: z.string(),
              score: z.number(),
              symbols: list(z.string()),
            }),
          ).describe('The last unwanted messages, without their content.'),
        })
        .describe('sender.alerted, for administrators: a user seems to send spam.'),
    ]),
  })
  .describe('The body of a webhook request. It contains nothing from the reported message.')
