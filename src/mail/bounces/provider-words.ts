import { googleWords } from './phrases/google-words.ts'
import { microsoftWords } from './phrases/microsoft-words.ts'
import type { BounceReason } from './reasons.ts'

type ProviderWords = {
  hosts: RegExp
  words: readonly (readonly [RegExp, BounceReason])[]
  /** Whether its reports quote far servers, whose words these are not. */
  isQuoting?: true
}

/**
 * What large providers mean by words that others use for something else, by the name of the host
 * that spoke or of the recipient's domain. Taken from their postmaster pages and replies.
 */
const providerWords: readonly ProviderWords[] = [
  {
    hosts: /(?:^|\.)(?:ezweb\.ne\.jp|au\.com)$/,
    words: [
      [/: user unknown(?<=>: user unknown)/, 'userunknown'],
      [/^[^<>]{0,20}: user unknown/, 'filtered'],
      [/recipients was rejected by a remote mail server/, 'filtered'],
    ],
  },
  {
    hosts: /(?:^|\.)messagelabs\.com$/,
    words: [[/no such user|^542 .{0,80} rejected/, 'userunknown']],
  },
  {
    hosts: /(?:^|\.)mimecast\.com$/,
    words: [
      [
        /host network,? not allowed|anti-spoofing policy|content examination policy/,
        'policyviolation',
      ],
      [/rejected due to security policies/, 'virusdetected'],
      [/maximum email size exceeded/, 'mesgtoobig'],
      [/(?:spf|dkim|dmarc) sender invalid/, 'authfailure'],
      [/ct ip reputation|internal resources are temporarily unavailable/, 'badreputation'],
      [/route requires|invalid for this certificate/, 'failedstarttls'],
      [/envelope (?:blocked|rejected)|manually blocked senders|blocked senders - /, 'rejected'],
      [/open relay (?:is )?not allowed/, 'norelaying'],
      [/unable to process|message ended early/, 'systemerror'],
      [/sender address blocked|temporarily blacklisted|recipient temporarily un/, 'blocked'],
      [/account inbounds disabled/, 'notaccept'],
      [/invalid (?:address|recipient)|user unknown/, 'userunknown'],
    ],
  },
  {
    hosts: /(?:^|\.)(?:icloud\.com|me\.com|apple\.com|mac\.com)$/,
    words: [
      [/inactive email address|user does not exist|unknown or illegal alias/, 'userunknown'],
      [/not accepting connections|rejected due to (?:listing|having a domain)/, 'blocked'],
      [/recipient no longer on server/, 'hasmoved'],
      [/due to local policy/, 'policyviolation'],
      [/due to excessive volume/, 'speeding'],
    ],
  },
  {
    // Said at the door, of whom the mail is from.
    hosts: /\.yahoodns\.net$/,
    words: [[/deferred due to unexpected volume .*\(in reply to mail from/, 'rejected']],
  },
  {
    hosts: /(?:^|\.)(?:yahoodns\.net|yahoo\.[a-z.]{2,6}|aol\.com)$/,
    words: [
      [/this user doesn't have an? |mailbox not found/, 'userunknown'],
      [/due to unexpected volume or user complaints/, 'badreputation'],
      [/is no longer valid|this mailbox is disabled/, 'suspend'],
      [/type=mx: malformed or unexpected name server reply/, 'notaccept'],
      [/unresolvable rfc\.5321 domain|permanently deferred/, 'rejected'],
    ],
  },
  {
    hosts: /(?:^|\.)(?:qq\.com|tencent\.com)$/,
    words: [
      [/suspected (?:bounce attacks|spam ip)|connection denied/, 'blocked'],
      [/suspected spam|rejected by recipients/, 'rejected'],
      [/frequency limited/, 'toomanyconn'],
      [/mailbox unavailable or access deni/, 'speeding'],
      [/mailbox not found/, 'userunknown'],
      [/bad address syntax/, 'syntaxerror'],
    ],
  },
  {
    hosts: /(?:^|\.)(?:hotmail|outlook|live|msn|office365)\.com$/,
    words: microsoftWords,
    isQuoting: true,
  },
  {
    hosts: /(?:^|\.)(?:google|gmail|googlemail)\.com$/,
    words: googleWords,
    isQuoting: true,
  },
  {
    hosts: /(?:^|\.)docomo\.ne\.jp$/,
    words: [
      [/552 too much mail data/, 'mailboxfull'],
      [/552 too many recipients/, 'toomanyconn'],
      // After DATA: a member's own list of whom not to take mail from.
      [/^550 unknown user .{1,400}\(in reply to end of data/, 'rejected'],
      [/bad sequence of commands|parameter not implemented/, 'syntaxerror'],
    ],
  },
]

/**
 * What a provider means by its words; undefined for other hosts and other words. `hosts`: the far
 * one, the recipient's domain and the one that reports, as far as they are known.
 */
export function reasonOfProviderWords(
  said: string,
  hosts: readonly string[],
): BounceReason | undefined {
  const [far = '', domain = '', reporting = ''] = hosts
  for (const host of [far, domain, reporting]) {
    const isQuoted = host === reporting && far !== '' && far !== host
    const known = providerWords.filter(
      (one) => one.hosts.test(host) && !(isQuoted && one.isQuoting),
    )
    const meant = known.flatMap(({ words }) => words).find(([form]) => form.test(said))
    if (meant !== undefined) return meant[1]
  }
  return undefined
}
