import type { BounceReason } from '../reasons.ts'

/**
 * What Gmail and Google Workspace reply: their help page on SMTP errors has the words, and the
 * classes are those that Sisimai's table of this provider gives them.
 */
export const googleWords: readonly (readonly [RegExp, BounceReason])[] = [
  // The sender's own proof.
  [/spf record of the sending domain|spf record with a hard fail/, 'authfailure'],
  [/authenticate (?:their email )?with (?:either )?(?:spf|dkim)|'s dmarc policy/, 'authfailure'],
  [/(?:dkim|spf authentication) (?:does not|did ?n[o']t) pass|pass authentic/, 'authfailure'],
  [/aligned with either the authenticated spf or dkim/, 'authfailure'],
  [/very low reputation of the sending/, 'badreputation'],
  [/not in whitelist for rcpt domain|try again later, closing connection/, 'blocked'],
  [/unusual rate of (?:unsolicited )?mail|(?:helo|ehlo) argument (?:is )?(?:not|inv)/, 'blocked'],
  [/ptr record|match the ip address of the hostname/, 'requireptr'],
  [/mail sending denied|unauthenticated email is not accepted/, 'rejected'],
  [/mail relay denied|credentials for relay|send email directly to our/, 'norelaying'],
  [/starttls (?:command first|may not be)|tls required for rcpt|to use tls\/ssl/, 'failedstarttls'],
  [/password (?:required|not accepted)|through your web browser|login attempts/, 'securityerror'],
  // How much and how often.
  [/message header size|header (?:size|name) limit|limit of \d+ attach/, 'exceedlimit'],
  [/individual header size/, 'exceedlimit'],
  [/google's message size limit/, 'mesgtoobig'],
  [/(?:relay|sending|user) (?:\S+ )?(?:limit|quota) exceeded/, 'speeding'],
  [/mail too quickly|rate that prevents|mail has been rate limited/, 'speeding'],
  [/(?:message has )?too many recipients/, 'toomanyconn'],
  [/over quota|out of storage space|email quota exceeded/, 'mailboxfull'],
  // The recipient.
  [/tried to reach does not exist|find the recipient domain/, 'userunknown'],
  [/address <?\S{0,320} is not a valid rfc 5321/, 'userunknown'],
  [/tried to reach is (?:disabled|inactive)/, 'suspend'],
  // The message.
  [/likely unsolicited mail|nature of the content or the links/, 'spamdetected'],
  [/illegal attachment|potential security issue/, 'policyviolation'],
  [/has a policy that prohibited/, 'policyviolation'],
  [/message exceeded \d+ hops/, 'networkerror'],
  [/valid message-id:? header|(?:from: header|from:) are not accepted/, 'notcompliantrfc'],
  // The session.
  [/smtp protocol violation|unauthenticated commands|goodbye\./, 'syntaxerror'],
  [/optional argument not permitted|(?:ehlo\/helo|mail|rcpt) first/, 'syntaxerror'],
  [/policy size per transaction|destination domains per trans/, 'systemerror'],
]
