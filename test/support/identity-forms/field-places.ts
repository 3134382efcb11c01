import type { Draft, Place } from './draft.ts'
import type { Category } from './identities.ts'
import type { Medium } from './way.ts'

/** Fields with free text; `{}` is the text. A field of a usual name replaces the usual one. */
const freeFields: readonly string[] = [
  'From: "{}" <offers@spam.test>',
  'From: offers@spam.test ({})',
  'Reply-To: {} <reply@spam.test>',
  'Sender: {} <sender@spam.test>',
  'Resent-From: {} <sender@spam.test>',
  'Resent-To: {} <someone@spam.test>',
  'Bcc: {} <someone@spam.test>',
  'Apparently-To: {}',
  'X-Envelope-To: {}',
  'X-Rcpt-To: {}',
  'X-Forwarded-To: {}',
  'X-Forwarded-For: {} offers@spam.test',
  'Original-Recipient: rfc822;{}',
  'Disposition-Notification-To: {} <sender@spam.test>',
  'Return-Receipt-To: {}',
  'Errors-To: {}',
  'Subject: {}',
  'Subject: Your parcel for {}, please answer',
  'Subject: {} - your parcel',
  'Subject: =?utf-8?q?Re:?= Dear {}!',
  'Thread-Topic: Order of {}',
  'Comments: for {}',
  'Keywords: pills, {}',
  'Organization: {}',
  'Content-Description: letter to {}',
  'Content-Location: letter/{}',
  'Content-Language: en-{}',
  'Date: Sun, 22 Nov 2026 14:58:00 +0000 ({})',
  'MIME-Version: 1.0 ({})',
  'X-Mailer: PHPMailer 6 ({})',
  'User-Agent: Mozilla/5.0 ({})',
  'X-Priority: 3 ({})',
  'X-PHP-Originating-Script: 1000:{}.php',
  'X-PHP-Script: spam.test/mail.php for {}',
  'X-PHP-Filename: /home/{}/mail.php REMOTE_ADDR: 192.0.2.9',
  'X-Source-Args: /usr/bin/php /home/{}/public_html/mail.php',
  'X-Authenticated-Sender: host.spam.test: {}',
  'X-Get-Message-Sender-Via: host.spam.test: authenticated_id: {}',
  'X-AuthUser: {}',
  'X-Originating-Email: [{}]',
  'X-Mailgun-Variables: {"recipient": "{}"}',
  'X-SMTPAPI: {"to": ["{}"]}',
  'X-MC-Metadata: {"name": "{}"}',
  'X-Spam-Report: * 1.0 TO_NAME {} found',
  'X-Spam-Status: No, score=1 tests=A for={}',
  'X-Virus-Scanned: for {}',
  'X-Report-Abuse: write to abuse@spam.test about {}',
  'X-Complaints-To: abuse@spam.test ({})',
  'X-MS-Exchange-Organization-AuthAs: {}',
  'X-OriginatorOrg: {}',
  'X-Unheard-Of: {}',
  'Quite-Unknown: it is for {}',
  'Authentication-Results: mx.inbox.test; spf=pass ({})',
  'Authentication-Results: mx.inbox.test; spf=pass smtp.mailfrom={}',
  'Authentication-Results: mx.inbox.test; auth=pass smtp.auth={}',
  'Authentication-Results: {}; dkim=none',
  'ARC-Authentication-Results: i=1; mx.inbox.test; auth=pass smtp.auth={}',
  'ARC-Authentication-Results: i=1; mx.inbox.test; spf=pass ({})',
  'Received-SPF: pass (mx.inbox.test: domain of {} permits)',
  'Received-SPF: pass client-ip=46.20.1.2; envelope-from={};',
  'Received-SPF: pass client-ip=46.20.1.2; helo={};',
  'List-Id: "{}" <list.spam.test>',
  'List-Unsubscribe: <mailto:leave@spam.test?subject={}>',
  'List-Help: <https://t.spam.test/help> ({})',
  'List-Owner: <mailto:owner@spam.test> ({})',
  'DKIM-Signature: v=1; a=rsa-sha256; d=spam.test; s=a; i={}; h=from; bh=abcd; b=efgh',
  'DKIM-Signature: v=1; a=rsa-sha256; d=spam.test; s=a; h=from; bh=abcd; b=efgh; foo={}',
  'DKIM-Signature: v=1; a=rsa-sha256; d=spam.test; s=a; h=from; z=To:{}; bh=abcd; b=efgh',
  'Auto-Submitted: auto-generated; owner={}',
  'Face: {}',
  'Accept-Language: {}',
  'Importance: {}',
  'Precedence: {}',
  'Newsgroups: {}',
  'Path: spam!{}',
  'X-Face: {}',
  'BIMI-Selector: v=BIMI1; s={}',
]

/** Fields in which the text is a word of ASCII. */
const wordFields: readonly string[] = [
  'From: Offers <{}@spam.test>',
  'From: Offers <offers@{}.spam.test>',
  'Reply-To: <{}@spam.test>',
  'Reply-To: <r-{}@spam.test>',
  'Sender: <{}@spam.test>',
  'Message-ID: <{}@spam.test>',
  'Message-ID: <1.{}.2@spam.test>',
  'Message-ID: <aaa@{}.spam.test>',
  'In-Reply-To: <{}@spam.test>',
  'References: <a@spam.test> <{}@spam.test>',
  'Thread-Index: {}',
  'Content-ID: <{}@spam.test>',
  'Resent-Message-ID: <{}@spam.test>',
  'Original-Message-ID: <{}@spam.test>',
  'List-Id: <{}.spam.test>',
  'List-Unsubscribe: <https://t.spam.test/leave?u={}>',
  'List-Unsubscribe: <mailto:leave-{}@spam.test>',
  'List-Unsubscribe: <https://t.spam.test/leave>, <mailto:leave@spam.test?body={}>',
  'List-Archive: <https://t.spam.test/{}/archive>',
  'List-Post: <mailto:{}@spam.test>',
  'List-Subscribe: <https://{}.spam.test/>',
  'Feedback-ID: 1:{}:3:spam',
  'CFBL-Feedback-ID: {}',
  'CFBL-Address: fbl+{}@spam.test; report=arf',
  'X-Feedback-ID: {}',
  'X-Campaign-ID: {}',
  'X-CampaignID: spam-{}',
  'X-Mailgun-Sid: {}',
  'X-Mailgun-Tag: {}',
  'X-SG-EID: {}',
  'X-SG-ID: {}',
  'X-SES-Outgoing: 2026.11.22-{}',
  'X-MC-User: {}',
  'X-Mandrill-User: md_{}',
  'X-Mailer-RecptId: {}',
  'X-EmailId: {}',
  'X-MessageID: {}',
  'X-JobID: {}',
  'X-CSA-Complaints: {}@spam.test',
  'X-rpcampaign: {}',
  'X-Gm-Message-State: {}',
  'X-Google-Smtp-Source: {}',
  'X-Report-Abuse: <https://t.spam.test/abuse?u={}>',
  'X-Abuse-Reports-To: {}@spam.test',
  'X-Id: {}',
  'X-Id: id={}; list=4',
  'X-{}: yes',
  'X-Track-{}-Open: yes',
  '{}: yes',
  'DKIM-Signature: v=1; a=rsa-sha256; d=spam.test; s={}; h=from; bh=abcd; b=efgh',
  'DKIM-Signature: v=1; a=rsa-sha256; d={}.spam.test; s=a; h=from; bh=abcd; b=efgh',
  'DKIM-Signature: v=1; a=rsa-sha256; d=spam.test; s=a; h=from:{}; bh=abcd; b=efgh',
  'DKIM-Signature: v=1; a=rsa-sha256; d=spam.test; s=a; h=from; bh={}; b=efgh',
  'DKIM-Signature: v=1; a=rsa-sha256; d=spam.test; s=a; h=from; bh=abcd; b={}',
  'DKIM-Signature: v=1; a={}; d=spam.test; s=a; h=from; bh=abcd; b=efgh',
  'DomainKey-Signature: a=rsa-sha1; d=spam.test; s={}; b=abcd',
  'ARC-Seal: i=1; a=rsa-sha256; cv=none; d=spam.test; s={}; b=abcd',
  'ARC-Seal: i=1; a=rsa-sha256; cv=none; d=spam.test; s=a; b={}',
  'ARC-Message-Signature: i=1; a=rsa-sha256; d={}.spam.test; s=a; h=from; bh=abcd; b=efgh',
  'ARC-Authentication-Results: i=1; mx.inbox.test; dkim=pass header.b={}',
  'Authentication-Results: mx.inbox.test; dkim=pass header.i={}@spam.test',
  'Authentication-Results: mx.inbox.test; dkim=pass header.b={} ({})',
  'Authentication-Results: mx.inbox.test; dkim=pass header.d={}.spam.test header.s={}',
  'Authentication-Results: mx.inbox.test; dmarc=pass policy.{}=x header.from=spam.test',
  'Received-SPF: pass client-ip=46.20.1.2; envelope-from="b-{}@spam.test"; x-ref={};',
]

/** The places in the header of a message. */
export const fieldPlaces: readonly Place[] = [
  ...freeFields.map((template) => fieldPlace(template, 'field')),
  ...wordFields.map((template) => fieldPlace(template, 'atom')),
  ...['{}@spam.test', 'b-{}@spam.test', 'bounces+1-{}@spam.test', 'b@{}.spam.test'].map(
    (template): Place => ({
      name: `Return-Path: <${template}>`,
      medium: 'atom',
      key: 'return-path',
      put(draft, written) {
        draft.returnPath = template.replaceAll('{}', written)
      },
    }),
  ),
  ...received(),
  recipientPlace('To', ({ to }) => to),
  recipientPlace('Cc', ({ cc }) => cc),
]

function fieldPlace(template: string, medium: Medium): Place {
  const colon = template.indexOf(':')
  const key = template.slice(0, colon).toLowerCase()
  const isName = key.includes('{}')
  return {
    name: `field ${template}`,
    medium,
    // A name of a field has no other signs.
    categories: isName ? (['token', 'local'] satisfies Category[]) : undefined,
    key,
    put(draft, written) {
      draft.fields.set(key, template.replaceAll('{}', isName ? fieldName(written) : written))
    },
  }
}

function fieldName(written: string): string {
  return written.replace(/[^A-Za-z0-9_=%.-]/g, '-')
}

function received(): Place[] {
  const entries: [keyof Draft['entry'], string][] = [
    ['helo', '{}'],
    ['helo', 'host-{}.spam.test'],
    ['reverse', '{}.spam.test'],
    ['by', 'mx.{}'],
    ['comment', ' ({})'],
  ]
  const hops = [
    'from {} (unknown [192.0.2.44]) by host.spam.test with ESMTP id 1',
    'from x ({} [192.0.2.44]) by host.spam.test with ESMTP id 2',
    'from x ([192.0.2.44]) (authenticated user {}) by host.spam.test with ESMTPSA id 3',
    'from x (x [192.0.2.44]) (Authenticated sender: {}) by host.spam.test with ESMTP id 4',
    'from x ([192.0.2.44]) by {} with ESMTP id 5',
    'from x ([192.0.2.44]) by host.spam.test with {} id 6',
    'from x ([192.0.2.44]) by host.spam.test with ESMTP id {}',
    'from x ([192.0.2.44]) by host.spam.test with ESMTP id 7 for <{}>',
    'from x ([192.0.2.44]) by host.spam.test with ESMTP id 8 (envelope-from <b={}@spam.test>)',
    'from x ([192.0.2.44]) by host.spam.test via {} id 9',
    'by host.spam.test (Postfix, from userid 1000) ({}) id 10',
    '(qmail 1 invoked by uid {}); 22 Nov 2026 14:58:00 -0000',
    'from {} by host.spam.test with local (Exim 4) (envelope-from <a@spam.test>) id 11',
  ]
  return [
    ...entries.map(([clause, template]): Place => ({
      name: `topmost Received, ${clause} ${template}`,
      medium: 'atom',
      key: `entry ${clause}`,
      put(draft, written) {
        // Without a plausible host the field is not trusted, and no one is notified.
        const isPlausible = clause === 'reverse' ? /^(?:[\w-]{1,63}\.)*[\w-]{1,63}$/ : /^[\w.@=-]+$/
        if (clause !== 'helo' && !isPlausible.test(written)) return 'impossible'
        draft.entry[clause] = template.replaceAll('{}', written)
        return undefined
      },
    })),
    ...hops.map((template): Place => ({
      name: `Received: ${template}`,
      medium: 'atom',
      put({ hops: lower }, written) {
        lower.push(
          `Received: ${template.replaceAll('{}', written)}; Sun, 22 Nov 2026 14:58:10 +0000`,
        )
      },
    })),
  ]
}

function recipientPlace(name: string, listOf: (draft: Draft) => string[]): Place {
  return {
    name: `${name}, name of another recipient`,
    medium: 'field',
    put(draft, written) {
      listOf(draft).push(`${written} <someone@spam.test>`)
    },
  }
}
