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
    /bytes per individual header|exceeds? (?:[^.]|\.\b){0,30}header (?:size|name) limit/,
  ],
  spamdetected: [
    // How sure the filter is.
    /(?:mail|message) looks like (?:junk|spam)|(?:appears to be|likely) unsolicited/,
    /detected (?:your message |your e-?mail )?as (?:a )?spam/,
    /(?:considered|classified|identified|scored|rejected|marked) as (?:a )?(?:bulk|spam|uns)/,
    /(?:probability|percent probability) of (?:being )?spam|may consider spam/,
    /(?:looks|looked|seems?|appears|similar) (?:to be )?(?:like |a |to )?spam|spam-like/,
    /(?:possible|probable|probably|suspected) spam/,
    /spam (?:blocked|check|content|detected|e-?mail|message|not accepted|refused|rejection|score)/,
    /is (?:considered )?spam\b|spam points|spam \S{1,40} exceeded/,
    // What it calls the mail.
    /unsolicited bulk|bulk\.advertising|rejected - bulk|classification as bulk|mail flood of/,
    // Where it looked.
    /uribl|blacklisted (?:url|link) in message|(?:content|spam) filter reject|mail content denied/,
    /message content rejected|unacceptable content|rejecting (?:banned content|mail content)/,
    /sender domain listed at|recurrent pattern detection|is blacklisted on/,
    /greylisted(?:[^.]|\.\b){0,60}please try again in|content filter agent/,
    /nature of the content or the links/,
    // Its name.
    /\/help_spam_16|reject, id=|(?:blocked|rejected) by spamassassin|mailmarshal spamprofiler/,
    /seg spamprofiler|thinks this e-?mail is spam|spam filter|spambouncer/,
    /(?:blocked|rejected) by (?:our|\S{1,60}) ?\(?(?:spam(?!haus|cop)|filter)/,
    /temporarily blocked by our filter/,
    // That it takes none.
    /message refused[;:] spam| - spam\b|block for spam|no spam please|due to (?:suspected )?spam/,
    /contains? spam|message rejected for policy reasons|spam embedded/,
    /our system has detected that this message is|spamming not allowed|too (?:many|much) spam\b/,
    /(?:don't|dont|not) accept spam|spam block|anti-?spam/,
  ],
  virusdetected: [
    /potentially executable attachment|prohibited virus|(?:recent|contains?) (?:a )?virus/,
    /virus (?:detected|phishing|found)|infected (?:with|by)| - infected|malware (?:detected|found)/,
    /contains malware|^5\d\d virus\b/,
    /virus signature|malicious(?:_| )url/,
  ],
  policyviolation: [
    /illegal attachment|attachment type (?:is )?not allowed|not accepting mail with /,
    /by non-member to|closed mailing list/,
    /(?:denied|rejected|blocked) by (?:\S+ ){0,3}policy|for policy reasons|local policy/,
    /security policies|headers? (?:are not accepted|error)|policy violation|protocol violation/,
    /due to organizational settings|message given low priority|multiple addresses/,
    /not subscribed to this group|organization policy|content presents a potential/,
    /not accept messages containing (?:images|attach)|you're using a mass mailer/,
    /without solving a captcha|policy that prohibit|attachment extension is forbidden/,
    /contravene\w* (?:[^.]|\.\b){0,40}policy|violates? (?:\S+ ){0,3}polic/,
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
