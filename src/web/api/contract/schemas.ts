import * as account from './account-schemas.ts'
import * as desk from './desk-schemas.ts'
import * as knowledge from './knowledge-schemas.ts'
import * as report from './report-schemas.ts'
import * as search from './search-schemas.ts'

/**
 * All JSON schemas, by their names in the document. Requests are validated with these schemas, and
 * tests validate responses with them.
 */
export const schemas = {
  Problem: report.problemSchema,
  Refused: report.refusedSchema,
  Report: report.reportSchema,
  ReportLine: report.reportLineSchema,
  ReportList: report.reportListSchema,
  Submission: report.submissionSchema,
  BulkItem: report.bulkItemSchema,
  Receipt: report.receiptSchema,
  Results: report.resultsSchema,
  Look: report.lookSchema,
  BulkResults: report.bulkResultsSchema,
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
  TestMessageRequest: knowledge.testMessageRequestSchema,
  Relays: knowledge.relaysSchema,
  TestMessage: knowledge.testMessageSchema,
  Reputation: knowledge.reputationSchema,
  Counters: knowledge.countersSchema,
  OutgoingEvents: knowledge.outgoingEventsSchema,
  AcceptedEvents: knowledge.acceptedEventsSchema,
  Health: knowledge.healthSchema,
  Queues: knowledge.queuesSchema,
  QueueControl: knowledge.queueControlSchema,
  QueueChange: knowledge.queueChangeSchema,
  DeskReports: desk.deskReportsSchema,
  DeskComplaints: desk.deskComplaintsSchema,
  DeskAnswer: desk.deskAnswerSchema,
  DeskOutcomes: desk.deskOutcomesSchema,
  FoundReports: search.foundReportsSchema,
  MassChoice: search.massChoiceSchema,
  NewMassAction: search.newMassActionSchema,
  MassPreview: search.massPreviewSchema,
  MassAction: search.massActionSchema,
  MassActions: search.massActionsSchema,
  CheckAnswer: knowledge.checkAnswerSchema,
  CheckError: knowledge.checkErrorSchema,
  Learned: knowledge.learnedSchema,
  CheckStatistics: knowledge.checkStatisticsSchema,
} as const

export type SchemaName = keyof typeof schemas
