import type { BounceReason } from '../reasons.ts'

/**
 * What Exchange Online and Outlook.com reply: Microsoft's pages on non-delivery reports and on
 * sending to Outlook.com have the words, and the classes are those that Sisimai's table of this
 * provider gives them.
 */
export const microsoftWords: readonly (readonly [RegExp, BounceReason])[] = [
  // Of a far server, in its own words after an arrow.
  [/unknown recipient or mailbox unavailable/, 'userunknown'],
  // The recipient.
  [/recipient address rejected: access denied\.? as\(/, 'userunknown'],
  [/5\.4\.1 \S{0,330} ?recipient address rejected: access denied/, 'userunknown'],
  [/recipient(?: \S{1,320})? not found|reserved by rfc 2606/, 'userunknown'],
  [/recipient addresses in single label domains|invalid x\.400 address/, 'userunknown'],
  [/requested action not taken: mailbox unavailable/, 'userunknown'],
  [/mailbox unavailable(?!\. your)/, 'userunknown'],
  [/5\.7\.504 .{0,340}access denied|banned recipient|mailbox cannot be accessed/, 'suspend'],
  [/domain is not reachable/, 'hostunknown'],
  // The sender.
  [/pass either spf or dkim|sender policy framework violation/, 'authfailure'],
  [/does not pass dmarc|required authentication level/, 'authfailure'],
  [/rate limited due to ip reputation/, 'badreputation'],
  [/5\.7\.50[123] access denied|bad outbound sender|unknown sender address/, 'rejected'],
  [/must be rfc 5322 section|sending from unregistered domains/, 'rejected'],
  [/sender not in allowed|sender (?:was |is )?not authenticated/, 'rejected'],
  [/sendernotauthenticatedfor/, 'rejected'],
  [/must have a reverse dns record|access denied, (?:bad helo|rejected by rec)/, 'blocked'],
  [/banned send(?:er|ing ip) ?\[|customer block list|on our block list/, 'blocked'],
  [/access denied, please try again later|accept email over ipv6/, 'blocked'],
  [/5\.7\.7\d\d access denied, (?:tenant|traffic)/, 'speeding'],
  // How much and how often.
  [/message receive limit|submission quota exceeded|exceeded permitted limits/, 'speeding'],
  [/daily limit for message recipients|recipient thread limit/, 'speeding'],
  [/exceeded the (?:rate|connection) limit|limits for how many messages/, 'speeding'],
  [/maximum number of connections|exceeded their limit for/, 'toomanyconn'],
  // The way and the message.
  [/5\.4\.310 dns domain \S{1,253} does not exist/, 'hostunknown'],
  [/relay access denied/, 'norelaying'],
  [/message expired|message delayed/, 'expired'],
  [/dns query failed|(?:4\.4|5\.4)\.31[2-6] .{0,40}connection refused/, 'networkerror'],
  [/connection dropped/, 'blocked'],
  [/4\.4\.1 .{0,60}connection timed out/, 'expired'],
  [/failed mta-sts validation|starttls is required to send/, 'failedstarttls'],
  [/header is too long|policy violation detected|5\.7\.9\d\d delivery not auth/, 'policyviolation'],
  [/server busy\. please try|agent busy|failed to be replicated/, 'systemerror'],
  [/misconfigured forwarding address|journaling on-premises/, 'systemerror'],
  [/content filter agent quarantined/, 'spamdetected'],
]
