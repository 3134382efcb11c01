import type { PieceName } from './piece-types.ts'

/**
 * A type of pair: two pieces of one message, one of which is the counted piece. The unique counter
 * of the counted piece is the number of different other pieces with which it was seen; it rises
 * when a pair is seen for the first time in a period. Pairs and unique counters are exact.
 */
export type PairType = {
  /**
   * Permanent: the meaning of a number never changes, and a number is never reused. Distinct from
   * the numbers of piece types.
   */
  number: number
  name: string
  /** The type of the counted piece, whose unique counter rises. */
  counted: PieceName
  unique: PieceName
  /** Meaning of the unique counter, as a sentence. */
  meaning: string
}

type Row = readonly [
  number: number,
  name: string,
  counted: PieceName,
  unique: PieceName,
  meaning: string,
]

const rows = [
  [
    150,
    'author-recipients',
    'author-address',
    'recipient-domain',
    'How many domains an author writes to.',
  ],
  [151, 'author-ips', 'author-address', 'origin-ip', 'How many addresses an author writes from.'],
  [
    152,
    'organization-networks',
    'author-organization',
    'origin-network',
    'How many networks a domain writes from.',
  ],
  [
    153,
    'organization-authors',
    'author-organization',
    'author-address',
    'How many authors a domain has.',
  ],
  [
    154,
    'ip-organizations',
    'origin-ip',
    'author-organization',
    'How many domains an address writes for.',
  ],
  [155, 'ip-subjects', 'origin-ip', 'subject-template', 'How many subjects come from an address.'],
  [156, 'network-ips', 'origin-network', 'origin-ip', 'How many addresses of a network send mail.'],
  [
    157,
    'network-organizations',
    'origin-network',
    'author-organization',
    'How many domains a network writes for.',
  ],
  [
    158,
    'subject-organizations',
    'subject-template',
    'author-organization',
    'How many domains use a subject.',
  ],
  [
    159,
    'subject-networks',
    'subject-template',
    'origin-network',
    'From how many networks a subject comes.',
  ],
  [160, 'text-authors', 'text', 'author-address', 'How many authors send a text.'],
  [161, 'text-networks', 'text', 'origin-network', 'From how many networks a text comes.'],
  [162, 'text-links', 'text', 'link-organization', 'How many link domains occur with a text.'],
  [
    163,
    'link-authors',
    'link-organization',
    'author-organization',
    'How many domains send links to a link domain.',
  ],
  [
    164,
    'link-networks',
    'link-organization',
    'origin-network',
    'From how many networks a link domain comes.',
  ],
  [165, 'link-hosts', 'link-organization', 'link-host', 'How many hosts a link domain has.'],
  [
    166,
    'link-paths',
    'link-organization',
    'link-path',
    'How many pages of a link domain occur in links.',
  ],
  [
    167,
    'name-organizations',
    'author-name',
    'author-organization',
    'How many domains use a display name.',
  ],
  [168, 'attachment-authors', 'attachment', 'author-organization', 'How many domains send a file.'],
  [
    169,
    'telephone-authors',
    'telephone',
    'author-organization',
    'How many domains send a telephone number.',
  ],
  [
    170,
    'payment-authors',
    'cryptocurrency-address',
    'author-organization',
    'How many domains send a payment address.',
  ],
  [
    171,
    'reply-to-authors',
    'reply-to-address',
    'author-address',
    'How many authors request replies to an address.',
  ],
  [
    172,
    'signer-authors',
    'signer-organization',
    'author-organization',
    'How many domains a signer signs for.',
  ],
  [
    173,
    'structure-organizations',
    'html-structure',
    'author-organization',
    'How many domains use a structure.',
  ],
  [
    174,
    'body-address-authors',
    'body-address',
    'author-organization',
    'How many domains send a mail address in a text.',
  ],
  [
    180,
    'author-reporters',
    'author-address',
    'reporter',
    'How many reporters an author has (checked mail: recipients).',
  ],
  [
    181,
    'organization-reporters',
    'author-organization',
    'reporter',
    'How many reporters a domain has.',
  ],
  [182, 'ip-reporters', 'origin-ip', 'reporter', 'How many reporters an address has.'],
  [183, 'network-reporters', 'origin-network', 'reporter', 'How many reporters a network has.'],
  [184, 'as-reporters', 'origin-as', 'reporter', 'How many reporters an autonomous system has.'],
  [
    185,
    'link-reporters',
    'link-organization',
    'reporter',
    'How many reporters a link domain has (checked mail: recipients).',
  ],
  [
    186,
    'text-reporters',
    'text',
    'reporter',
    'How many reporters a text has (checked mail: recipients).',
  ],
  [187, 'subject-reporters', 'subject-template', 'reporter', 'How many reporters a subject has.'],
  [188, 'list-reporters', 'list-id', 'reporter', 'How many reporters a list has.'],
  [189, 'signer-reporters', 'signer-organization', 'reporter', 'How many reporters a signer has.'],
  [190, 'attachment-reporters', 'attachment', 'reporter', 'How many reporters a file has.'],
  [
    191,
    'telephone-reporters',
    'telephone',
    'reporter',
    'How many reporters a telephone number has.',
  ],
  [
    192,
    'reporter-authors',
    'reporter',
    'author-organization',
    'How many domains a reporter complains about.',
  ],
  [193, 'reporter-texts', 'reporter', 'text', 'How many texts a reporter sends in.'],
  [
    194,
    'as-ips',
    'origin-as',
    'origin-ip',
    'How many addresses of an autonomous system send mail.',
  ],
  [
    195,
    'campaign-reporters',
    'campaign',
    'reporter',
    'How many reporters a campaign has (checked mail: recipients).',
  ],
  [
    196,
    'campaign-networks',
    'campaign',
    'origin-network',
    'From how many networks a campaign comes.',
  ],
  [197, 'campaign-authors', 'campaign', 'author-address', 'How many authors a campaign has.'],
  [198, 'user-recipients', 'sending-user', 'sent-to', 'How many recipients a user writes to.'],
  [
    199,
    'user-complainers',
    'sending-user-complaint',
    'sent-to',
    'How many recipients complained about a user.',
  ],
  [
    200,
    'user-bounces',
    'sending-user-bounce',
    'sent-to',
    'For how many recipients mail of a user bounced.',
  ],
  [201, 'user-readers', 'sending-user-read', 'sent-to', 'How many recipients read mail of a user.'],
  [202, 'ip-signers', 'origin-ip', 'signer-organization', 'How many domains sign its mail.'],
  [203, 'ip-lists', 'origin-ip', 'list-id', 'How many mailing lists an address sends for.'],
  [
    204,
    'ip-line-names',
    'origin-ip',
    'origin-line-name',
    'How many names of a subscriber line an address has.',
  ],
  [
    205,
    'author-networks',
    'author-address',
    'origin-network',
    'From how many networks an author writes.',
  ],
  [
    206,
    'author-countries',
    'author-address',
    'origin-country',
    'From how many countries an author writes.',
  ],
  [
    207,
    'link-countries',
    'link-organization',
    'origin-country',
    'From how many countries a link domain comes.',
  ],
  [208, 'text-countries', 'text', 'origin-country', 'From how many countries a text comes.'],
  [
    209,
    'campaign-countries',
    'campaign',
    'origin-country',
    'From how many countries a campaign comes.',
  ],
] as const satisfies readonly Row[]

export const pairTypes: readonly PairType[] = rows.map(
  ([number, name, counted, unique, meaning]) => ({ number, name, counted, unique, meaning }),
)
