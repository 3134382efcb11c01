import { expect, test } from 'vitest'
import type { LinkKind } from '../../src/db/accounts.ts'
import type { ActivityMark } from '../../src/db/activity.ts'
import type { UnsubscribeState } from '../../src/db/advices.ts'
import type { Backend } from '../../src/db/backend.ts'
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
import type { ReporterNews } from '../../src/db/reporter-news.ts'
import type { RelayHow } from '../../src/db/reporter-relays.ts'
import type { ReporterState } from '../../src/db/reporters.ts'
import type { Channel, Report, ReportKind, ReportState } from '../../src/db/reports.ts'
import type { Packed } from '../../src/db/rows.ts'
import type { SenderAlert } from '../../src/db/sender-alerts.ts'
import type { TokenScope } from '../../src/db/sessions.ts'
import type { Suppression } from '../../src/db/suppressions.ts'
import type { Delivery, Webhook } from '../../src/db/webhooks.ts'
import type { AnswerKind } from '../../src/mail/verp.ts'
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
import type { CorrectedClass } from '../../src/verdict/verdict.ts'
import { closeAfterTests } from '../support/after-tests.ts'
import { freshDatabase } from '../support/database.ts'

/** The members of a union type: the compiler refuses a missing and an unknown one. */
function all<Union extends string>(members: Record<Union, 1>): string[] {
  return Object.keys(members).toSorted()
}

const answers = all<AnswerKind>({ resolved: 1, 'not-ours': 1, wrong: 1, stop: 1 })
const encodings = all<Packed['encoding']>({ identity: 1, zstd: 1 })
const languages = all<Language>({ en: 1, fr: 1, ru: 1 })
const roles = all<Role>({ viewer: 1, analyst: 1, operator: 1, administrator: 1 })

/** By the name of the constraint: the values that the program knows. */
const known: Record<string, string[]> = {
  account_links_kind_known: all<LinkKind>({ confirm: 1, reset: 1, move: 1, notice: 1 }),
  account_links_language_known: languages,
  activity_marks_kind_known: all<ActivityMark['kind']>({ version: 1, outage: 1 }),
  analyses_encoding_known: encodings,
  consents_language_known: languages,
  consumer_scopes_kind_known: all<ScopeMatch['kind']>({ range: 1, as: 1, domain: 1 }),
  consumers_form_known: all<FeedbackSettings['form']>({ whole: 1, headers: 1 }),
  consumers_format_known: all<FeedbackSettings['format']>({ arf: 1, xarf: 1 }),
  consumers_health_known: all<Health>({ healthy: 1, failing: 1, dead: 1 }),
  consumers_pace_known: all<FeedbackSettings['pace']>({ 'at-once': 1, campaign: 1, digest: 1 }),
  consumers_source_known: all<ConsumerSource>({
    ...{ network: 1, cfbl: 1, marketer: 1, enrollment: 1, operator: 1 },
  }),
  consumers_state_known: all<ConsumerState>({ found: 1, enrolled: 1, paused: 1, stopped: 1 }),
  consumers_takes_known: all<FeedbackTopic>({ spam: 1, phishing: 1, malware: 1 }),
  delisting_requests_state_known: all<DelistingState>({
    ...{ open: 1, automatic: 1, accepted: 1, refused: 1 },
  }),
  enrollment_requests_state_known: all<EnrollmentState>({
    ...{ sent: 1, proven: 1, accepted: 1, refused: 1 },
  }),
  erasures_how_known: all<Erasure['how']>({ keep: 1, remove: 1 }),
  erasures_state_known: all<Erasure['state']>({ 'under-way': 1, waiting: 1, done: 1 }),
  feedback_answers_answer_known: answers,
  feedback_answers_how_known: all<AnswerWay>({ link: 1, 'one-click': 1, mail: 1, operator: 1 }),
  feedback_messages_encoding_known: encodings,
  feedback_reports_kind_known: all<FeedbackKind>({ complaint: 1, redeemed: 1 }),
  feedback_reports_state_known: all<FeedbackState>({
    ...{ waiting: 1, queued: 1, held: 1, sent: 1, bounced: 1, refused: 1, withdrawn: 1 },
    ...{ merged: 1, shadowed: 1 },
  }),
  feedback_reports_told_as_known: all<RecipientRole>({
    ...{ network: 1, cfbl: 1, marketer: 1, domain: 1 },
  }),
  inbound_mails_answer_known: answers,
  inbound_mails_encoding_known: encodings,
  inbound_mails_matched_by_known: all<MatchedBy>({
    ...{ recipient: 1, 'envelope-id': 1, 'message-id': 1, 'return-path': 1, reference: 1 },
  }),
  inbound_mails_purpose_known: all<InboundPurpose>({
    ...{ 'feedback-bounce': 1, 'feedback-answer': 1, 'letter-bounce': 1, 'letter-answer': 1 },
    ...{ 'mail-in': 1, other: 1, trap: 1, 'feedback-loop': 1 },
  }),
  inbound_mails_state_known: all<InboxMail['state']>({ received: 1, handled: 1, failed: 1 }),
  installation_backend_known: all<Backend>({ postgres: 1, citus: 1 }),
  letters_encoding_known: encodings,
  letters_kind_known: all<Letter['kind']>({
    ...{ advice: 1, answer: 1, enrollment: 1, 'mail-in': 1, account: 1, news: 1, summary: 1 },
  }),
  letters_state_known: all<LetterState>({
    ...{ queued: 1, held: 1, sent: 1, bounced: 1, refused: 1, suppressed: 1 },
  }),
  listings_category_known: all<ListCategory>({ spam: 1, phishing: 1, malware: 1 }),
  listings_list_known: all<ListName>({ addresses: 1, domains: 1, hosts: 1 }),
  mail_sources_kind_known: all<MailSourceKind>({ trap: 1, 'feedback-loop': 1 }),
  mail_totals_kind_known: all<MailKind>({ feedback: 1, letter: 1 }),
  mail_totals_outcome_known: all<MailTotal['outcome']>({ sent: 1, refused: 1, bounced: 1 }),
  marketer_proposals_state_known: all<MarketerProposal['state']>({
    ...{ open: 1, dismissed: 1, taken: 1 },
  }),
  marketers_kind_known: all<Marketer['kind']>({ marketer: 1, service: 1 }),
  marketers_state_known: all<Marketer['state']>({ declared: 1, confirmed: 1, suspended: 1 }),
  mass_action_items_outcome_known: all<MassOutcome>({
    ...{ changed: 1, unchanged: 1, undone: 1, notified: 1, overtaken: 1, gone: 1 },
  }),
  mass_actions_state_known: all<MassAction['state']>({
    ...{ running: 1, stopped: 1, done: 1, undoing: 1, undone: 1 },
  }),
  models_format_known: all<ModelFormat>({ linear: 1, catboost: 1 }),
  models_state_known: all<ListedModel['state']>({ candidate: 1, active: 1, retired: 1 }),
  rate_limits_attempt_known: all<Attempt>({
    ...{ report: 1, read: 1, 'sign-in': 1, 'sign-in-device': 1, password: 1, 'sign-up': 1 },
    ...{ reset: 1, confirm: 1, enroll: 1, lookup: 1, webhook: 1, 'mail-in': 1, form: 1 },
    ...{ 'mailbox-user': 1, provider: 1, 'letter-owner': 1, 'letter-stranger': 1 },
  }),
  rate_limits_behavior_known: all<RateLimit['behavior']>({ refuse: 1, shadow: 1, off: 1 }),
  rate_limits_key_kind_known: all<KeyKind>({
    ...{ reporter: 1, token: 1, device: 1, address: 1, network: 1, 'wide-network': 1 },
    ...{ name: 1, 'name-and-address': 1, 'name-and-network': 1, all: 1 },
  }),
  raw_messages_encoding_known: encodings,
  reporter_news_kind_known: all<ReporterNews['kind']>({
    ...{ question: 1, resolved: 1, 'not-ours': 1, wrong: 1, stop: 1 },
  }),
  reporter_relays_how_known: all<RelayHow>({ set: 1, learned: 1, proposed: 1, refused: 1 }),
  reporters_language_known: languages,
  reporters_role_known: roles,
  reporters_state_known: all<ReporterState>({ active: 1, disabled: 1, erasing: 1 }),
  reports_channel_known: all<Channel>({
    ...{ api: 1, signaler: 1, form: 1, mail: 1, import: 1, learn: 1, trap: 1, 'feedback-loop': 1 },
  }),
  reports_corrected_as_known: all<CorrectedClass>({
    ...{ spam: 1, phishing: 1, malware: 1, marketing: 1, legitimate: 1 },
  }),
  reports_kind_known: all<ReportKind>({ spam: 1, phishing: 1, 'not-spam': 1 }),
  reports_rebuilt_from_known: all<NonNullable<Report['rebuiltFrom']>>({ msg: 1 }),
  reports_shadow_known: all<NonNullable<Report['shadow']>>({ held: 1, dropped: 1, released: 1 }),
  reports_state_known: all<ReportState>({
    ...{ received: 1, analyzed: 1, forwarded: 1, kept: 1, retracted: 1, failed: 1 },
  }),
  reputation_marks_mark_known: all<Mark>({ listed: 1, welcome: 1, exempt: 1 }),
  sender_alerts_cause_known: all<SenderAlert['cause']>({ unwanted: 1, complaints: 1, bounces: 1 }),
  suppressions_reason_known: all<Suppression['reason']>({
    ...{ 'hard-bounce': 1, 'soft-bounces': 1, complaint: 1, stop: 1, operator: 1 },
  }),
  table_placements_placement_known: ['distributed', 'local', 'reference'],
  tokens_role_known: roles,
  tokens_scopes_known: all<TokenScope>({
    ...{ report: 1, read: 1, retract: 1, account: 1, 'on-behalf': 1 },
  }),
  unsubscribe_requests_state_known: all<UnsubscribeState>({
    ...{ queued: 1, 'under-way': 1, done: 1, doubtful: 1, refused: 1, failed: 1, unknown: 1 },
  }),
  webhook_deliveries_state_known: all<Delivery['state']>({
    ...{ waiting: 1, delivered: 1, 'given-up': 1, dropped: 1 },
  }),
  webhooks_state_known: all<Webhook['state']>({ enabled: 1, disabled: 1, failed: 1 }),
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
