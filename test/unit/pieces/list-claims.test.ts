import { expect, test } from 'vitest'
import type { DkimFinding } from '../../../src/origin/authenticity/dkim.ts'
import { listClaims } from '../../../src/pieces/list-claims.ts'
import { parseHeader } from '../../../src/mail/header.ts'
import { parseListUnsubscribe } from '../../../src/mail/list-unsubscribe.ts'

const author = 'From: News <news@example.org>'
const ways = [
  'List-Unsubscribe: <https://example.org/off>',
  'List-Unsubscribe-Post: List-Unsubscribe=One-Click',
]
const both = 'from:list-unsubscribe:list-unsubscribe-post'

function signatureBy(domain: string, covered: string): string {
  return `DKIM-Signature: v=1; a=rsa-sha256; d=${domain}; s=s; h=${covered}; bh=x; b=y`
}

function claimsOf(lines: readonly string[], results: readonly DkimFinding['result'][] = []) {
  const { fields } = parseHeader(Buffer.from(`${lines.join('\r\n')}\r\n\r\n`))
  const signers = lines.flatMap((line) => /; d=([^;]+)/.exec(line)?.[1] ?? [])
  const dkim = results.map((result, at): DkimFinding => {
    return { domain: signers[at] ?? '', selector: 's', result, aligned: at === 0, why: 'unchanged' }
  })
  return listClaims(fields, { dkim }, parseListUnsubscribe(fields))
}

test.for<[string, readonly string[], string | null]>([
  ['in brackets', ['List-Id: Our News <News.Example.org>'], 'news.example.org'],
  ['bare', ['List-Id: news.example.org'], 'news.example.org'],
  ['twice', ['List-Id: <a.example>', 'List-Id: <a.example>'], null],
  ['absent', [], null],
  ['empty', ['List-Id:'], null],
])('a List-Id that is %s', ([, lines, listId]) => {
  expect(claimsOf(lines).listId).toBe(listId)
})

test.for<[string, readonly string[], string | null]>([
  ['one', ['From: A <a@EXAMPLE.org>'], 'example.org'],
  ['one in other letters', ['From: a@bücher.example'], 'xn--bcher-kva.example'],
  ['two in a field', ['From: a@a.example, b@b.example'], null],
  ['two fields', ['From: a@a.example', 'From: a@a.example'], null],
  ['without a domain', ['From: news'], null],
])('authors: %s', ([, lines, domain]) => {
  expect(claimsOf(lines).authorDomain).toBe(domain)
})

test('one-click is accepted from the signer of both fields', () => {
  const lines = [signatureBy('example.org', both), author, ...ways]
  expect(claimsOf(lines, ['pass']).oneClickSigners).toEqual(['example.org'])
})

test('one-click is accepted from the signer of several fields, if it covers each of them', () => {
  const more = ['List-Unsubscribe: <mailto:off@example.org>', ...ways]
  const claimed = (covered: string) =>
    claimsOf([signatureBy('example.org', covered), author, ...more], ['pass']).oneClickSigners
  expect(claimed(`${both}:list-unsubscribe`)).toEqual(['example.org'])
  expect(claimed(both)).toEqual([])
})

test.for<[string, readonly string[], readonly DkimFinding['result'][]]>([
  ['a signature that fails', [signatureBy('example.org', both), author, ...ways], ['fail']],
  ['no signature', [author, ...ways], []],
  [
    'a signature over one of the two',
    [signatureBy('example.org', 'from:list-unsubscribe'), author, ...ways],
    ['pass'],
  ],
  [
    'a second link on top of the signed one',
    ['List-Unsubscribe: <https://bad.example/>', signatureBy('example.org', both), author, ...ways],
    ['pass'],
  ],
  ['no promise', [signatureBy('example.org', both), author, ways[0] ?? ''], ['pass']],
])('one-click is not accepted with %s', ([, lines, results]) => {
  expect(claimsOf(lines, results).oneClickSigners).toEqual([])
})
