import * as account from './schemas/account-schemas.ts'
import * as knowledge from './schemas/knowledge-schemas.ts'
import * as problem from './schemas/problem-schema.ts'
import * as report from './schemas/report-schema.ts'
import * as submission from './schemas/submission-schemas.ts'

/**
 * Everything that is sent as JSON, by its name in the document. What comes in is checked by these
 * very schemas, and tests hold what goes out against them.
 */
export const schemas = {
  Problem: problem.problemSchema,
  Refused: problem.refusedSchema,
  Report: report.reportSchema,
  ReportLine: report.reportLineSchema,
  ReportList: report.reportListSchema,
  Submission: submission.submissionSchema,
  BulkItem: submission.bulkItemSchema,
  Receipt: submission.receiptSchema,
  Results: submission.resultsSchema,
  BulkResults: submission.bulkResultsSchema,
  Account: account.accountSchema,
  NewWebhook: account.newWebhookSchema,
  WebhookChange: account.webhookChangeSchema,
  Webhook: account.webhookSchema,
  WebhookWithSecret: account.webhookSecretSchema,
  Webhooks: account.webhooksSchema,
  Deliveries: account.deliveriesSchema,
  WebhookTest: account.webhookTestSchema,
  WebhookMessage: account.webhookMessageSchema,
  RelayStatement: knowledge.relayStatementSchema,
  Relays: knowledge.relaysSchema,
  Reputation: knowledge.reputationSchema,
  Counters: knowledge.countersSchema,
  CheckAnswer: knowledge.checkAnswerSchema,
  CheckError: knowledge.checkErrorSchema,
  Learned: knowledge.learnedSchema,
  CheckStatistics: knowledge.checkStatisticsSchema,
} as const

/** The name of one. */
export type SchemaName = keyof typeof schemas

/** Those that come in: what may be left out differs. */
export const incoming: readonly SchemaName[] = [
  'Submission',
  'BulkItem',
  'NewWebhook',
  'WebhookChange',
  'RelayStatement',
]
