import { describe, expect, test } from 'vitest'
import { parseBounce } from '../../../../src/mail/bounces/parse-bounce.ts'
import type { BounceReason } from '../../../../src/mail/bounces/reasons.ts'

/** A notification without a machine-readable part, in UTF-8. */
function notice(subject: string, text: string, from = 'postmaster@mx.example.net'): Buffer {
  const encoded = Buffer.from(subject).toString('base64')
  const head = [`Return-Path: <>`, `From: ${from}`, `Subject: =?UTF-8?B?${encoded}?=`]
  const type = 'Content-Type: text/plain; charset=utf-8'
  return Buffer.from([...head, type, '', text, ''].join('\r\n'))
}

const cases: readonly (readonly [text: string, reason: BounceReason])[] = [
  // Mail carriers and mail servers of Japan.
  ['宛先のメールボックスの容量が超過しているため、配信できませんでした。', 'mailboxfull'],
  ['受信者のメールボックスは満杯です。', 'mailboxfull'],
  ['入力した電子メール アドレスが見つかりませんでした。', 'userunknown'],
  ['宛先のホストが見つかりませんでした。', 'hostunknown'],
  ['メールのサイズが制限を超えています。', 'mesgtoobig'],
  ['受信拒否設定により配信できませんでした。', 'filtered'],
  ['このアカウントは現在利用停止中です。', 'suspend'],
  ['一定時間内に配送できなかったため、再送を中止しました。', 'expired'],
  ["The user's account is temporarily limited.", 'suspend'],
  ['It could not be delivered, as their mailbox is full.', 'mailboxfull'],
  // Full mailboxes, without the word "full".
  ['The mailbox has reached its storage limit.', 'mailboxfull'],
  ['The inbox does not have sufficient space to accept it.', 'mailboxfull'],
  ['The user has no space left.', 'mailboxfull'],
  ['La boîte aux lettres du destinataire est saturée.', 'mailboxfull'],
  // qmail-ldap.
  ['Mailaddress is administrativley disabled. (LDAP-ERR #220)', 'suspend'],
  ['Temporary failure in LDAP lookup. (LDAP-ERR #107)', 'systemerror'],
  // Filters and gateways.
  ['The message seems to be spam and was not delivered to the recipient.', 'spamdetected'],
  ['550 BAD_RECIPIENT, see our pages.', 'userunknown'],
]

test.for(cases)('the text "%s" means %s', ([text, reason]) => {
  const told = `Your message could not be delivered.\r\n\r\n<a@example.org>\r\n${text}`
  const found = parseBounce(notice('Returned mail', told))
  expect(found?.results).toMatchObject([{ recipient: 'a@example.org', reason }])
})

describe('a notification is recognized', () => {
  test.for([
    ['a subject in Japanese', '配信不能: こんにちは', 'a@example.org'],
    ['a text in Japanese', 'Error', '次の受信者への配信に失敗しました。\r\na@example.org'],
  ])('by %s', ([, subject = '', text = '']) => {
    expect(parseBounce(notice(subject, text))?.results).toMatchObject([
      { recipient: 'a@example.org' },
    ])
  })

  test('from a list manager that received its own post', () => {
    const text = 'Loop Back Warning: the post loops in <list@example.net>.'
    const raw = notice('Loop Alert: example list', text, 'list-admin@example.net')
    expect(parseBounce(raw)?.results).toMatchObject([{ reason: 'systemerror', hard: false }])
  })
})

describe('the cause of an expired delivery', () => {
  const report = (explanation: string, status: string, diagnostic: string) =>
    Buffer.from(
      [
        'From: postmaster@mx.example.net',
        'Content-Type: multipart/report; report-type=delivery-status; boundary="b"',
        ...['', '--b', '', explanation, '', '--b', 'Content-Type: message/delivery-status', ''],
        ...['Reporting-MTA: dns; mx.example.net', '', 'Final-Recipient: rfc822; a@example.org'],
        ...['Action: failed', `Status: ${status}`, `Diagnostic-Code: smtp; ${diagnostic}`],
        ...['', '--b--', ''],
      ].join('\r\n'),
    )

  test('is in the explanation of Exchange', () => {
    const explanation =
      "mx.example.net returned '550 4.4.7 QUEUE.Expired; message expired'\r\n" +
      "mx.example.org returned '441 4.4.1 Failed to connect'"
    const raw = report(explanation, '4.4.7', '550 4.4.7 QUEUE.Expired; message expired')
    expect(parseBounce(raw)?.results).toMatchObject([{ status: '4.4.1', reason: 'expired' }])
  })

  test('is in the status of Exchange Online', () => {
    const raw = report('', '5.4.312', '550 5.4.312 Message expired, DNS query failed')
    expect(parseBounce(raw)?.results).toMatchObject([{ reason: 'networkerror' }])
  })
})
