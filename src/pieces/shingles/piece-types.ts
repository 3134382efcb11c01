/**
 * Whether every piece of a type is counted (`exact`), or only pieces that were seen before
 * (`gated`). Pieces that are mostly new may have to pass the admission gate.
 */
export type Admission = 'exact' | 'gated'

/** A type of piece. */
export type PieceType = {
  /** Part of the hash and of stored data: its meaning never changes, and it is never reused. */
  number: number
  name: PieceName
  admission: Admission
  /** Meaning of the piece, as a sentence. */
  meaning: string
}

type Row = readonly [number: number, name: string, admission: Admission, meaning: string]

const rows = [
  [1, 'author-address', 'exact', 'The address in From, in lower case.'],
  [2, 'author-domain', 'exact', 'The domain of the address in From.'],
  [3, 'author-organization', 'exact', 'The registrable domain of the address in From.'],
  [4, 'author-local-part', 'gated', 'What stands before the @ in From, numbers folded.'],
  [5, 'author-name', 'exact', 'The display name in From, without disguise.'],
  [
    6,
    'author-name-and-organization',
    'exact',
    'The display name in From with the registrable domain it is shown with.',
  ],
  [7, 'reply-to-address', 'exact', 'The first address in Reply-To.'],
  [8, 'reply-to-domain', 'exact', 'The domain of the first address in Reply-To.'],
  [9, 'reply-to-organization', 'exact', 'The registrable domain of the first address in Reply-To.'],
  [
    10,
    'return-path-address',
    'exact',
    'The return path; numbers and tokens of single mails folded.',
  ],
  [11, 'return-path-domain', 'exact', 'The domain of the return path.'],
  [12, 'return-path-organization', 'exact', 'The registrable domain of the return path.'],
  [
    13,
    'return-path-shape',
    'gated',
    'How the local part of the return path is built: letters, digits and signs.',
  ],
  [14, 'sender-address', 'exact', 'The address in Sender.'],
  [15, 'sender-organization', 'exact', 'The registrable domain of the address in Sender.'],
  [16, 'claimed-signer-domain', 'exact', 'The d= of a DKIM signature that nobody has verified.'],
  [
    17,
    'claimed-signer-organization',
    'exact',
    'The registrable domain of a signature that nobody has verified.',
  ],
  [
    18,
    'claimed-signer-key',
    'exact',
    'The domain and selector of a signature that nobody has verified.',
  ],
  [19, 'claimed-signer-identity', 'exact', 'The i= of a DKIM signature that nobody has verified.'],
  [20, 'signer-domain', 'exact', 'The d= of a DKIM signature that was verified.'],
  [21, 'signer-organization', 'exact', 'The registrable domain of a signature that was verified.'],
  [22, 'signer-key', 'exact', 'The domain and selector of a signature that was verified.'],
  [23, 'list-id', 'exact', 'The identifier in List-Id.'],
  [24, 'list-organization', 'exact', 'The registrable domain of the identifier in List-Id.'],
  [25, 'feedback-id', 'exact', 'Feedback-ID: the campaign and the customer of a sending provider.'],
  [26, 'unsubscribe-host', 'exact', 'The host of a List-Unsubscribe link.'],
  [
    27,
    'unsubscribe-organization',
    'exact',
    'The registrable domain of a List-Unsubscribe link or mail address.',
  ],
  [28, 'recipient-domain', 'exact', 'The domain of the first address in To.'],
  [30, 'origin-ip', 'exact', 'The address the message came from.'],
  [31, 'origin-network', 'exact', 'The /24 the message came from, or the /48 for IPv6.'],
  [32, 'origin-as', 'exact', 'The autonomous system the message came from.'],
  [33, 'origin-rdns', 'exact', 'The name that the address it came from has in the DNS.'],
  [
    34,
    'origin-rdns-organization',
    'exact',
    'The registrable domain of the name of the origin in the DNS.',
  ],
  [35, 'origin-rdns-shape', 'gated', 'The name of the origin in the DNS, numbers folded.'],
  [36, 'origin-helo', 'exact', 'What the origin called itself.'],
  [
    37,
    'origin-helo-organization',
    'exact',
    'The registrable domain of what the origin called itself.',
  ],
  [38, 'origin-helo-shape', 'gated', 'What the origin called itself, numbers folded.'],
  [39, 'submitter-ip', 'exact', 'The address of the client behind the sending provider.'],
  [
    40,
    'submitter-network',
    'exact',
    'The /24 of the client behind the sending provider, or the /48 for IPv6.',
  ],
  [41, 'submitter-as', 'exact', 'The autonomous system of the client behind the sending provider.'],
  [42, 'submitter-helo', 'exact', 'What the client behind the sending provider called itself.'],
  [
    43,
    'claimed-ip',
    'exact',
    'The address in the lowest Received line, which anybody may have written.',
  ],
  [
    44,
    'claimed-ip-network',
    'exact',
    'The /24 of the address in the lowest Received line, or the /48 for IPv6.',
  ],
  [50, 'subject', 'exact', 'The whole subject, without disguise.'],
  [51, 'subject-template', 'exact', 'The subject without numbers, addresses and mixed tokens.'],
  [52, 'subject-words', 'gated', 'Three words of the subject that follow each other.'],
  [53, 'subject-start', 'gated', 'The first four words of the subject.'],
  [54, 'message-id-domain', 'exact', 'What stands after the @ of the Message-ID.'],
  [
    55,
    'message-id-organization',
    'exact',
    'The registrable domain of what stands after the @ of the Message-ID.',
  ],
  [56, 'message-id-shape', 'gated', 'How the Message-ID is built: letters, digits and signs.'],
  [57, 'mailer', 'exact', 'The program that wrote the message, as it says.'],
  [58, 'mailer-family', 'exact', 'The program that wrote the message, without its version.'],
  [59, 'header-order', 'gated', 'The names of the header fields below the trace, in order.'],
  [
    60,
    'header-names',
    'gated',
    'The names of the header fields below the trace, sorted, each once.',
  ],
  [
    61,
    'header-case',
    'gated',
    'How the names of the usual fields are spelled: Message-Id or Message-ID.',
  ],
  [62, 'charset', 'exact', 'The charset of the body and its transfer encoding.'],
  [
    63,
    'content-shape',
    'gated',
    'The media type with its parameters, values of boundaries folded.',
  ],
  [64, 'boundary-shape', 'gated', 'How the MIME boundary is built: letters, digits and signs.'],
  [65, 'date-zone', 'exact', 'The zone of the Date field, as written.'],
  [66, 'unusual-field', 'gated', 'The name of a header field that begins with X-.'],
  [70, 'link', 'exact', 'A link without disguise, redirectors and tracking.'],
  [71, 'link-path', 'exact', 'The host and path of a link.'],
  [72, 'link-pattern', 'gated', 'The path of a link without numbers and tokens, on any host.'],
  [73, 'link-host', 'exact', 'The host of a link.'],
  [74, 'link-organization', 'exact', 'The registrable domain of the host of a link.'],
  [75, 'link-ip', 'exact', 'The host of a link, when that is an address.'],
  [76, 'link-network', 'exact', 'The /24 or /48 of the address that a link leads to.'],
  [77, 'link-parameters', 'gated', 'The path pattern of a link with the names of its parameters.'],
  [78, 'redirector', 'exact', 'A host that a link was wrapped in.'],
  [79, 'form-organization', 'exact', 'Where a form in the message sends its fields.'],
  [80, 'link-set', 'exact', 'The registrable domains of all links, sorted.'],
  [81, 'image-link', 'exact', 'Where a picture is fetched from, with its path.'],
  [
    82,
    'image-link-organization',
    'exact',
    'The registrable domain that a picture is fetched from.',
  ],
  [90, 'telephone', 'exact', 'A telephone number in the text.'],
  [91, 'cryptocurrency-address', 'exact', 'An address to pay to whose checksum is right.'],
  [92, 'bank-account', 'exact', 'An IBAN whose check digits are right.'],
  [93, 'body-address', 'exact', 'A mail address in the text.'],
  [
    94,
    'body-address-organization',
    'exact',
    'The registrable domain of a mail address in the text.',
  ],
  [100, 'attachment', 'exact', 'The checksum of an attached file.'],
  [101, 'attachment-name', 'exact', 'The name of an attached file, without disguise.'],
  [
    102,
    'attachment-name-shape',
    'gated',
    'The name of an attached file without numbers and tokens.',
  ],
  [
    103,
    'attachment-extension',
    'exact',
    'What follows the last dot of the name of a file, with its media type.',
  ],
  [
    104,
    'attachment-type-and-size',
    'gated',
    'The media type and length in bytes of an attached file.',
  ],
  [105, 'image', 'exact', 'The checksum of an embedded picture.'],
  [
    106,
    'image-type-and-size',
    'gated',
    'The media type and length in bytes of an embedded picture.',
  ],
  [107, 'attachment-set', 'exact', 'The types of all attached files, sorted.'],
  [110, 'text', 'exact', 'The whole text that is shown, as words without disguise.'],
  [
    111,
    'text-letters',
    'exact',
    'The whole text without blanks, so that gaps in words make no difference.',
  ],
  [112, 'text-plain-part', 'exact', 'The text/plain part beside an HTML part.'],
  [113, 'paragraph', 'gated', 'A paragraph of five words or more.'],
  [114, 'sentence', 'gated', 'A sentence of five words or more.'],
  [115, 'words', 'gated', 'Five words that follow each other; a sample that neighbors share.'],
  [116, 'text-start', 'gated', 'The first twelve words.'],
  [117, 'text-end', 'gated', 'The last twelve words.'],
  [118, 'long-words', 'gated', 'The ten longest words, sorted.'],
  [120, 'html-structure', 'exact', 'The names of the elements of the HTML part, in order.'],
  [121, 'html-start', 'gated', 'The first forty elements of the HTML part.'],
  [
    122,
    'html-counts',
    'gated',
    'How many there are of each element of the HTML part, by powers of two.',
  ],
  [123, 'html-title', 'exact', 'The title of the HTML part, without disguise.'],
  [124, 'html-comment', 'gated', 'A comment in the HTML part.'],
  [125, 'html-style-sheet', 'gated', 'The style sheets of the HTML part, without blanks.'],
  [130, 'reporter', 'exact', 'The reporter, by their id.'],
  [131, 'campaign', 'exact', 'The campaign that the message is of, by its id.'],
] as const satisfies readonly Row[]

export type PieceName = (typeof rows)[number][1]

/** All types of pieces, by name. */
export const pieceTypes: Readonly<Record<PieceName, PieceType>> = Object.fromEntries(
  rows.map(([number, name, admission, meaning]) => [name, { number, name, admission, meaning }]),
) as Record<PieceName, PieceType>

/** The numbers of types that may have to pass the admission gate. */
export const gatedTypes: ReadonlySet<number> = new Set(
  rows.filter(([, , admission]) => admission === 'gated').map(([number]) => number),
)
