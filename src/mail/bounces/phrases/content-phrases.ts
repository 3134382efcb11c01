import type { Phrases } from '../reasons.ts'

/** What is said of the message: spam, a virus, against a rule, badly made, too big. */
export const contentPhrases: Phrases = {
  mesgtoobig: [
    /(?:exceed\w*|max(?:imum)?) (?:\S+ ){0,3}(?:message|mail) size|line limit exceeded/,
    /message (?:file )?too (?:big|large for this )|message length exceeds|size limit/,
    /message size exceeds (?:fixed|maximum|the|your)|taille limite du message|line too long/,
  ],
  exceedlimit: [
    /message header size exceeds limit|message too large|message size exceeds recipient/,
    /(?:header (?:size|name)|attachments?) limits?|limit of \d* ?attachments/,
    /bytes per individual header|exceeds? [^.]{0,30}header (?:size|name) limit/,
  ],
  spamdetected: [
    / - spam\b|\/help_spam_16|reject, id=|(?:appears to be|likely) unsolicited|uribl/,
    /blacklisted (?:url|link) in message|block for spam|no spam please|blocked by spamassassin/,
    /detected (?:your message |your e-?mail )?as (?:a )?spam|(?:content|spam) filter reject/,
    /(?:considered|classified|identified|scored|rejected|marked) as (?:a )?(?:bulk|spam|uns)/,
    /unsolicited bulk|due to (?:suspected )?spam|(?:probability|percent probability) of (?:being )?spam/,
    /mail content denied|may consider spam|contains? spam|message content rejected/,
    /(?:looks|looked|seems?|appears|similar) (?:to be )?(?:like |a |to )?spam|spam-like/,
    /mailmarshal spamprofiler|seg spamprofiler|unacceptable content|message rejected for policy reasons/,
    /(?:possible|probable|probably|suspected) spam|thinks this e-?mail is spam|spam embedded/,
    /our system has detected that this message is|bulk\.advertising|rejected - bulk/,
    /rejecting (?:banned content|mail content)|sender domain listed at|spam filter/,
    /spam (?:blocked|check|content|detected|e-?mail|message|not accepted|refused|rejection|score)/,
    /spambouncer|spamming not allowed|too (?:many|much) spam|recurrent pattern detection/,
    /classification as bulk|(?:blocked|rejected) by (?:our|\S{1,60}) ?\(?(?:spam|filter)/,
    /(?:don't|dont|not) accept spam|is (?:considered )?spam\b|spam block|anti-?spam/,
    /temporarily blocked by our filter|spam points|spam \S{1,40} exceeded|is blacklisted on/,
    /greylisted[^.]{0,60}please try again in|content filter agent|mail flood of/,
    /nature of the content or the links/,
  ],
  virusdetected: [
    /potentially executable attachment|prohibited virus|(?:recent|contains?) (?:a )?virus/,
    /virus (?:detected|phishing|found)|infected (?:with|by)| - infected|malware (?:detected|found)/,
    /virus signature|malicious(?:_| )url/,
  ],
  policyviolation: [
    /illegal attachment|not accepting mail with |by non-member to|closed mailing list/,
    /(?:denied|rejected|blocked) by (?:\S+ ){0,3}policy|for policy reasons|local policy/,
    /security policies|headers? (?:are not accepted|error)|policy violation|protocol violation/,
    /due to organizational settings|message given low priority|multiple addresses/,
    /not subscribed to this group|organization policy|content presents a potential/,
    /not accept messages containing (?:images|attach)|you're using a mass mailer/,
    /without solving a captcha|policy that prohibit|attachment extension is forbidden/,
    /contravene\w* [^.]{0,40}policy|violates? (?:\S+ ){0,3}polic/,
  ],
  contenterror: [
    /header size exceeds|8-bit data in message header|recipient list, exceeds policy/,
    /mime complexity|too many "?received:?"? headers|improperly-formatted binary/,
    /invalid (?:mime headers|message content|characters)|unnecessary base64| - bad header/,
    /message depth exceeded|too many related errors|bare (?:lf|line ?feed)/,
    /conversion to internet format failed/,
  ],
  notcompliantrfc: [
    /(?:not|isn't) rfc[ -]?\d* ?(?:section \S+ )?compliant|rfcmessagenoncompliant/,
    /duplicate headers?|multiple (?:\S+ ){1,6}headers?|missing (?:a )?(?:valid )?\S{1,20} header/,
    /headers are not rfc compliant|disallowed header|encoded-word syntax|is malformed/,
    /addresses in from:|not a valid rfc 5321|missing a valid/,
  ],
}
