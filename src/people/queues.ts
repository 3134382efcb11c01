import { z } from 'zod'
import { defineQueue } from '../queue/define-queue.ts'

/** Seals the audit log every hour. */
export const sealAudit = defineQueue({
  name: 'seal-audit',
  attempts: { retryLimit: 3, retryDelay: 60, retryDelayMax: 600, expireInSeconds: 300 },
  cron: '13 * * * *',
})

/** Delivers one event to one webhook. Postponed while its receiver fails. */
export const deliverWebhook = defineQueue({
  name: 'deliver-webhook',
  payload: z.object({ webhookId: z.uuid(), deliveryId: z.uuid() }),
  attempts: { retryLimit: 10, retryDelay: 10, retryDelayMax: 3_600, expireInSeconds: 120 },
  ...{ batchSize: 50, concurrency: 2 },
})
