import type { BounceReason } from './reasons.ts'

type CodeTable = { form: RegExp; meanings: Readonly<Record<string, BounceReason>> }

/**
 * Codes that large providers put into their replies and explain on their postmaster pages. Each
 * `form` matches lower-case text.
 */
const codeTables: readonly CodeTable[] = [
  // Orange, Wanadoo, La Poste and SFR.
  {
    form: /\b(?:lpn|lpnaaa|ofr|ouk|gu_eib)(?:\d{3})?[-_](\d{2,3})\b/,
    meanings: {
      ...meaning('blocked', '101 102 103 105 107 108 109 201 423 424 510 513 999 02 04'),
      ...meaning('rejected', '403 405 415 421'),
      ...meaning('securityerror', '305 402'),
      ...meaning('authfailure', '401 517'),
      ...meaning('suspend', '420 426'),
      '104': 'toomanyconn',
      '416': 'userunknown',
      '417': 'mailboxfull',
      '505': 'systemerror',
      '506': 'spamdetected',
      '514': 'mesgtoobig',
      '630': 'policyviolation',
    },
  },
  // Cox.
  {
    form: /\baup#([a-z0-9]{4,10})/,
    meanings: {
      ...meaning('blocked', 'cxbl cdrbl ipbl0001 ipbl0010 ipbl0100 ipbl0011 ipbl0101 ipbl0110'),
      ...meaning('blocked', 'ipbl0111 ipbl1000 ipbl1001 ipbl1010 ipbl1011 ipbl1100 ipbl1101'),
      ...meaning('blocked', 'ipbl1110 ipbl1111 ipbl00001'),
      ...meaning('spamdetected', 'urlbl011 urlbl101 urlbl110 urlbl1001'),
      ...meaning('toomanyconn', 'cxcnct cxmxrt'),
      ...meaning('securityerror', 'cxthrt cxmj'),
      cxdns: 'requireptr',
      cxsndr: 'authfailure',
      cxsmtp: 'rejected',
    },
  },
  // Spectrum, formerly Charter.
  {
    form: /\baup#[a-z]{0,4}-?(1\d{3})\b/,
    meanings: {
      ...meaning('blocked', '1000 1200 1210 1220 1230 1240 1250'),
      ...meaning('rejected', '1010 1020 1030 1040 1050 1060 1070 1080 1500 1520'),
      ...meaning('requireptr', '1100 1110 1120 1130 1140 1150'),
      ...meaning('policyviolation', '1160 1170 1180 1190 1560'),
      ...meaning('toomanyconn', '1300 1310 1320 1330 1340'),
      ...meaning('speeding', '1350 1360 1370 1380 1390 1400 1410 1420 1430 1440 1450 1460'),
      ...meaning('speeding', '1470 1480 1490 1540 1550 1580'),
      '1090': 'systemerror',
      '1260': 'networkerror',
      '1530': 'mesgtoobig',
    },
  },
  // GoDaddy.
  {
    form: /\s(ib\d{3})\b/,
    meanings: {
      ...meaning('blocked', 'ib104 ib105 ib106 ib110 ib111 ib112 ib113'),
      ...meaning('speeding', 'ib101 ib504 ib510 ib607'),
      ...meaning('toomanyconn', 'ib007 ib605'),
      ...meaning('notcompliantrfc', 'ib501 ib502'),
      ib103: 'badreputation',
      ib108: 'requireptr',
      ib212: 'spamdetected',
      ib401: 'securityerror',
      ib506: 'rejected',
      ib508: 'authfailure',
      ib705: 'virusdetected',
    },
  },
  // I.UA.
  {
    form: /\.i\.ua\/err\/(\d{1,2})\b/,
    meanings: {
      ...meaning('norelaying', '1 6'),
      ...meaning('blocked', '7 9'),
      '2': 'userunknown',
      '3': 'suspend',
      '4': 'mailboxfull',
      '5': 'toomanyconn',
      '8': 'rejected',
      '10': 'filtered',
    },
  },
  // Facebook.
  {
    form: /\b((?:pol|rcp|msg|int|con|dns)-[pt]\d)\b/,
    meanings: {
      ...meaning('blocked', 'pol-p1 pol-p2 pol-p3 pol-p4 pol-t1 pol-t2 pol-t3'),
      ...meaning('filtered', 'rcp-p2 rcp-p3'),
      ...meaning('userunknown', 'rcp-p1 int-p1 int-p3 int-p4'),
      ...meaning('mesgtoobig', 'msg-p1 int-p2'),
      ...meaning('toomanyconn', 'con-t1 con-t2 con-t3 con-t4 msg-t1'),
      ...meaning('rejected', 'dns-p1 dns-p2 dns-t1'),
      ...meaning('requireptr', 'dns-p3 dns-t2'),
      'msg-p2': 'contenterror',
      'msg-p3': 'notcompliantrfc',
      'pol-p5': 'virusdetected',
      'pol-p6': 'spamdetected',
      'pol-p7': 'authfailure',
      'rcp-t1': 'systemerror',
      'rcp-t4': 'suspend',
    },
  },
  // Exchange 5.5 to 2003, by the code of its message transfer agent.
  {
    form: /\bmsexch:[^()]{0,200}\(([0-9a-f]{8})\)/,
    meanings: {
      '000c05a6': 'userunknown',
      '000c0595': 'filtered',
      '00010256': 'systemerror',
      '000d06b5': 'systemerror',
      '00120270': 'networkerror',
      '00050311': 'contenterror',
      '000502cc': 'contenterror',
      '000b0981': 'securityerror',
    },
  },
  // Exchange 2007 and later, by the name of the component that failed.
  {
    form: /\b((?:smtpsend\.dns|resolver\.(?:adr|rst)|queue)\.\w{4,24})/,
    meanings: {
      'smtpsend.dns.nonexistentdomain': 'hostunknown',
      'smtpsend.dns.mxloopback': 'networkerror',
      'resolver.adr.badprimary': 'systemerror',
      'resolver.adr.recipnotfound': 'userunknown',
      'resolver.adr.recipientnotfound': 'userunknown',
      'resolver.adr.exrecipnotfound': 'userunknown',
      'resolver.adr.reciplimit': 'toomanyconn',
      'resolver.adr.invalidinsmtp': 'systemerror',
      'resolver.adr.ambiguous': 'systemerror',
      'resolver.rst.authrequired': 'securityerror',
      'resolver.rst.notauthorized': 'rejected',
      'resolver.rst.recipsizelimit': 'exceedlimit',
      'queue.expired': 'expired',
    },
  },
]

/**
 * The reason that a provider's own code in a reply means; undefined when there is no known code.
 */
export function reasonOfProviderCode(text: string): BounceReason | undefined {
  for (const { form, meanings } of codeTables) {
    const code = form.exec(text)?.[1]
    const reason = code === undefined ? undefined : meanings[code]
    if (reason !== undefined) return reason
  }
  return undefined
}

function meaning(reason: BounceReason, codes: string): Record<string, BounceReason> {
  return Object.fromEntries(codes.split(' ').map((code) => [code, reason]))
}
