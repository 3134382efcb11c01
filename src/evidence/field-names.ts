export const recipientFields: ReadonlySet<string> = new Set(['to', 'cc', 'resent-to', 'resent-cc'])

/** Fields that the reporter's provider or mail program writes for the mailbox only. */
export const mailboxFields: ReadonlySet<string> = new Set([
  ...['bcc', 'resent-bcc', 'delivered-to', 'x-delivered-to', 'x-original-to', 'envelope-to'],
  ...['x-envelope-to', 'x-rcpt-to', 'x-real-to', 'x-resolved-to', 'x-forwarded-to'],
  ...['x-forwarded-for', 'original-recipient', 'x-original-recipient', 'x-recipient'],
  ...['envelope-recipient', 'x-envelope-recipient', 'x-env-recipient', 'x-spam-recipient'],
  ...['x-mdrcpt-to', 'x-mdaemon-deliver-to', 'x-deliver-to', 'x-original-delivered-to'],
  ...['x-google-original-to', 'x-spam-user', 'x-rcpt', 'x-mail-recipient'],
  ...['x-failed-recipients', 'apparently-to', 'x-apparently-to', 'x-account-key', 'x-uidl'],
  ...['x-gmail-labels', 'x-gm-thrid', 'x-gm-msgid'],
  ...['x-mozilla-status', 'x-mozilla-status2', 'x-mozilla-keys'],
])
