import { expect, test } from 'vitest'
import type { MessageFeatures } from '../../../../src/pieces/features/features.ts'
import { featuresOfMail, type WrittenFields } from '../../../support/feature-mail.ts'

const encoded = (text: string) => `=?utf-8?B?${Buffer.from(text).toString('base64')}?=`
const outlook = 'Microsoft Outlook 16.0'
const mixed = (boundary: string) => `multipart/mixed; boundary="${boundary}"`

test('an honest message has no unusual header features', async () => {
  const { headers, author, bulk } = await featuresOfMail()
  const odd = Object.entries({ ...headers, ...author, ...bulk })
    .filter(([, value]) => value === true)
    .map(([name]) => name)
  expect(odd).toEqual([])
})

test.for<[string, WrittenFields, Partial<MessageFeatures['headers']>]>([
  ['no date', { Date: null }, { date_missing: true, date_malformed: false }],
  ['a date that is none', { Date: 'soon' }, { date_malformed: true, date_missing: false }],
  ['two dates', { Date: ['1 Nov 2026', '2 Nov 2026'] }, { date_duplicate: true }],
  ['a date ahead', { Date: 'Tue, 17 Nov 2026 10:00:00 +0000' }, { date_hours_ahead: 24 }],
  ['a date long ago', { Date: 'Sun, 15 Nov 2026 10:00:00 +0000' }, { date_hours_ahead: -24 }],
  ['no author', { From: null }, { from_missing: true }],
  ['two authors', { From: 'a@shop.example, b@shop.example' }, { from_addresses: 2 }],
  ['two From', { From: ['a@shop.example', 'b@shop.example'] }, { from_duplicate: true }],
  ['no Message-ID', { 'Message-ID': null }, { message_id_missing: true }],
  ['an odd Message-ID', { 'Message-ID': '17' }, { message_id_malformed: true }],
  ['a local one', { 'Message-ID': '<1@pc>' }, { message_id_local: true }],
  ['a foreign one', { 'Message-ID': '<1@other.example>' }, { message_id_foreign: true }],
  [
    'one of who sends',
    { 'Message-ID': '<1@other.example>', 'Return-Path': '<b@x.other.example>' },
    { message_id_foreign: false, return_path_other_domain: true },
  ],
  ['one of a host', { 'Message-ID': '<1@mx.shop.example>' }, { message_id_foreign: false }],
  ['no subject', { Subject: null }, { subject_missing: true }],
  ['capitals', { Subject: 'BUY THIS Now' }, { subject_upper_share: 0.8 }],
  ['a short word', { Subject: 'HELLO' }, { subject_upper_share: 0 }],
  ['exclamation', { Subject: 'Now!! Go!' }, { subject_exclamations: 3 }],
  ['a hidden mark', { Subject: encoded('Pay\u200bment') }, { subject_disguised: true }],
  ['a letter that poses', { Subject: encoded('P\u0430yment') }, { subject_disguised: true }],
  ['a Russian subject', { Subject: encoded('Оплата заказа') }, { subject_disguised: false }],
  ['an accent', { Subject: encoded('Café à Noël') }, { subject_disguised: false }],
  ['the reader', { Subject: 'Ann.Reader, look' }, { subject_names_recipient: true }],
  ['a reply to nothing', { Subject: 'Re: us' }, { subject_claims_reply: true }],
  [
    'a reply',
    { Subject: 'Re: us', 'In-Reply-To': '<1@reader.example>' },
    { subject_claims_reply: false, is_answer: true },
  ],
  ['blanks', { Subject: 'Hello            1234' }, { subject_long_blank: true }],
  ['needless base64', { Subject: encoded('Hello') }, { needlessly_encoded: true }],
  ['needful base64', { Subject: encoded('Été') }, { needlessly_encoded: false }],
  ['raw bytes', { Subject: 'Été' }, { raw_eight_bit: true }],
  ['nobody', { To: null }, { to_missing: true }],
  ['a copy only', { To: null, Cc: 'ann@reader.example' }, { to_missing: false }],
  ['undisclosed', { To: 'undisclosed-recipients:;' }, { to_undisclosed: true }],
  ['itself', { To: 'offers@shop.example' }, { to_is_author: true }],
  ['no MIME', { 'MIME-Version': null, 'Content-Type': mixed('b') }, { mime_version_missing: true }],
  ['no MIME, one part', { 'MIME-Version': null }, { mime_version_missing: false }],
  ['no boundary', { 'Content-Type': 'multipart/mixed' }, { boundary_missing: true }],
  [
    'answers elsewhere',
    { 'Reply-To': 'me@gmail.com' },
    { reply_to_other_domain: true, reply_to_free_mail: true },
  ],
  [
    'answers at home',
    { 'Reply-To': 'help@mail.shop.example' },
    { reply_to_given: true, reply_to_other_domain: false, reply_to_free_mail: false },
  ],
  ['another sender', { Sender: 'x@other.example' }, { sender_other_domain: true }],
  ['an empty path', { 'Return-Path': '<>' }, { return_path_empty: true }],
  ['a script', { 'X-Mailer': 'PHPMailer 6.1' }, { mailer_is_script: true, mailer: 'phpmailer' }],
  ['a script of a site', { 'X-PHP-Script': 'a.php' }, { mailer_is_script: true }],
  [
    'not Outlook',
    { 'X-Mailer': outlook, 'Content-Type': mixed('abc') },
    { mailer_contradicted: true },
  ],
  [
    'Outlook',
    { 'X-Mailer': outlook, 'Content-Type': mixed('----=_NextPart_000_0001') },
    { mailer_contradicted: false, mailer: 'microsoft outlook' },
  ],
  ['haste', { 'X-Priority': '1 (Highest)' }, { priority_high: true }],
  ['no haste', { 'X-Priority': '3' }, { priority_high: false }],
])('the header of a message with %s', async ([, fields, expected]) => {
  expect((await featuresOfMail(fields)).headers).toMatchObject(expected)
})

test.for<[string, string, Partial<MessageFeatures['author']>]>([
  ['no domain', 'The Shop', { domain_missing: true, domain: '' }],
  ['a local domain', 'me@localhost', { domain_not_public: true, domain_missing: false }],
  ['a free mailbox', 'Ann <ann1985@gmail.com>', { domain_free_mail: true, local_digits: 4 }],
  ['a domain that poses', 'a@xn--pypal-4ve.com', { domain_idn: true, domain_disguised: true }],
  [
    'a domain with an umlaut',
    'a@xn--mller-kva.example',
    { domain_idn: true, domain_disguised: false },
  ],
  ['no name', 'news@shop.example', { name_missing: true }],
  [
    'another address as a name',
    '"help@bank.example" <x@shop.example>',
    { name_has_address: true, name_other_address: true },
  ],
  [
    'its own address as a name',
    '"x@shop.example" <x@mail.shop.example>',
    { name_has_address: true, name_other_address: false },
  ],
  ['another domain as a name', '"bank.example" <x@shop.example>', { name_other_domain: true }],
  ['a name with a dot', '"Dr. Ann" <x@shop.example>', { name_other_domain: false }],
  ['a name that poses', `${encoded('P\u0430ul')} <x@shop.example>`, { name_disguised: true }],
  ['an office at home', 'Support <help@shop.example>', { name_is_office: false }],
  ['an office at a free one', 'Support <help@gmail.com>', { name_is_office: true }],
  ['the reader’s house', '"Reader IT" <x@shop.example>', { name_is_recipient_domain: true }],
  ['a word of it', '"Proofreader" <x@shop.example>', { name_is_recipient_domain: false }],
  ['it in another country', '"Reader" <x@reader.test>', { name_is_recipient_domain: false }],
  ['chance', 'x9k2b7q4z@shop.example', { local_random: true }],
  ['a long name', 'christopher.marlowe@shop.example', { local_random: false }],
  ['a role', 'no-reply@shop.example', { local_is_role: true }],
  ['hyphens', 'a@the-best-shop-4u.example', { domain_hyphens: 3, domain_digits: 1 }],
  ['labels', 'a@x.y.shop.example', { domain_labels: 4, organization: 'shop.example' }],
])('an author with %s', async ([, from, expected]) => {
  expect((await featuresOfMail({ From: from })).author).toMatchObject(expected)
})

const leave = 'List-Unsubscribe'

test.for<[string, WrittenFields, Partial<MessageFeatures['bulk']>]>([
  [
    'a list',
    { 'List-Id': 'Us <us.lists.example>' },
    { has_list_id: true, list_id: 'us.lists.example' },
  ],
  ['precedence', { Precedence: 'Bulk' }, { is_bulk: true, unsubscribe_missing: true }],
  ['precedence for a test', { Precedence: 'first-class' }, { is_bulk: false }],
  [
    'a way to leave',
    {
      [leave]: '<https://www.shop.example/u>',
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    },
    { unsubscribe_by_web: true, one_click: true, unsubscribe_of_author: true, is_bulk: true },
  ],
  [
    'a way to leave elsewhere',
    { [leave]: '<mailto:u@other.example?subject=x>' },
    { unsubscribe_by_mail: true, unsubscribe_by_web: false, unsubscribe_of_author: false },
  ],
  ['an automatic sender', { 'Auto-Submitted': 'auto-generated' }, { is_automatic: true }],
  ['a person', { 'Auto-Submitted': 'no' }, { is_automatic: false }],
  ['complaints', { 'CFBL-Address': 'fbl@shop.example' }, { has_complaint_address: true }],
])('bulk mail with %s', async ([, fields, expected]) => {
  expect((await featuresOfMail(fields)).bulk).toMatchObject(expected)
})
