/**
 * The cases of the public suites that we parse differently, each with the reason. The test fails if
 * any other case differs, and also if one of these does not, so that the table cannot become
 * outdated.
 */
export const assertionsWeRefuse: Record<string, string> = {
  'spamassassin-rcvd_parser-4c64df5d':
    'The protocol and identifier are those of Exim, which writes a looked-up name before a bracket.',
  'stalwart-b80efd46':
    'Old Exim writes the HELO in parentheses and the reverse name before them; SpamAssassin agrees.',
  'stalwart-022a773b': 'The identifier has slashes; the suite stops at the first.',
  'stalwart-d7af3e81': 'The suite takes a zone given by its name, PST, for UTC.',
  'stalwart-ffef57ce': 'The year 03 is 2003 (RFC 5322, section 4.3); the suite says 1903.',
  'stalwart-ddfab52e': 'A date in the order of asctime; the suite parses the year as 1915.',
  'stalwart-47712abb': 'In "by alpha by uid 7791", the suite takes "uid" for the receiver.',
  'stalwart-693d477b': 'The suite drops seconds with a fraction.',
  'stalwart-6e281806': 'The word "from" is in a comment of qmail; the suite takes it for a peer.',
  'stalwart-4c371bd8': 'The word "from" is in a comment of Postfix: a user id, not a peer.',
  'zbateson-from-clause-d76e65fa':
    'The text after "helo=" is the HELO, as in Exim and in other suites.',
}

/** Real lines of the corpus for which we reject the result of SpamAssassin 4.0.1, and why. */
export const outputWeRefuse: Record<string, string> = {
  'real-lines-a8076999': 'ZMailer writes the name it looked up before the bracket.',
  'real-lines-82558498': 'ZMailer writes the name it looked up before the bracket.',
  'real-lines-226c35f2': 'ZMailer writes the name it looked up before the bracket.',
  'real-lines-3edaad5b': 'Exim under another name, by its identifier, so the name was looked up.',
  'real-lines-a428a90a': 'Exim, by its identifier, so the name was looked up.',
  'real-lines-4f02307a': 'Exim, by its identifier, so the name was looked up.',
  'real-lines-0b7e52aa':
    'Old Exim writes the HELO in parentheses, as another case of the suite confirms.',
  'real-lines-c8992aea': 'SpamAssassin replaces a number sign in the return path.',
  'real-lines-c9f2a11e': 'SpamAssassin takes a comment for a part of the receiver.',
  'real-lines-dd0999ac': 'We drop the final dot of a host name.',
  'real-lines-02d05bd3':
    'Mail by HTTP from a browser is a submission; SpamAssassin expects HTTP elsewhere.',
  'real-lines-0b5549c1': 'Sendmail marks the name of the user with "IDENT:"; it is not part of it.',
  'real-lines-66a9d19e': 'SpamAssassin ignores the line, although it has the address of a client.',
  'real-lines-78077800': 'The comment says that the user logged in, and how.',
  'real-lines-50985852': 'Encryption alone does not prove who a client of Gmail is.',
  'real-lines-44a3610b': 'Encryption alone does not prove who a client of Gmail is.',
  'real-lines-fb6ee161': 'Nothing in the line says that the user logged in.',
  'real-lines-579e1b23': 'A name that may be forged is kept separate, as in the other lines.',
  'real-lines-3d0d6e43': 'SpamAssassin takes a HELO that looks like an address for the peer.',
  'real-lines-a7dbac42': 'SpamAssassin takes a HELO that looks like an address for the peer.',
  'real-lines-7acb6239': 'The address behind a proxy is only a claim of the proxy.',
  'real-lines-8b7e7436': 'The word "unverified" is not a name.',
  'real-lines-9a013459': 'The word "unverified" is not a name.',
  'spamassassin-comment-samples-0db36326': 'The word "nodnsquery" is not a name.',
  'real-lines-43beecc6': 'SpamAssassin ignores the line, although it has the address of a client.',
  'real-lines-37f77957': 'SpamAssassin ignores the line, although it has the address of a client.',
  'spamassassin-comment-samples-adadff8e':
    'SpamAssassin ignores the line because of its private address, which the line really contains.',
  'real-lines-3a68ba8d':
    'The text after "id" is the identifier, although Exchange writes its version there.',
  'spamassassin-comment-samples-e2cff788':
    'The text after "id" is the identifier, although Exchange writes its version there.',
}
