/**
 * The codes of sentences that rows store and people read, with the names of their parameters. Codes
 * and names are permanent. The sentences are in the catalogs `events.json`, `inbox.json` and
 * `route.json` of each language in `texts`.
 */
export const phraseParameters = {
  // The findings of the analysis, and why a report is forwarded or not.
  'origin-found': ['ip', 'percent'],
  'origin-not-found': [],
  'origin-uncertain': [],
  'too-old': ['day', 'hours'],
  'age-unknown': [],
  'no-effect': [],
  'said-not-spam': [],
  'automatic-mail': [],
  'learned-by-server': [],
  'looks-wanted': [],
  'verdict-undecided': [],
  'content-only': [],
  'bulk-with-unsubscribe': [],
  'no-complaint': [],
  'marketer-signature': ['domain', 'marketer'],
  'marketer-range': ['ip', 'range', 'marketer'],
  'marketer-list-id': ['listId'],
  'marketer-author': ['domain'],
  'question-asked': [],

  // The choice of whom to notify.
  'network-muted': [],
  'network-unknown': [],
  'network-has-contact': ['network'],
  'network-without-contact': [],
  'network-unregistered': ['network'],
  'registry-asked': [],
  'registry-unreachable': [],
  'contact-is-own': [],
  'contacts-bounce': [],
  'desk-enrolled': ['scope'],
  'desk-not-enrolled': [],
  'desk-stopped': [],
  'desk-suppressed': [],
  'desk-paused': [],
  'desk-declines-topic': ['topic'],
  'author-takes-complaints': [],
  'marketer-takes-complaints': ['marketer'],
  'domain-takes-complaints': ['domain'],
  'next-contact-notified': [],
  'network-disowned': [],

  // The results of feedback reports. `recipient` is `network`, `unnamed`, or a role.
  'feedback-sent': ['recipient', 'network'],
  'feedback-held': ['recipient', 'network'],
  'feedback-refused': ['recipient', 'network'],
  'correction-sent': ['recipient', 'network'],
  'correction-held': ['recipient', 'network'],
  'correction-refused': ['recipient', 'network'],
  'sent-with-others': [],
  'merged-into-digest': [],
  'merged-into-sample': [],
  'feedback-bounced': ['status'],
  'feedback-withdrawn': [],
  'unsent-withdrawn': [],
  'report-was-retracted': [],
  'only-enrolled-notified': [],
  'recipient-stopped': [],
  'recipient-suppressed': [],
  'recipient-paused': [],
  'recipient-bounces': [],
  'recipient-unsubscribed': [],
  'answered-resolved': ['speaker'],
  'answered-not-ours': ['speaker'],
  'answered-wrong': ['speaker'],
  'answered-stop': ['speaker'],

  // Actions of the reporter or of the program.
  'kind-changed': ['kind'],
  'retracted-by-reporter': [],
  'retracted-by-administrator': [],
  'machines-unknown': [],
  'machines-named': ['count'],
  'machines-foreign': [],
  'machines-learned': [],
  'analysis-failed': [],
  'look-up-failed': [],
  'operators-can-retry': [],
  'advice-sent': [],

  // Unsubscribing the reporter with one click.
  'unsubscribe-asked': ['host'],
  'unsubscribe-accepted': ['host', 'status'],
  'unsubscribe-redirected': ['host', 'status'],
  'unsubscribe-declined': ['host', 'status'],
  'unsubscribe-unreached': ['host'],
  'unsubscribe-unanswered': ['host'],
  'unsubscribe-failed': ['host', 'reason'],
  'unsubscribe-unknown': [],
  'host-not-found': ['host', 'reason'],
  'host-without-address': ['host'],
  'host-not-public': ['host'],
  'link-deleted': [],
  'link-unreadable': [],
  'link-not-https': [],
  'link-with-credentials': [],
  'link-unusual-port': [],
  'link-without-public-name': [],

  // The deliveries of webhooks.
  'webhook-accepted': [],
  'webhook-redirected': [],
  'webhook-gone': [],
  'webhook-declined': [],
  'webhook-unanswered': [],
  'webhook-failed': ['reason'],
  'webhook-address-refused': [],
  'webhook-off': [],
  'webhook-report-deleted': [],

  // How a mail to our addresses was handled.
  'inbound-mail-deleted': [],
  'inbound-delayed': [],
  'inbound-delivered': [],
  'inbound-relayed': [],
  'inbound-expanded': [],
  'inbound-bounce-known': [],
  'inbound-soft-bounce': [],
  'inbound-address-suppressed': [],
  'inbound-unproven': [],
  'inbound-unmatched': [],
  'inbound-review': [],
  'inbound-no-complaint': [],
  'inbound-consumer-stopped': [],
  'inbound-letter-reply': [],
  'inbound-free-text': [],
  'inbound-answer-automatic': [],
  'inbound-answer-unproven': [],
  'inbound-answer-foreign': [],
  'inbound-answer-unsent': [],
  'inbound-answer-recorded': ['answer'],
  'inbound-answer-repeated': ['answer'],
  'inbound-loop': [],
  'inbound-automatic': [],
  'inbound-failed': [],

  // Steps on the route of the message. `line` counts the Received lines from 1, from the top.
  'received-by': ['provider'],
  'received-by-unknown': [],
  'no-received-lines': [],
  'began-inside-provider': [],
  'began-inside': ['provider'],
  'began-internal': [],
  'line-unreadable': ['line'],
  'line-fetched': ['line'],
  'line-without-client': ['line'],
  'line-without-address': ['line'],
  'line-not-by-provider': ['line', 'provider'],
  'line-internal': ['line'],
  'line-internal-at': ['line', 'host'],
  'line-same-organization': ['line'],
  'line-same-machine': ['line'],
  'line-to-mailbox': ['line'],
  'line-by-program': ['line'],
  'line-by-program-at': ['line', 'host'],
  'line-by-user': ['line'],
  'relay-declared': ['ip'],
  'relay-learned': ['ip'],
  'relay-of-provider': ['ip', 'provider'],
  'relay-in-domain': ['host', 'domain'],
  'relay-claims-domain': ['host', 'domain'],
  'address-internal': ['ip'],
  'address-loopback': ['ip'],
  'address-unroutable': ['ip'],
  'entry-of-provider': ['line', 'witness', 'client'],
  'entry-foreign': ['line', 'witness', 'client'],
  'entry-unwitnessed': ['line', 'client'],
  'trace-misplaced': [],
  'spf-passes': ['domain', 'ip'],
  'blacklist-contains': ['zone', 'ip'],
  'filter-passed-on': ['provider'],
  'forwarded-to-reporter': ['provider'],
  'list-passed-on': ['domain'],
  'provider-about-itself': ['provider'],
  'submitter-customer': ['line', 'provider', 'ip'],
  'submitter-client': ['line', 'provider', 'ip'],
  'submitter-sealed': ['line', 'provider', 'ip'],
  'submitter-in-seal': ['provider', 'ip'],
  'submitter-in-field': ['field', 'provider', 'ip'],

  // Meanings of symbols that no rule describes.
  'model-estimate': ['percent'],
  'rule-assumed': [],
  'not-read': [],

  // Irregularities of a Received line.
  unreadable: [],
  'below-invented': [],
  'borrowed-name': ['provider'],
  'broken-chain': [],
  'time-runs-backwards': [],
  'reserved-address': ['ip'],
  'posing-literal': ['ip'],
  'date-for-address': [],
  'foreign-protocol': ['provider', 'protocol'],
  'no-identifier': [],
} as const satisfies Record<string, readonly string[]>

/** The code of a sentence. */
export type PhraseCode = keyof typeof phraseParameters

/**
 * A sentence as rows store it: its code, and the values in it. Readers get it in their language
 * from `texts`.
 */
export type Phrase = {
  code: PhraseCode
  params?: Readonly<Record<string, string | number>>
}

/** Phrases as read from a row. Rows from before phrases had codes contain English text. */
export type StoredPhrases = readonly Phrase[] | string

type ParamsOf<Code extends PhraseCode> = (typeof phraseParameters)[Code] extends readonly []
  ? []
  : [params: Readonly<Record<(typeof phraseParameters)[Code][number], string | number>>]

/** Composes a phrase; the parameters must be those of its code. */
export function phrase<Code extends PhraseCode>(code: Code, ...[params]: ParamsOf<Code>): Phrase {
  return params === undefined ? { code } : { code, params }
}
