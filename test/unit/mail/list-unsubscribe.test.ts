import { expect, test } from 'vitest'
import { parseHeader } from '../../../src/mail/header.ts'
import { parseListUnsubscribe } from '../../../src/mail/list-unsubscribe.ts'
import { messageKind } from '../../../src/mail/message.ts'
import { expectEffort } from '../../support/effort.ts'

const fields = (text: string) => parseHeader(Buffer.from(`${text}\n\n`, 'latin1')).fields
const post = '\nList-Unsubscribe-Post: List-Unsubscribe=One-Click'

test.for([
  [
    'both ways, folded',
    `List-Unsubscribe: <https://example.com/u?a=1>,\n <mailto:u@example.com>${post}`,
    { https: 'https://example.com/u?a=1', mailto: 'mailto:u@example.com', oneClick: true },
  ],
  [
    'without the Post field it is not one-click',
    'List-Unsubscribe: <https://example.com/u>',
    { https: 'https://example.com/u', mailto: null, oneClick: false },
  ],
  [
    'plain http is never one-click',
    `List-Unsubscribe: <http://example.com/u>${post}`,
    { https: 'http://example.com/u', mailto: null, oneClick: false },
  ],
  [
    'mail alone is never one-click',
    `List-Unsubscribe: <mailto:u@example.com>${post}`,
    { https: null, mailto: 'mailto:u@example.com', oneClick: false },
  ],
  [
    'blanks that folding left in an address are removed',
    'List-Unsubscribe: <https://example.com/\n u>',
    { https: 'https://example.com/u', mailto: null, oneClick: false },
  ],
  [
    'missing brackets are forgiven',
    'List-Unsubscribe: https://example.com/u',
    { https: 'https://example.com/u', mailto: null, oneClick: false },
  ],
  [
    'several fields, the second with a web address',
    `List-Unsubscribe: <mailto:u@u.example>\nList-Unsubscribe: <https://u.example/x>${post}`,
    { https: 'https://u.example/x', mailto: 'mailto:u@u.example', oneClick: true },
  ],
  [
    'several fields, of which one has https',
    `List-Unsubscribe: <http://u.example/1>\nList-Unsubscribe: <https://u.example/2>${post}`,
    { https: 'https://u.example/2', mailto: null, oneClick: true },
  ],
  [
    'several Post fields, of which one offers one-click',
    `List-Unsubscribe: <https://u.example/x>\nList-Unsubscribe-Post: yes${post} (RFC 8058)`,
    { https: 'https://u.example/x', mailto: null, oneClick: true },
  ],
  [
    'an encoded word',
    `List-Unsubscribe: =?utf-8?Q?=3Chttps=3A//u.example/x=3E?=${post}`,
    { https: 'https://u.example/x', mailto: null, oneClick: true },
  ],
  [
    'encoded words inside the brackets, and in the Post field',
    'List-Unsubscribe: <=?us-ascii?B?aHR0cHM6Ly91LmV4YW1wbGU=?=\n =?us-ascii?Q?/x?=>,' +
      ' <mailto:u@u.example>\nList-Unsubscribe-Post: =?utf-8?Q?List-Unsubscribe=3DOne-Click?=',
    { https: 'https://u.example/x', mailto: 'mailto:u@u.example', oneClick: true },
  ],
  [
    'comments, also with addresses',
    'List-Unsubscribe: (use (this) link, not <http://no.example>) <https://u.example/x> (web),' +
      ` <mailto:u@u.example> (mail)${post}`,
    { https: 'https://u.example/x', mailto: 'mailto:u@u.example', oneClick: true },
  ],
  [
    'brackets around one of two addresses',
    `List-Unsubscribe: <mailto:u@u.example>, https://u.example/x(1)${post}`,
    { https: 'https://u.example/x(1)', mailto: 'mailto:u@u.example', oneClick: true },
  ],
  [
    'a missing closing bracket',
    'List-Unsubscribe: <https://u.example/x, <mailto:u@u.example>',
    { https: 'https://u.example/x', mailto: 'mailto:u@u.example', oneClick: false },
  ],
  [
    'a missing opening bracket',
    'List-Unsubscribe: https://u.example/x>, mailto:u@u.example>',
    { https: 'https://u.example/x', mailto: 'mailto:u@u.example', oneClick: false },
  ],
  [
    'two addresses in one pair of brackets',
    'List-Unsubscribe: <https://u.example/x?a=1,2, mailto:u@u.example>',
    { https: 'https://u.example/x?a=1,2', mailto: 'mailto:u@u.example', oneClick: false },
  ],
  [
    'bare addresses without a blank between them',
    'List-Unsubscribe: "mailto:u@u.example,https://u.example/x"',
    { https: 'https://u.example/x', mailto: 'mailto:u@u.example', oneClick: false },
  ],
  [
    'another Post value is not one-click',
    'List-Unsubscribe: <https://u.example/x>\nList-Unsubscribe-Post: List-Unsubscribe=One-Clicks',
    { https: 'https://u.example/x', mailto: null, oneClick: false },
  ],
  ['an address in a comment only, nothing', 'List-Unsubscribe: (<https://u.example/x>)', null],
  ['no address, nothing', 'List-Unsubscribe: see below', null],
  ['no field, nothing', 'Subject: x', null],
] as const)('%s', ([, text, expected]) => {
  expect(parseListUnsubscribe(fields(text))).toEqual(expected)
})

test.for(['(', '<', '(<', '<a ', '((a', '(\\', '=?utf-8?q?<', ','])(
  'a field of many %j takes less than a second',
  async (text) => {
    const field = `List-Unsubscribe: ${text.repeat(100_000 / text.length)}\n`
    expect(
      await expectEffort(() => parseListUnsubscribe(fields(field.repeat(9))), 1_000),
    ).toBeNull()
  },
)

const report = 'Content-Type: multipart/report; boundary=x;\n report-type='

test.for([
  [`${report}delivery-status`, 'dsn'],
  [`${report}"feedback-report"`, 'feedback-report'],
  [`${report}disposition-notification`, 'message'],
  ['Content-Type: multipart/mixed; report-type=delivery-status', 'message'],
  ['Auto-Submitted: auto-replied (vacation)', 'auto-reply'],
  ['Auto-Submitted: auto-generated', 'message'],
  ['Auto-Submitted: no', 'message'],
  ['X-Autoreply: yes', 'auto-reply'],
  ['Precedence: auto_reply', 'auto-reply'],
  ['Precedence: bulk', 'message'],
] as const)('%j is rejected as %s', ([text, expected]) => {
  expect(messageKind(fields(text))).toBe(expected)
})
