import table from './sender-fields.json' with { type: 'json' }

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

const pages: Readonly<Record<string, string>> = table.sources

/**
 * The fields that the sender's side adds and that may be shown to its abuse desk. Servers of the
 * receiver can add some of them too, so a value above the hand-over is not the sender's. Spammers
 * can forge every field, also one of kind `account`.
 */
export const senderFields: readonly SenderField[] = (table.sender as Row[])
  .filter(([pattern]) => !pattern.startsWith('#'))
  .map(([pattern, value, service, source]) => ({
    ...nameOf(pattern),
    value,
    service,
    source:
      typeof source === 'string'
        ? (pages[source] ?? '')
        : `seen in mail of ${source} senders in collections`,
  }))

type Row = [pattern: string, value: FieldValue, service: string, source: string | number]

/** Fields that are never shown: they help no abuse desk, and many identify the recipient. */
export const receiverFields: readonly ReceiverField[] = Object.entries(table.receiver).flatMap(
  ([service, patterns]) => patterns.map((pattern) => ({ ...nameOf(pattern), service })),
)

function nameOf(pattern: string) {
  const isPrefix = pattern.endsWith('*')
  return { name: isPrefix ? pattern.slice(0, -1) : pattern, isPrefix }
}
