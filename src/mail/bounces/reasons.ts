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
  | 'feedback'
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
  | 'speeding'
  | 'suppressed'
  | 'suspend'
  | 'syntaxerror'
  | 'systemerror'
  | 'systemfull'
  | 'toomanyconn'
  | 'undefined'
  | 'userunknown'
  | 'virusdetected'

/**
 * What mail systems say, by what it means: forms of lower-case text whose white space is single
 * blanks. Every gap in them is bounded, so that looking for them takes linear time.
 */
export type Phrases = Partial<Record<BounceReason, readonly RegExp[]>>
