/**
 * What the value of a field says, so that the composer of evidence can treat it:
 * - `text`: words that software chose; kept, with identity removed
 * - `address`: mail addresses of the sender's side
 * - `ip`: an IP address
 * - `path`: a script or command on the sender's machine, with the user name of the customer
 * - `account`: identifies the customer or campaign, equal for all recipients; kept as it is
 * - `message`: a token of one message or one recipient; only its issuer gets the original
 * - `mixed`: words and identifiers; every token is coded
 */
type FieldValue = 'text' | 'address' | 'ip' | 'path' | 'account' | 'message' | 'mixed'

/** A header field by which the sender's side finds its customer, campaign or message. */
export type SenderField = {
  /** In lower case. */
  name: string
  /** Whether the record describes all fields whose names begin with `name`. */
  isPrefix: boolean
  value: FieldValue
  /** The software or service that adds it. */
  service: string
  /** The address of a document, or where the field was seen. */
  source: string
}

/** A header field of the receiver's side, or the verdict of a filter of either side. */
export type ReceiverField = { name: string; isPrefix: boolean; service: string }

const pages = {
  kumomta: 'https://docs.kumomta.com/userguide/configuration/fbl/',
  mailgun:
    'https://documentation.mailgun.com/docs/mailgun/user-manual/sending-messages/send-attachments',
  rfc9477: 'https://www.rfc-editor.org/rfc/rfc9477',
  repositories: 'seen in mail or code of public repositories',
} as const

/** Name (`*` at the end marks a prefix), value, service, and a page or the number of senders. */
type Row = readonly [string, FieldValue, string, number | keyof typeof pages]

const senderRows: readonly Row[] = [
  // Mail programs and generic fields of senders.
  // Mailchimp and Customer.io append a token of the recipient.
  ['x-mailer', 'mixed', 'many mail programs', 347],
  ['user-agent', 'text', 'many mail programs', 147],
  ['x-mimeole', 'text', 'Microsoft mail programs', 44],
  ['x-operating-system', 'text', 'mail programs', 5],
  ['organization', 'text', 'mail programs', 29],
  ['x-originating-ip', 'ip', 'webmail, Microsoft Exchange', 82],
  ['x-originating-email', 'address', 'Outlook.com', 4],
  ['x-sender', 'address', 'mail programs, ActiveCampaign', 20],
  ['x-x-sender', 'address', 'Pine, Alpine', 8],
  ['x-source-ip', 'ip', 'Bluehost, HostGator', 1],
  ['x-client-ip', 'ip', 'Rackspace', 2],
  ['x-authentication-warning', 'mixed', 'sendmail', 85],
  ['x-complaints-to', 'address', 'many mailing services', 17],
  ['x-abuse', 'address', 'mailing services', 5],
  ['x-abuse-info', 'mixed', 'web hosts, EUnet', 'repositories'],
  // Mailchimp, Mandrill and MailWizz put a token of the recipient into the link.
  ['x-report-abuse', 'mixed', 'many mailing services', 50],
  ['x-report-abuse-to', 'mixed', 'Mailjet, HubSpot, Customer.io', 10],
  ['x-abuse-reports-to', 'address', 'Splio', 1],
  ['abuse-reports-to', 'address', 'corporate mail gateways', 'repositories'],
  ['x-csa-complaints', 'address', 'members of the Certified Senders Alliance', 41],
  ['cfbl-address', 'address', 'senders, RFC 9477', 'rfc9477'],
  ['cfbl-feedback-id', 'message', 'senders, RFC 9477', 'rfc9477'],
  // Gmail asks for no unique identifiers; SMTP2GO adds one of the message all the same.
  ['feedback-id', 'mixed', 'senders, as Gmail asks', 142],
  ['x-feedback-id', 'mixed', 'mailing services', 43],
  ['x-campaign', 'message', 'Mailchimp, Campaigner', 12],
  ['x-campaignid', 'message', 'Mailchimp, SparkPost customers', 13],
  ['x-campaign-id', 'message', 'Iterable and other services', 12],
  ['x-campaign_id', 'message', 'SparkPost customers', 1],
  ['x-job', 'account', 'Salesforce Marketing Cloud, Postmark', 18],
  ['x-virtual-mta', 'text', 'PowerMTA', 2],
  // Web hosts and their software.
  ['x-php-originating-script', 'path', 'PHP', 4],
  ['x-php-script', 'path', 'PHP, cPanel', 1],
  ['x-php-filename', 'path', 'PHP, cPanel', 'repositories'],
  // Its line "Original Domain" holds the domain of the recipient.
  ['x-antiabuse', 'mixed', 'cPanel', 12],
  ['x-source', 'path', 'cPanel', 7],
  ['x-source-args', 'path', 'cPanel', 7],
  ['x-source-dir', 'path', 'cPanel', 7],
  ['x-source-auth', 'address', 'Bluehost, HostGator', 1],
  ['x-source-sender', 'mixed', 'Bluehost, HostGator', 1],
  ['x-source-cap', 'account', 'Bluehost, HostGator', 1],
  ['x-exim-id', 'message', 'Bluehost, HostGator', 1],
  ['x-org', 'text', 'Bluehost, HostGator', 1],
  ['x-identified-user', 'mixed', 'Bluehost, HostMonster', 1],
  // Names owner and target of a forwarder if the recipient's own server forwarded the message.
  ['x-get-message-sender-via', 'mixed', 'cPanel', 9],
  ['x-authenticated-sender', 'address', 'cPanel, SpamExperts', 10],
  ['x-authenticated-id', 'account', 'DirectAdmin, Exim', 2],
  ['x-authenticated-user', 'address', 'mail servers', 2],
  ['x-authuser', 'address', 'MailChannels, SpamExperts', 3],
  ['x-auth-id', 'address', 'Rackspace', 4],
  ['x-sender-id', 'mixed', 'MailChannels, Rackspace', 1],
  ['x-mailchannels-senderid', 'mixed', 'MailChannels', 'repositories'],
  ['x-mailchannels-auth-id', 'account', 'MailChannels', 'repositories'],
  ['x-mc-relay', 'text', 'MailChannels', 'repositories'],
  ['x-mc-loop-signature', 'message', 'MailChannels', 'repositories'],
  ['x-spamexperts-domain', 'account', 'SpamExperts', 'repositories'],
  ['x-spamexperts-username', 'account', 'SpamExperts', 'repositories'],
  ['x-spamexperts-outgoing-class', 'text', 'SpamExperts', 'repositories'],
  ['x-filter-id', 'message', 'SpamExperts', 'repositories'],
  ['x-hetz-sender-domain', 'account', 'xneelo', 'repositories'],
  ['x-ppp-vhost', 'account', 'Plesk', 1],
  ['x-ppp-message-id', 'message', 'Plesk', 1],
  ['x-classification-id', 'message', 'Rackspace', 3],
  ['x-cmae-envelope', 'message', 'Cloudmark, GoDaddy', 6],
  ['x-secureserver-acct', 'address', 'GoDaddy', 'repositories'],
  ['x-ovh-tracer-id', 'message', 'OVH', 'repositories'],
  ['x-ovh-tracer-guid', 'message', 'OVH', 'repositories'],
  ['x-ovh-remote', 'mixed', 'OVH', 'repositories'],
  ['x-provags-id', 'message', '1&1 IONOS, GMX, web.de', 9],
  ['x-ui-sender-class', 'account', 'GMX, web.de', 4],
  ['x-rzg-auth', 'message', 'Strato', 1],
  ['x-rzg-class-id', 'text', 'Strato', 1],
  ['x-gnd-sasl', 'address', 'Gandi', 1],
  ['x-pair-authenticated', 'ip', 'pair Networks', 2],
  ['x-migadu-auth-user', 'address', 'Migadu', 1],
  ['x-locaweb-id', 'message', 'Locaweb', 5],
  ['x-locaweb-id2', 'account', 'Locaweb', 4],
  ['x-en-authuser', 'address', 'Newfold Digital mail', 2],
  ['x-en-origip', 'ip', 'Newfold Digital mail', 1],
  ['x-en-orighost', 'mixed', 'Newfold Digital mail', 1],
  ['x-en-userinfo', 'account', 'Newfold Digital mail', 1],
  ['x-ud-smtp-session', 'message', 'united-domains', 1],
  ['x-me-ip', 'ip', 'Orange', 1],
  ['x-me-auth', 'message', 'Orange', 1],
  ['x-feas-auth-user', 'address', 'FortiMail', 2],
  ['x-feas-client-ip', 'ip', 'FortiMail', 1],
  // Mailbox providers.
  ['x-google-original-from', 'address', 'Gmail', 18],
  ['x-google-sender-delegation', 'mixed', 'Gmail', 6],
  ['x-google-sender-auth', 'message', 'Gmail', 2],
  ['x-google-smtp-source', 'message', 'Gmail', 189],
  ['x-google-dkim-signature', 'message', 'Gmail', 135],
  ['x-gm-message-state', 'message', 'Gmail', 136],
  ['x-originatororg', 'text', 'Microsoft Exchange', 45],
  ['x-yahoo-newman-id', 'message', 'Yahoo', 1],
  ['x-yahoo-profile', 'account', 'Yahoo', 2],
  ['x-ymail-osg', 'message', 'Yahoo', 5],
  ['x-sonic-mf', 'address', 'Yahoo, AOL', 3],
  ['x-sonic-id', 'message', 'Yahoo, AOL', 1],
  ['x-mailru-sender', 'message', 'Mail.ru', 3],
  ['x-yandex-uniq', 'message', 'Yandex', 1],
  ['x-me-sender', 'message', 'Fastmail', 9],
  ['x-me-proxy', 'message', 'Fastmail', 9],
  ['x-pm-message-id', 'message', 'Proton, Postmark', 1],
  ['x-qq-mid', 'message', 'QQ Mail', 2],
  ['x-qq-xmailinfo', 'message', 'QQ Mail', 1],
  ['x-cm-transid', 'message', 'Coremail', 4],
  ['x-cm-senderinfo', 'message', 'Coremail', 4],
  ['x-hm-tid', 'message', 'NetEase', 1],
  ['x-hm-sender-digest', 'message', 'NetEase', 1],
  ['x-zmail-transid', 'message', 'ZTE mail', 1],
  ['x-jid', 'message', 'ZeptoMail', 4],
  ['tm-mail-jid', 'message', 'ZeptoMail', 4],
  ['x-app-message-id', 'message', 'ZeptoMail', 4],
  // Mailing services.
  ['x-ses-outgoing', 'text', 'Amazon SES', 26],
  ['x-ses-message-tags', 'message', 'Amazon SES', 'repositories'],
  ['x-ses-configuration-set', 'account', 'Amazon SES', 'repositories'],
  ['x-aws-outgoing', 'ip', 'Amazon', 2],
  ['x-sg-eid', 'message', 'SendGrid', 45],
  ['x-sg-id', 'message', 'SendGrid', 38],
  ['x-entity-id', 'account', 'SendGrid', 48],
  ['x-smtpapi', 'message', 'SendGrid', 2],
  ['x-mailgun-sid', 'message', 'Mailgun', 27],
  ['x-mailgun-variables', 'message', 'Mailgun', 'mailgun'],
  ['x-mailgun-batch-id', 'message', 'Mailgun', 4],
  ['x-mailgun-tag', 'account', 'Mailgun', 11],
  ['x-mailgun-sending-ip', 'ip', 'Mailgun', 27],
  ['x-mailgun-sending-ip-pool', 'account', 'Mailgun', 7],
  ['x-mailgun-sending-ip-pool-name', 'account', 'Mailgun', 7],
  ['x-mc-user', 'account', 'Mailchimp', 9],
  ['x-mcpf-jobid', 'account', 'Mailchimp', 1],
  ['x-mandrill-user', 'account', 'Mandrill', 2],
  ['x-mc-metadata', 'message', 'Mandrill', 1],
  ['x-msfbl', 'message', 'SparkPost, Momentum', 30],
  ['x-msys-api', 'message', 'SparkPost', 3],
  ['x-kumoref', 'message', 'KumoMTA', 'kumomta'],
  ['x-postal-msgid', 'message', 'Postal', 'repositories'],
  ['x-pm-rcpt', 'message', 'Postmark', 'repositories'],
  ['x-pm-message-options', 'message', 'Postmark', 'repositories'],
  ['x-pm-tag', 'account', 'Postmark', 'repositories'],
  ['x-mailin-eid', 'message', 'Brevo', 'repositories'],
  ['x-mailin-client', 'message', 'Brevo', 'repositories'],
  ['x-mailin-campaign', 'message', 'Brevo', 'repositories'],
  ['x-sib-id', 'message', 'Brevo', 'repositories'],
  ['x-mj-mid', 'message', 'Mailjet', 1],
  ['x-mj-smtpguid', 'message', 'Mailjet', 1],
  ['x-msg-eid', 'message', 'Elastic Email', 'repositories'],
  ['x-smtpcorp-track', 'message', 'SMTP2GO', 'repositories'],
  ['x-smtpcom-sender-id', 'account', 'SMTP.com', 4],
  ['x-smtpcom-message-id', 'message', 'SMTP.com', 4],
  ['x-smtpcom-tracking-number', 'message', 'SMTP.com', 4],
  ['x-smtpcom-payload', 'message', 'SMTP.com', 4],
  ['x-xsmessageid', 'message', 'SocketLabs', 'repositories'],
  ['x-xsmailingid', 'message', 'SocketLabs', 'repositories'],
  ['x-mailer-info', 'message', 'GreenArrow', 5],
  ['x-mailer-info-extra*', 'message', 'GreenArrow', 5],
  ['x-mailer-lid', 'account', 'Interspire Email Marketer', 'repositories'],
  ['x-mailer-sid', 'account', 'Interspire Email Marketer', 'repositories'],
  ['x-mailer-sent-by', 'account', 'Interspire Email Marketer', 'repositories'],
  ['x-mailer-recptid', 'message', 'Interspire Email Marketer', 'repositories'],
  ['x-kmail-account', 'account', 'Klaviyo', 14],
  ['x-kmail-flow', 'account', 'Klaviyo', 1],
  ['x-kmail-message', 'message', 'Klaviyo', 14],
  ['x-kmail-ops', 'message', 'Klaviyo', 14],
  ['x-hubspot-mid', 'message', 'HubSpot', 1],
  ['x-hubspot-message-id', 'message', 'HubSpot', 1],
  ['x-hs-cid', 'message', 'HubSpot', 1],
  ['x-sfmc-stack', 'text', 'Salesforce Marketing Cloud', 29],
  ['x-roving-id', 'account', 'Constant Contact', 1],
  ['x-roving-campaignid', 'account', 'Constant Contact', 1],
  ['x-campaign-activity-id', 'account', 'Constant Contact', 1],
  ['x-channel-id', 'account', 'Constant Contact', 1],
  ['x-ctct-id', 'account', 'Constant Contact', 1],
  ['x-return-path-hint', 'message', 'Constant Contact, iContact', 2],
  ['x-marketoid', 'message', 'Marketo', 1],
  ['x-orgid', 'account', 'Acoustic', 1],
  ['x-mid', 'message', 'Acoustic, ActiveCampaign', 3],
  ['x-rpcampaign', 'account', 'senders certified by Return Path', 21],
  ['x-tm-id', 'message', 'Sailthru', 1],
  ['x-info', 'mixed', 'Sailthru', 2],
  ['x-unsubscribe-web', 'message', 'Sailthru, iContact', 2],
  ['x-ei', 'message', 'Oracle Responsys', 1],
  ['x-rext', 'message', 'Oracle Responsys', 1],
  ['x-sgxh1', 'message', 'Oracle Responsys', 1],
  ['reporting-meta', 'message', 'Oracle Email Delivery', 1],
  ['x-netsuite*', 'message', 'Oracle NetSuite', 1],
  ['x-emarsys-identify', 'message', 'Emarsys', 1],
  ['x-emarsys-environment', 'text', 'Emarsys', 1],
  ['x-crdl-mc', 'message', 'Cordial', 2],
  ['x-flowmailer-platform', 'account', 'Flowmailer', 2],
  ['x-nss', 'message', 'Epsilon', 2],
  ['x-xyz-*', 'message', 'XyzMailer', 4],
  ['x-beehiiv-ids', 'message', 'beehiiv', 1],
  ['x-maillist-id', 'message', 'Blue State Digital', 10],
  ['x-maillist-guid', 'message', 'Blue State Digital', 10],
  ['x-accountcode', 'message', 'Granicus, often forged', 10],
  ['x-mailingid', 'message', 'Granicus', 1],
  ['x-subscriber', 'message', 'Granicus', 4],
  ['x-ec-messenger-cid', 'account', 'Mapp eC-messenger', 1],
  ['x-ec-messenger-mid', 'account', 'Mapp eC-messenger', 1],
  ['x-ec-messenger-token', 'message', 'Mapp eC-messenger', 1],
  ['x-eventbrite*', 'message', 'Eventbrite', 1],
  ['x-ebs', 'text', 'MailWizz', 4],
  ['x-lsv-listid', 'account', 'L-Soft LISTSERV', 1],
  ['x-mc-unique', 'message', 'Mimecast', 41],
  ['x-msg-ref', 'message', 'Symantec MessageLabs', 3],
]

const receiverRows: readonly (readonly [service: string, patterns: readonly string[]])[] = [
  ['spam filters', ['x-spam', 'x-spam-*', 'x-spam_*', 'x-spamd-*', 'x-spamcop-*']],
  ['spam filters', ['x-spamdiagnostic*', 'x-ham-*', 'x-rspamd*', 'x-policyd-weight', 'x-greylist']],
  ['virus scanners', ['x-virus*', 'x-amavis*', 'x-mailscanner*', 'x-bitdefender*', 'x-kas*']],
  ['virus scanners', ['x-kse-*', 'x-ksmg-*', 'x-tm-as-*', 'x-tmase-*']],
  ['filter appliances and gateways', ['x-barracuda-*', 'x-asg-*', 'x-proofpoint-*']],
  ['filter appliances and gateways', ['x-ironport-*', 'ironport-*', 'x-amp-*', 'x-mimecast-*']],
  ['Cloudmark', ['x-cmae-score', 'x-cmae-analysis', 'x-authority-analysis']],
  ['Vade, names the recipients in its cause', ['x-vr-*', 'x-vade-*', 'x-me-proxy-cause']],
  ['Vade, names the recipients in its cause', ['x-gnd-cause', 'x-gnd-status']],
  ['GMX, web.de, 1&1 IONOS', ['x-ui-filterresults', 'x-ui-out-filterresults', 'ui-outboundreport']],
  ['Gmail', ['x-gmail-*', 'x-gm-thrid', 'x-gm-spam', 'x-gm-phishy', 'x-forwarded-*']],
  ['Microsoft, tenants of both sides', ['x-ms-exchange-*', 'x-ms-office365-*', 'x-eop*']],
  ['Microsoft', ['x-forefront-*', 'x-microsoft-antispam*', 'x-incoming*']],
  ['Microsoft', ['x-ms-publictraffictype', 'x-ms-traffic*']],
  ['Outlook.com', ['x-message-delivery*', 'x-message-info', 'x-sender-ip', 'x-sid-*']],
  ['Outlook.com', ['x-store-info', 'x-auth-result']],
  ['Outlook.com, last sign-in of the recipient', ['x-ms-userlastlogontime']],
  ['Yahoo, AOL', ['x-ymailisg', 'x-apparently-to', 'x-aol-*']],
  ['Proton', ['x-pm-spam*', 'x-pm-origin', 'x-pm-content-encryption', 'x-pm-transfer-encryption']],
  ['Mail.ru', ['x-mru-*', 'x-mras']],
  ['mail programs of the recipient', ['x-mozilla-*', 'x-account-key', 'x-uidl']],
  ['mail programs of the recipient', ['x-evolution-source']],
  ['mail servers', ['x-original-to', 'x-originally-to', 'x-orig-to', 'x-delivered-to']],
  ['mail servers', ['x-envelope-to', 'x-rcpt-to', 'x-orcpt-to', 'x-hmxmroriginalrecipient']],
  ['mail servers', ['x-sieve', 'x-sa-exim-*']],
  ['mailing lists', ['x-beenthere', 'x-mailman-*', 'x-mailing-list', 'x-loop']],
]

/**
 * The fields that the sender's side adds and that may be shown to its abuse desk. Servers of the
 * receiver can add some of them too, so a value above the hand-over is not the sender's. Spammers
 * can forge every field, also one of kind `account`.
 */
export const senderFields: readonly SenderField[] = senderRows.map(
  ([pattern, value, service, source]) => ({
    ...nameOf(pattern),
    value,
    service,
    source:
      typeof source === 'string'
        ? pages[source]
        : `seen in mail of ${source} senders in collections`,
  }),
)

/** Fields that are never shown: they help no abuse desk, and many identify the recipient. */
export const receiverFields: readonly ReceiverField[] = receiverRows.flatMap(
  ([service, patterns]) => patterns.map((pattern) => ({ ...nameOf(pattern), service })),
)

function nameOf(pattern: string) {
  const isPrefix = pattern.endsWith('*')
  return { name: isPrefix ? pattern.slice(0, -1) : pattern, isPrefix }
}
