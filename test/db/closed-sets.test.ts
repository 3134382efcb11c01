import { expect, test } from 'vitest'
import type { LinkKind } from '../../src/db/accounts.ts'
import type { ActivityMark } from '../../src/db/activity.ts'
import type { UnsubscribeState } from '../../src/db/advices.ts'
import type { Backend } from '../../src/db/backend.ts'
import type { CampaignDecision } from '../../src/db/campaign-decisions.ts'
import type { ConsumerState } from '../../src/db/consumers.ts'
import type { EnrollmentState } from '../../src/db/enrollment-requests.ts'
import type { Erasure } from '../../src/db/erasures.ts'
import type { AnswerWay } from '../../src/db/feedback-answers.ts'
import type { FeedbackKind, FeedbackState } from '../../src/db/feedback-reports.ts'
import type { InboundPurpose, InboxMail, MatchedBy } from '../../src/db/inbox.ts'
import type { Letter, LetterState } from '../../src/db/letters.ts'
import type { Attempt, KeyKind, RateLimit } from '../../src/db/limits.ts'
import type { DelistingState } from '../../src/db/listings.ts'
import type { MailKind, MailTotal } from '../../src/db/mail-relay.ts'
import type { MailSourceKind } from '../../src/db/mail-sources.ts'
import type { MarketerProposal } from '../../src/db/marketers.ts'
import type { MassAction, MassOutcome } from '../../src/db/mass-actions.ts'
import type { ListedModel } from '../../src/db/models.ts'
import type { ContactOverride, StopperRole } from '../../src/mail/page-notice.ts'
import type { PageNoticeState } from '../../src/db/page-notices.ts'
import type { SubmissionState } from '../../src/db/page-submissions.ts'
import type { Page, PageReport } from '../../src/db/pages.ts'
import type { ReporterNews } from '../../src/db/reporter-news.ts'
import type { RelayHow } from '../../src/db/reporter-relays.ts'
import type { ReporterState } from '../../src/db/reporters.ts'
import type { Channel, Report, ReportKind, ReportState } from '../../src/db/reports.ts'
import type { Packed } from '../../src/db/rows.ts'
import type { SenderAlert } from '../../src/db/sender-alerts.ts'
import type { TokenScope } from '../../src/db/sessions.ts'
import type { SimulationVendor } from '../../src/db/simulations.ts'
import type { Suppression } from '../../src/db/suppressions.ts'
import type { Delivery, Webhook } from '../../src/db/webhooks.ts'
import type { AnswerKind } from '../../src/mail/verp.ts'
import type { MarkingVendor } from '../../src/pieces/simulation-marks.ts'
import type { Role } from '../../src/roles.ts'
import type { Language } from '../../src/texts/messages.ts'
import type {
  ConsumerSource,
  FeedbackTopic,
  Health,
  RecipientRole,
  ScopeMatch,
} from '../../src/verdict/choose-contact.ts'
import type { FeedbackSettings } from '../../src/verdict/consumers.ts'
import type { ListCategory, ListName } from '../../src/verdict/lists/list.ts'
import type { Marketer } from '../../src/verdict/marketers/marketer.ts'
import type { ModelFormat } from '../../src/verdict/model/model.ts'
import type { Mark } from '../../src/verdict/reputation/reputation.ts'
import type { RuleListKind } from '../../src/verdict/rules/rule-lists.ts'
import type { CorrectedClass } from '../../src/verdict/verdict.ts'
import { closeAfterTests } from '../support/after-tests.ts'
import { freshDatabase } from '../support/database.ts'

/**
 * The members of a union type, sorted. The compiler refuses an unknown one, and a list in which one
 * is missing.
 */
function all<Union extends string>() {
  return <Given extends Union>(...members: Given[]) =>
    members.toSorted() as unknown as [Union] extends [Given]
      ? string[]
      : { missing: Exclude<Union, Given> }
}

const answers = all<AnswerKind>()('resolved', 'not-ours', 'wrong', 'stop', 'original')
const encodings = all<Packed['encoding']>()('identity', 'zstd')
const languages = all<Language>()('en', 'fr', 'ru')
const roles = all<Role>()('viewer', 'analyst', 'operator', 'administrator')

/** By the name of the constraint: the values that the program knows. */
const known: Record<string, string[]> = {
  account_links_kind_known: all<LinkKind>()('confirm', 'reset', 'move', 'notice'),
  account_links_language_known: languages,
  activity_marks_kind_known: all<ActivityMark['kind']>()('version', 'outage'),
  analyses_encoding_known: encodings,
  campaign_decisions_says_known: all<CampaignDecision['says']>()(
    'spam',
    'phishing',
    'malware',
    'marketing',
    'legitimate',
    'resolved',
  ),
  consents_language_known: languages,
  contact_overrides_role_known: all<ContactOverride['role']>()('platform', 'cdn', 'registrar'),
  consumer_scopes_kind_known: all<ScopeMatch['kind']>()('range', 'as', 'domain'),
  consumers_form_known: all<FeedbackSettings['form']>()('whole', 'headers'),
  consumers_format_known: all<FeedbackSettings['format']>()('arf', 'xarf'),
  consumers_health_known: all<Health>()('healthy', 'failing', 'dead'),
  consumers_pace_known: all<FeedbackSettings['pace']>()('at-once', 'campaign', 'digest'),
  consumers_source_known: all<ConsumerSource>()(
    'network',
    'cfbl',
    'marketer',
    'enrollment',
    'operator',
  ),
  consumers_state_known: all<ConsumerState>()('found', 'enrolled', 'paused', 'stopped'),
  consumers_takes_known: all<FeedbackTopic>()('spam', 'phishing', 'malware'),
  delisting_requests_state_known: all<DelistingState>()('open', 'automatic', 'accepted', 'refused'),
  enrollment_requests_state_known: all<EnrollmentState>()('sent', 'proven', 'accepted', 'refused'),
  erasures_how_known: all<Erasure['how']>()('keep', 'remove'),
  erasures_state_known: all<Erasure['state']>()('under-way', 'waiting', 'done'),
  feedback_answers_answer_known: answers,
  feedback_answers_how_known: all<AnswerWay>()('link', 'one-click', 'mail', 'operator'),
  feedback_messages_encoding_known: encodings,
  feedback_reports_kind_known: all<FeedbackKind>()('complaint', 'redeemed', 'original'),
  // `shadowed` is stored, and read as what others would see.
  feedback_reports_state_known: all<FeedbackState | 'shadowed'>()(
    'waiting',
    'queued',
    'held',
    'sent',
    'bounced',
    'refused',
    'withdrawn',
    'merged',
    'shadowed',
  ),
  feedback_reports_told_as_known: all<RecipientRole>()(
    'network',
    'cfbl',
    'marketer',
    'domain',
    'page',
  ),
  inbound_mails_answer_known: answers,
  inbound_mails_encoding_known: encodings,
  inbound_mails_matched_by_known: all<MatchedBy>()(
    'recipient',
    'envelope-id',
    'message-id',
    'return-path',
    'reference',
  ),
  inbound_mails_purpose_known: all<InboundPurpose>()(
    'feedback-bounce',
    'feedback-answer',
    'letter-bounce',
    'letter-answer',
    'mail-in',
    'other',
    'trap',
    'feedback-loop',
  ),
  inbound_mails_state_known: all<InboxMail['state']>()('received', 'handled', 'failed'),
  installation_backend_known: all<Backend>()('postgres', 'citus'),
  letters_encoding_known: encodings,
  letters_kind_known: all<Letter['kind']>()(
    'advice',
    'answer',
    'enrollment',
    'mail-in',
    'account',
    'news',
    'probe',
    'summary',
  ),
  letters_state_known: all<LetterState>()(
    'queued',
    'held',
    'sent',
    'bounced',
    'refused',
    'suppressed',
  ),
  listings_category_known: all<ListCategory>()('spam', 'phishing', 'malware'),
  listings_list_known: all<ListName>()('addresses', 'domains', 'hosts'),
  mail_sources_kind_known: all<MailSourceKind>()('trap', 'feedback-loop'),
  mail_totals_kind_known: all<MailKind>()('feedback', 'letter'),
  mail_totals_outcome_known: all<MailTotal['outcome']>()('sent', 'refused', 'bounced'),
  marketer_proposals_state_known: all<MarketerProposal['state']>()('open', 'dismissed', 'taken'),
  marketers_kind_known: all<Marketer['kind']>()('marketer', 'service'),
  marketers_state_known: all<Marketer['state']>()('declared', 'confirmed', 'suspended'),
  mass_action_items_outcome_known: all<MassOutcome>()(
    'changed',
    'unchanged',
    'undone',
    'notified',
    'overtaken',
    'gone',
  ),
  mass_actions_state_known: all<MassAction['state']>()(
    'running',
    'stopped',
    'done',
    'undoing',
    'undone',
  ),
  models_format_known: all<ModelFormat>()('linear', 'catboost'),
  models_state_known: all<ListedModel['state']>()('candidate', 'active', 'retired'),
  rate_limits_attempt_known: all<Attempt>()(
    'report',
    'read',
    'sign-in',
    'sign-in-device',
    'password',
    'sign-up',
    'reset',
    'confirm',
    'enroll',
    'lookup',
    'webhook',
    'mail-in',
    'form',
    'mailbox-user',
    'provider',
    'letter-owner',
    'letter-stranger',
  ),
  rate_limits_behavior_known: all<RateLimit['behavior']>()('refuse', 'shadow', 'off'),
  rate_limits_key_kind_known: all<KeyKind>()(
    'reporter',
    'token',
    'device',
    'address',
    'network',
    'wide-network',
    'name',
    'name-and-address',
    'name-and-network',
    'all',
  ),
  page_notices_role_known: all<StopperRole>()(
    ...(['platform', 'redirector', 'host', 'cdn', 'registrar', 'partner'] as const),
  ),
  page_notices_state_known: all<PageNoticeState>()(
    ...(['spare', 'barred', 'shown', 'muted', 'queued'] as const),
  ),
  page_submissions_state_known: all<SubmissionState>()(
    ...(['waiting', 'accepted', 'duplicate', 'refused', 'given-up', 'dropped'] as const),
  ),
  page_reports_decision_known: all<NonNullable<PageReport['decision']>>()(
    'phishing',
    'malware',
    'other',
  ),
  pages_confirmed_by_known: all<NonNullable<Page['confirmedBy']>>()('person', 'reporters'),
  pages_decision_known: all<NonNullable<Page['decision']>>()('phishing', 'malware', 'cleared'),
  pages_scope_known: all<Page['scope']>()('host', 'path'),
  pages_state_known: all<Page['state']>()('seen', 'confirmed', 'cleared'),
  pages_type_known: all<Page['type']>()('phishing', 'malware'),
  raw_messages_encoding_known: encodings,
  reporter_news_kind_known: all<ReporterNews['kind']>()(
    'question',
    'resolved',
    'not-ours',
    'wrong',
    'stop',
    'original',
    'simulation',
  ),
  reporter_relays_how_known: all<RelayHow>()('set', 'learned', 'proposed', 'refused'),
  reporters_language_known: languages,
  reporters_role_known: roles,
  reporters_state_known: all<ReporterState>()('active', 'disabled', 'erasing'),
  reports_channel_known: all<Channel>()(
    'api',
    'signaler',
    'form',
    'mail',
    'import',
    'learn',
    'trap',
    'feedback-loop',
  ),
  reports_corrected_as_known: all<CorrectedClass>()(
    'spam',
    'phishing',
    'malware',
    'marketing',
    'legitimate',
  ),
  reports_kind_known: all<ReportKind>()('spam', 'phishing', 'not-spam'),
  reports_rebuilt_from_known: all<NonNullable<Report['rebuiltFrom']>>()('msg'),
  reports_shadow_known: all<NonNullable<Report['shadow']>>()('held', 'dropped', 'released'),
  reports_state_known: all<ReportState>()(
    'received',
    'analyzed',
    'forwarded',
    'kept',
    'retracted',
    'failed',
  ),
  reputation_marks_mark_known: all<Mark>()('listed', 'welcome', 'exempt'),
  rule_lists_kind_known: all<RuleListKind>()('words', 'hosts', 'addresses', 'hashes'),
  sender_alerts_cause_known: all<SenderAlert['cause']>()('unwanted', 'complaints', 'bounces'),
  simulation_marks_vendor_known: all<MarkingVendor>()(
    'cofense',
    'gophish',
    'knowbe4',
    'proofpoint',
  ),
  simulations_vendor_known: all<SimulationVendor>()(
    'cofense',
    'gophish',
    'knowbe4',
    'microsoft',
    'proofpoint',
    'other',
  ),
  suppressions_reason_known: all<Suppression['reason']>()(
    'hard-bounce',
    'soft-bounces',
    'complaint',
    'stop',
    'operator',
  ),
  table_placements_placement_known: ['distributed', 'local', 'reference'],
  tokens_role_known: roles,
  tokens_scopes_known: all<TokenScope>()('report', 'read', 'retract', 'account', 'on-behalf'),
  unsubscribe_requests_state_known: all<UnsubscribeState>()(
    'queued',
    'under-way',
    'done',
    'doubtful',
    'refused',
    'failed',
    'unknown',
  ),
  webhook_deliveries_state_known: all<Delivery['state']>()(
    'waiting',
    'delivered',
    'given-up',
    'dropped',
  ),
  webhooks_state_known: all<Webhook['state']>()('enabled', 'disabled', 'failed'),
}

const database = await closeAfterTests(freshDatabase())

test('the database accepts exactly the values that the program knows', async () => {
  const { rows } = await database.pool.query<{ name: string; definition: string }>(
    `select conname as name, pg_get_constraintdef(oid) as definition from pg_constraint
     where contype = 'c' and conname like '%\\_known' and conparentid = 0
       and pg_get_constraintdef(oid) like '%::text%'
       and connamespace = 'public'::regnamespace`,
  )
  const accepted = rows.map(({ name, definition }) => [
    name,
    [...definition.matchAll(/'([a-z0-9-]+)'::text/g)].map(([, value]) => value).toSorted(),
  ])
  expect(Object.fromEntries(accepted)).toEqual(known)
})
