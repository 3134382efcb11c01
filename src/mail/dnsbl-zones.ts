import type { BlacklistZone, Listing, ZoneMeaning } from './dnsbl.ts'

/**
 * Lists that are known well, by their zone, as their operators document them (seen 2026-11). None
 * is asked unless the settings name it: each has terms of use, and most refuse those who ask
 * through a public resolver.
 */
export const knownZones: readonly BlacklistZone[] = [
  { zone: 'zen.spamhaus.org', lists: 'addresses', answers: [...sbl(), ...xbl(), ...pbl()] },
  { zone: 'sbl.spamhaus.org', lists: 'addresses', answers: sbl() },
  { zone: 'xbl.spamhaus.org', lists: 'addresses', answers: xbl() },
  { zone: 'pbl.spamhaus.org', lists: 'addresses', answers: pbl() },
  {
    zone: 'dbl.spamhaus.org',
    lists: 'domains',
    takesWholeNames: true,
    testDomain: 'dbltest.com',
    refusals: ['127.0.1.255'],
    answers: [
      means('127.0.1.2', 'spam', 'A domain of low reputation.'),
      means('127.0.1.4', 'phishing', 'A phishing domain.'),
      means('127.0.1.5', 'malware', 'A domain that spreads malware.'),
      means('127.0.1.6', 'malware', 'A domain that commands a botnet.'),
      means('127.0.1.102', 'compromised', 'A legitimate domain, abused for spam.'),
      means('127.0.1.103', 'compromised', 'A redirector, abused for spam.'),
      means('127.0.1.104', 'phishing', 'A legitimate domain, abused for phishing.'),
      means('127.0.1.105', 'malware', 'A legitimate domain, abused to spread malware.'),
      means('127.0.1.106', 'malware', 'A legitimate domain, abused to command a botnet.'),
    ],
  },
  {
    zone: 'multi.surbl.org',
    lists: 'domains',
    testDomain: 'surbl-org-permanent-test-point.com',
    refusals: ['127.0.0.1'],
    answers: [
      means(8, 'phishing', 'Links to it stand in phishing mail.'),
      means(16, 'malware', 'Links to it lead to malware.'),
      means(64, 'spam', 'Links to it stand in spam.'),
      means(128, 'compromised', 'A cracked site: links to it stand in spam.'),
    ],
  },
  {
    zone: 'multi.uribl.com',
    lists: 'domains',
    testDomain: 'test.uribl.com',
    refusals: ['127.0.0.1'],
    answers: [
      means(2, 'spam', 'A domain of spammers.'),
      means(4, 'other', 'Stands in bulk mail, some of it wanted.'),
      means(8, 'other', 'A new or hidden domain that begins to stand in mail.'),
    ],
  },
  plain('bl.spamcop.net', 'Its users reported spam from here.'),
  plain('b.barracudacentral.org', 'Sends spam to its customers or traps.'),
  plain('psbl.surriel.com', 'Sent mail to a spam trap.'),
  plain('dnsbl-1.uceprotect.net', 'Sent mail to spam traps in the last seven days.'),
  {
    zone: 'dnsbl.dronebl.org',
    lists: 'addresses',
    answers: [
      means('127.0.0.2', 'other', 'A sample entry.'),
      means('any', 'compromised', 'A drone, an open proxy or an attacker.'),
    ],
  },
  {
    zone: 'list.dnswl.org',
    lists: 'addresses',
    refusals: ['127.0.0.255'],
    answers: [
      means('127.0.*.0', 'other', 'A known mail server, trusted no further.'),
      means('127.0.*.1', 'other', 'A known mail server that seldom sends spam.'),
      means('127.0.*.2', 'welcome', 'A mail server that hardly ever sends spam.'),
      means('127.0.*.3', 'welcome', 'A mail server that never sends spam.'),
    ],
  },
]

function sbl(): ZoneMeaning[] {
  return [
    means('127.0.0.2', 'spam', 'SBL: spam sources and those who serve spammers.'),
    means('127.0.0.3', 'spam', 'CSS: sends spam of low reputation.'),
    means('127.0.0.9', 'spam', 'DROP: a network run by criminals.'),
    means('127.0.0.30', 'malware', 'BCL: commands a botnet.'),
  ]
}

function xbl(): ZoneMeaning[] {
  return ['4', '5', '6', '7'].map((last) =>
    means(`127.0.0.${last}`, 'compromised', 'XBL: infected, or taken over.'),
  )
}

function pbl(): ZoneMeaning[] {
  return ['10', '11'].map((last) =>
    means(`127.0.0.${last}`, 'dynamic', 'PBL: should not send mail by itself.'),
  )
}

function plain(zone: string, meaning: string): BlacklistZone {
  return { zone, lists: 'addresses', answers: [means('any', 'spam', meaning)] }
}

function means(
  match: ZoneMeaning['match'],
  category: Listing['category'],
  meaning: string,
): ZoneMeaning {
  return { match, category, meaning }
}
