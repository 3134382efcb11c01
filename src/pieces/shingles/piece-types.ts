/**
 * `exact`: every piece of the type is counted. `gated`: in checked traffic, a piece is counted only
 * after several sightings; for types whose pieces are mostly new.
 */
type Admission = 'exact' | 'gated'

export type PieceType = {
  /**
   * Part of the hash and of stored data: the meaning of a number never changes, and a number is
   * never reused.
   */
  number: number
  name: PieceName
  meaning: string
}

/** Pieces are `exact` unless a row says otherwise. */
type Row = readonly [number: number, name: string, meaning: string, admission?: Admission]

const rows = [
  [1, 'author-address', 'The address in From, in lower case.'],
  [2, 'author-domain', 'The domain of the address in From.'],
  [3, 'author-organization', 'The registrable domain of the address in From.'],
  [
    4,
    'author-local-part',
    'The local part of the address in From, with numbers normalized.',
    'gated',
  ],
  [5, 'author-name', 'The display name in From, without disguise.'],
  [
    6,
    'author-name-and-organization',
    'The display name in From, with the registrable domain of the address.',
  ],
  [7, 'reply-to-address', 'The first address in Reply-To.'],
  [8, 'reply-to-domain', 'The domain of the first address in Reply-To.'],
  [9, 'reply-to-organization', 'The registrable domain of the first address in Reply-To.'],
  [
    10,
    'return-path-address',
    'The return path, with numbers and tokens of individual mails normalized.',
  ],
  [11, 'return-path-domain', 'The domain of the return path.'],
  [12, 'return-path-organization', 'The registrable domain of the return path.'],
  [
    13,
    'return-path-shape',
    'The shape of the local part of the return path: letters, digits and signs.',
    'gated',
  ],
  [14, 'sender-address', 'The address in Sender.'],
  [15, 'sender-organization', 'The registrable domain of the address in Sender.'],
  [16, 'claimed-signer-domain', 'The d= of a DKIM signature that was not verified.'],
  [
    17,
    'claimed-signer-organization',
    'The registrable domain of a signature that was not verified.',
  ],
  [18, 'claimed-signer-key', 'The domain and selector of a signature that was not verified.'],
  [19, 'claimed-signer-identity', 'The i= of a DKIM signature that was not verified.'],
  [20, 'signer-domain', 'The d= of a DKIM signature that was verified.'],
  [21, 'signer-organization', 'The registrable domain of a signature that was verified.'],
  [22, 'signer-key', 'The domain and selector of a signature that was verified.'],
  [23, 'list-id', 'The identifier in List-Id.'],
  [24, 'list-organization', 'The registrable domain of the identifier in List-Id.'],
  [25, 'feedback-id', 'Feedback-ID: the campaign and the customer of a sending provider.'],
  [26, 'unsubscribe-host', 'The host of a List-Unsubscribe link.'],
  [
    27,
    'unsubscribe-organization',
    'The registrable domain of a List-Unsubscribe link or mail address.',
  ],
  [28, 'recipient-domain', 'The domain of the first address in To.'],
  [30, 'origin-ip', 'The address of the origin.'],
  [31, 'origin-network', 'The /24 of the origin, or the /48 for IPv6.'],
  [32, 'origin-as', 'The autonomous system of the origin.'],
  [33, 'origin-rdns', 'The reverse DNS name of the origin.'],
  [34, 'origin-rdns-organization', 'The registrable domain of the reverse DNS name of the origin.'],
  [
    35,
    'origin-rdns-shape',
    'The reverse DNS name of the origin, with numbers normalized.',
    'gated',
  ],
  [36, 'origin-helo', 'The HELO name of the origin.'],
  [37, 'origin-helo-organization', 'The registrable domain of the HELO name of the origin.'],
  [38, 'origin-helo-shape', 'The HELO name of the origin, with numbers normalized.', 'gated'],
  [39, 'submitter-ip', 'The address of the client behind the sending provider.'],
  [
    40,
    'submitter-network',
    'The /24 of the client behind the sending provider, or the /48 for IPv6.',
  ],
  [41, 'submitter-as', 'The autonomous system of the client behind the sending provider.'],
  [42, 'submitter-helo', 'The HELO name of the client behind the sending provider.'],
  [43, 'claimed-ip', 'The address in the lowest Received line, which anyone may have written.'],
  [
    44,
    'claimed-ip-network',
    'The /24 of the address in the lowest Received line, or the /48 for IPv6.',
  ],
  [
    45,
    'origin-line-name',
    'The reverse DNS name of the origin, if it is that of a subscriber line.',
  ],
  [50, 'subject', 'The whole subject, without disguise.'],
  [51, 'subject-template', 'The subject without numbers, addresses and mixed tokens.'],
  [52, 'subject-words', 'Three consecutive words of the subject.', 'gated'],
  [53, 'subject-start', 'The first four words of the subject.', 'gated'],
  [54, 'message-id-domain', 'The part of the Message-ID after the @.'],
  [
    55,
    'message-id-organization',
    'The registrable domain of the part of the Message-ID after the @.',
  ],
  [56, 'message-id-shape', 'The shape of the Message-ID: letters, digits and signs.', 'gated'],
  [57, 'mailer', 'The mail program that the message names.'],
  [58, 'mailer-family', 'The mail program that the message names, without its version.'],
  [59, 'header-order', 'The names of the header fields below the trace, in order.', 'gated'],
  [
    60,
    'header-names',
    'The names of the header fields below the trace, sorted, without duplicates.',
    'gated',
  ],
  [
    61,
    'header-case',
    'The spelling of the names of common fields: Message-Id or Message-ID.',
    'gated',
  ],
  [62, 'charset', 'The charset of the body and its transfer encoding.'],
  [
    63,
    'content-shape',
    'The media type with its parameters, without the values of boundaries.',
    'gated',
  ],
  [64, 'boundary-shape', 'The shape of the MIME boundary: letters, digits and signs.', 'gated'],
  [65, 'date-zone', 'The zone of the Date field, as written.'],
  [66, 'unusual-field', 'The name of a header field that begins with X-.', 'gated'],
  [70, 'link', 'A link without disguise, redirectors and tracking.'],
  [71, 'link-path', 'The host and path of a link.'],
  [72, 'link-pattern', 'The path of a link without numbers and tokens, on any host.', 'gated'],
  [73, 'link-host', 'The host of a link.'],
  [74, 'link-organization', 'The registrable domain of the host of a link.'],
  [75, 'link-ip', 'The host of a link if it is an IP address.'],
  [76, 'link-network', 'The /24 or /48 of the IP address in a link.'],
  [77, 'link-parameters', 'The path pattern of a link with the names of its parameters.', 'gated'],
  [78, 'redirector', 'The host of the redirector in which a link was wrapped.'],
  [79, 'form-organization', 'The target of a form in the message.'],
  [80, 'link-set', 'The registrable domains of all links, sorted.'],
  [81, 'image-link', 'The host and path of a remote picture.'],
  [82, 'image-link-organization', 'The registrable domain of a remote picture.'],
  [90, 'telephone', 'A telephone number in the text.'],
  [91, 'cryptocurrency-address', 'A cryptocurrency address with a valid checksum.'],
  [92, 'bank-account', 'An IBAN with valid check digits.'],
  [93, 'body-address', 'A mail address in the text.'],
  [94, 'body-address-organization', 'The registrable domain of a mail address in the text.'],
  [100, 'attachment', 'The checksum of an attached file.'],
  [101, 'attachment-name', 'The name of an attached file, without disguise.'],
  [
    102,
    'attachment-name-shape',
    'The name of an attached file without numbers and tokens.',
    'gated',
  ],
  [
    103,
    'attachment-extension',
    'The extension of the name of an attached file, with its media type.',
  ],
  [
    104,
    'attachment-type-and-size',
    'The media type and length in bytes of an attached file.',
    'gated',
  ],
  [105, 'image', 'The checksum of an embedded picture.'],
  [
    106,
    'image-type-and-size',
    'The media type and length in bytes of an embedded picture.',
    'gated',
  ],
  [107, 'attachment-set', 'The types of all attached files, sorted.'],
  [
    108,
    'picture-look',
    'A part of the look of the picture of which a message consists; similar pictures share some.',
    'gated',
  ],
  [110, 'text', 'The whole visible text, as words without disguise.'],
  [111, 'text-letters', 'The whole text without blanks, so that gaps in words make no difference.'],
  [112, 'text-plain-part', 'The text/plain part of a message that also has an HTML part.'],
  [113, 'paragraph', 'A paragraph of five words or more.', 'gated'],
  [114, 'sentence', 'A sentence of five words or more.', 'gated'],
  [115, 'words', 'Five consecutive words; a sample that similar texts share.', 'gated'],
  [116, 'text-start', 'The first twelve words.', 'gated'],
  [117, 'text-end', 'The last twelve words.', 'gated'],
  [118, 'long-words', 'The ten longest words, sorted.', 'gated'],
  [120, 'html-structure', 'The names of the elements of the HTML part, in order.'],
  [121, 'html-start', 'The first forty elements of the HTML part.', 'gated'],
  [
    122,
    'html-counts',
    'The number of each element of the HTML part, rounded to powers of two.',
    'gated',
  ],
  [123, 'html-title', 'The title of the HTML part, without disguise.'],
  [124, 'html-comment', 'A comment in the HTML part.', 'gated'],
  [125, 'html-style-sheet', 'The style sheets of the HTML part, without blanks.', 'gated'],
  [130, 'reporter', 'The id of the reporter.'],
  [131, 'campaign', 'The id of the campaign.'],
  [132, 'sending-user', 'The login name of a user of the mail server who sends mail.'],
  [
    133,
    'sending-user-complaint',
    'The login name of a user about whose mail a recipient complained.',
  ],
  [134, 'sending-user-bounce', 'The login name of a user whose mail bounced.'],
  [135, 'sending-user-read', 'The login name of a user whose mail was read.'],
  [136, 'sent-to', 'A recipient of a user of the mail server.'],
  [137, 'origin-country', 'The country of the network of the origin.'],
] as const satisfies readonly Row[]

export type PieceName = (typeof rows)[number][1]

/** All types of pieces, by name. */
export const pieceTypes = Object.fromEntries(
  rows.map(([number, name, meaning]) => [name, { number, name, meaning }]),
) as Readonly<Record<PieceName, PieceType>>

export const gatedTypes: ReadonlySet<number> = new Set(
  rows.filter(([, , , admission]) => admission === 'gated').map(([number]) => number),
)
