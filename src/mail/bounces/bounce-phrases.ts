/** Why mail came back, in the words bounce readers share. */
export type BounceReason =
  | 'authfailure'
  | 'badreputation'
  | 'blocked'
  | 'contenterror'
  | 'delivered'
  | 'exceedlimit'
  | 'expired'
  | 'failedstarttls'
  | 'filtered'
  | 'hasmoved'
  | 'hostunknown'
  | 'mailboxfull'
  | 'mailererror'
  | 'mesgtoobig'
  | 'networkerror'
  | 'norelaying'
  | 'notaccept'
  | 'notcompliantrfc'
  | 'onhold'
  | 'policyviolation'
  | 'rejected'
  | 'requireptr'
  | 'securityerror'
  | 'spamdetected'
  | 'suspend'
  | 'syntaxerror'
  | 'systemerror'
  | 'systemfull'
  | 'toomanyconn'
  | 'undefined'
  | 'userunknown'
  | 'virusdetected'

/**
 * What mail systems say when they refuse or give up, in lower case, by what it means. The first
 * that fits wins: what names a cause comes before what only names an effect.
 */
export const bouncePhrases: readonly (readonly [BounceReason, readonly RegExp[]])[] = [
  ['virusdetected', [/virus|malware|infected|trojan/]],
  [
    'mesgtoobig',
    [
      /(?:message|mail|size).{0,40}(?:too (?:big|large)|exceed.{0,30}(?:size|limit))/,
      /message size exceeds|line too long/,
    ],
  ],
  ['failedstarttls', [/starttls|must issue a.{0,10}tls/]],
  [
    'requireptr',
    [
      /reverse dns|rdns|\bptr\b|reverse (?:lookup|hostname|mapping)/,
      /cannot find your (?:reverse )?hostname/,
      /ip address (?:is not|without).{0,20}(?:resolve|name)|no (?:ptr|reverse)/,
    ],
  ],
  [
    'authfailure',
    [
      /\b(?:spf|dkim|dmarc)\b|unauthenticated/,
      /(?:not|fail).{0,20}sender (?:policy|authentication)|authentication checks/,
    ],
  ],
  [
    'toomanyconn',
    [
      /too many (?:concurrent |simultaneous )?(?:smtp )?(?:connections|sessions)/,
      /connection (?:rate|frequency) limit|exceeded.{0,30}connection/,
    ],
  ],
  ['badreputation', [/reputation/]],
  [
    'mailboxfull',
    [
      near(['mailbox|inbox|account|maildir|mail box|mail file|user|recipient'], '[^.]{0,60}', [
        String.raw`\bfull\b|over[ -]?quota|exceeded|out of (?:disk )?(?:space|storage)|quota`,
        'size limit',
      ]),
      /(?:over|exceed(?:s|ed|ing)?)[^.]{0,30}(?:disk )?(?:quota|storage)/,
      /quota[^.]{0,20}(?:exceed|full|violat)|not enough (?:storage|disk) space|overquota/,
      /insufficient (?:disk|storage) space for/,
    ],
  ],
  [
    'norelaying',
    [
      /relay(?:ing)? (?:access |is |not |operation )?(?:denied|prohibited|permitted|allowed)/,
      /not (?:allowed|permitted) to relay|unable to relay|relaying denied/,
      /insecure mail relay/,
    ],
  ],
  [
    'blocked',
    [
      /blacklist|black list|block ?list|\brbl\b|dnsbl|spamhaus|spamcop|barracudacentral/,
      near(['ip|client host|host|address|connection|mail from|sender ip'], '[^.]{0,60}', [
        'blocked|banned|denied|refused by|rejected due',
      ]),
      /blocked using|access (?:from|for).{0,40}denied|bad (?:dns|helo)/,
      /helo command rejected|invalid helo|not allowed to (?:send|connect)/,
    ],
  ],
  ['spamdetected', [/spam|junk mail|unsolicited|\bube\b|\buce\b|bulk mail/]],
  [
    'hasmoved',
    [
      /(?:has|have) moved|address (?:has )?changed|no longer.{0,40}new address/,
      /recipient .{0,30}has been replaced|new address/,
    ],
  ],
  [
    'suspend',
    [
      near(['account|mailbox|user|recipient|address'], '[^.]{0,60}', [
        'disabled|suspended|inactive|deactivated|locked|not active|on hold|frozen',
        'expired',
      ]),
      near(['disabled|inactive|suspended|deactivated'], '[^.]{0,30}', [
        'account|mailbox|user|recipient|address',
      ]),
      /temporarily locked|out of service/,
    ],
  ],
  [
    'hostunknown',
    [
      /host (?:name )?(?:is )?(?:unknown|not found)|unknown host/,
      near(['domain|host'], '[^.]{0,60}', [
        "(?:does|do) ?n[o']t exist|not found|no such|nonexistent|unrouteable|invalid",
      ]),
      /no such (?:domain|host)|unrouteable (?:mail )?domain|nxdomain/,
      /name or service not known|domain (?:is|must) .{0,20}(?:resolve|unknown)|illegal host/,
      /bad destination (?:host|system)|dns name .{0,20}not|recipient domain/,
    ],
  ],
  [
    'notaccept',
    [
      /(?:does not|doesn't|not) (?:accept|receive)(?:ing)? (?:any )?(?:mail|email|messages)/,
      /null ?mx|smtp protocol returned a permanent|no mail(?:box)? accepted/,
      /mail receiving disabled/,
    ],
  ],
  [
    'userunknown',
    [
      near(
        ['user|mailbox|recipient|address|account|alias|person|member|login|id|inbox'],
        '[^.]{0,80}',
        [
          'unknown',
          'not (?:be )?(?:found|exist|known|valid|listed|available|here|recogni[sz]ed|a known)',
          "(?:does|do|did)(?: not|n't|nt) (?:exist|have|appear)",
          "(?:isn't|is not) (?:a |known|found)|invalid|no longer|unavailable",
          "undeliverable|unrouteable|nonexist|non-exist|not our|couldn't",
        ],
      ),
      near(
        ['unknown|no such|invalid|non-?existent|not a (?:valid|known|local)|no|bad', 'undefined'],
        ' (?:local )?',
        [
          'user|mailbox|recipient|address|account|alias|person|local.?part|subscriber',
          'destination mailbox',
        ],
      ),
      /unrouteable address|no one (?:here|by that)|user (?:is )?(?:unknown|missing)/,
      /delivery to the following recipients failed|vdeliver: invalid|listed in domino/,
    ],
  ],
  [
    'policyviolation',
    [
      /polic(?:y|ies)|prohibited|not allowed by/,
      /message (?:content )?(?:rejected|refused) (?:by|due to|for) (?:policy|rule)/,
      /too many (?:recipients|.{0,20}received)|header.{0,30}(?:rejected|not allowed)/,
      /duplicate header|attachment/,
    ],
  ],
  [
    'notcompliantrfc',
    [
      /rfc ?\d{4}|not (?:rfc )?compliant|non-?compliant|multiple .{0,30}headers/,
      /missing .{0,20}header/,
    ],
  ],
  [
    'rejected',
    [
      /sender[^.]{0,60}(?:rejected|denied|refused|invalid|verif|does not|not exist|blocked)/,
      /(?:rejected|refused|denied|invalid|bad)[^.]{0,30}sender|domain of sender/,
      /mail from[^.]{0,60}(?:rejected|refused|denied|not|must)|sender (?:address|domain)/,
      /bad address syntax/,
    ],
  ],
  [
    'systemfull',
    [
      /mail system full|no space left|insufficient system storage|disk full/,
      /not enough (?:disk|space)/,
    ],
  ],
  [
    'networkerror',
    [
      /(?:mail|forwarding) loop|loops? back|too many hops|hop count|no route to host/,
      /network (?:is )?unreachable|dns (?:error|lookup|server)/,
      /malformed or unexpected name server|name ?server|unable to resolve/,
      /host .{0,30}(?:unreachable|is not reachable)|can't create.{0,20}socket|local address/,
    ],
  ],
  [
    'expired',
    [
      near(['delivery|message|queue|connection'], '[^.]{0,60}', [
        'timed? ?out|expired|too long|delayed|attempts?',
      ]),
      /timed? ?out|could not be delivered for|retry time|connection (?:refused|timed)/,
      /(?:has|have) been (?:in the queue|undelivered)|not (?:yet )?been delivered/,
      /lost connection|been retried|undelivered for|will keep trying/,
      /was not reachable within|greylist|try again later|giving up/,
    ],
  ],
  [
    'filtered',
    [
      near(['recipient|user|mailbox'], '[^.]{0,40}', [
        'refus|reject|filter|not accept|only accept|does not wish',
      ]),
      /because the recipient|filtered|not accepting (?:mail|messages) from/,
      /permission denied|due to extended inactivity|user reject/,
    ],
  ],
  [
    'securityerror',
    [/authenticat(?:ion|ed)|security|encrypt|\btls\b|certificate|login|password|authoriz/],
  ],
  [
    'contenterror',
    [/content|mime|charset|8-?bit|base64|malformed|unacceptable (?:header|message)/],
  ],
  ['exceedlimit', [/exceed.{0,40}(?:limit|max)/]],
  [
    'syntaxerror',
    [/syntax|command (?:not|unrec|unknown)|unrecognized command|bad sequence|pipelin/],
  ],
  [
    'mailererror',
    [
      /mailer|exit (?:status|value|code)|command (?:died|failed|output)|x-unix|program/,
      /procmail|returned (?:status )?code|pipe to|signal/,
    ],
  ],
  [
    'systemerror',
    [
      /system|configuration|local error|internal|i\/o error|resource|temporar(?:y|ily)/,
      /server error/,
    ],
  ],
  ['onhold', [/on hold|suspended|pending/]],
]

/** One of the first, a gap, then one of the second. */
function near(first: readonly string[], gap: string, second: readonly string[]): RegExp {
  return new RegExp(`(?:${first.join('|')})${gap}(?:${second.join('|')})`)
}
