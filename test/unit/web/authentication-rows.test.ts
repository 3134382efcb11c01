import { expect, test } from 'vitest'
import { textsIn } from '../../../src/texts/messages.ts'
import { authenticationRows } from '../../../src/web/admin/reports.ts'

const texts = textsIn('en')

type Authentication = Parameters<typeof authenticationRows>[0]

const nothing: Authentication = {
  spf: null,
  dkim: [],
  passedOver: 0,
  dmarc: { result: 'none', policy: null, domain: null, alignedBy: [] },
  arc: { result: 'none', why: 'no-seal', seals: [] },
}

test('each check and each signature has a row, in a fixed order', () => {
  const dkim = ['shop.example', 'bulk.example'].map((domain) => ({
    domain,
    selector: 's1',
    result: 'fail' as const,
    aligned: domain === 'shop.example',
    why: 'body-changed' as const,
  }))
  const rows = authenticationRows({ ...nothing, dkim }, texts)
  expect(rows.map(({ check, domain, result }) => [check, domain, result])).toEqual([
    ['SPF', null, 'unchecked'],
    ['DKIM', 'shop.example', 'fail'],
    ['DKIM', 'bulk.example', 'fail'],
    ['DMARC', null, 'none'],
    ['ARC', null, 'none'],
  ])
  expect(rows[1]?.meaning).toBe(
    'The body was changed after signing. The domain is aligned with the author’s domain.',
  )
  expect(rows[2]?.meaning).toContain('not aligned with the author’s domain')
})

test('passed checks and the policy of the author’s domain are explained in words', () => {
  const rows = authenticationRows(
    {
      ...nothing,
      dmarc: {
        result: 'pass',
        policy: 'reject',
        domain: 'shop.example',
        alignedBy: ['dkim', 'spf'],
      },
    },
    texts,
  )
  expect(rows.find(({ check }) => check === 'DMARC')).toEqual({
    check: 'DMARC',
    domain: 'shop.example',
    result: 'pass',
    tone: 'good',
    meaning:
      'The author’s domain is confirmed by DKIM, SPF. ' +
      'The domain asks receivers to reject mail that fails.',
  })
})

test('the sealers of a chain are listed from the first on', () => {
  const seal = { instance: 1, domain: 'a.example', clientIp: null, spf: null, dkim: [] }
  const seals = [seal, { ...seal, instance: 2, domain: 'b.example' }]
  const rows = authenticationRows(
    {
      ...nothing,
      arc: { result: 'pass', why: 'match', seals },
    },
    texts,
  )
  expect(rows.at(-1)).toMatchObject({ domain: 'a.example, b.example', tone: 'good' })
})
