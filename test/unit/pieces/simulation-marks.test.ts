import { expect, test } from 'vitest'
import { parseHeader } from '../../../src/mail/header.ts'
import { findSimulationTraces } from '../../../src/pieces/simulation-marks.ts'

const find = (...lines: string[]) =>
  findSimulationTraces(parseHeader(Buffer.from([...lines, '', 'x'].join('\r\n'))).fields)

test.for([
  ['X-PHISHTEST: 1', 'knowbe4'],
  ['X-Gophish-Contact: security@example.net', 'gophish'],
  ['X-Mailer: gophish', 'gophish'],
  ['X-ThreatSim-ID: 5af0de491a', 'proofpoint'],
  ['X-PhishMeTracking: x', 'cofense'],
] as const)('%s is a mark', ([line, vendor]) => {
  expect(find('Subject: x', line)).toEqual({ vendor, keys: [] })
})

test('other fields are no marks', () => {
  const fields = ['X-Mailer: Gophish Reader 2', 'X-constructor: x', 'Subject: X-PHISHTEST: 1']
  expect(find(...fields)).toBeUndefined()
})

test('a key is found in any field, also a folded one; texts of another length are no keys', () => {
  const key = `spsim_${'k-_'.repeat(14)}k`
  expect(find(`X-Training:\r\n  ${key}`)).toEqual({ vendor: undefined, keys: [key] })
  expect(find(`X-Training: ${key}k`)?.keys).toBeUndefined()
  expect(find(`X-Training: ${key.slice(0, -1)}`)?.keys).toBeUndefined()
  const many = Array.from({ length: 50 }, () => `X-Training: ${key} ${key}`)
  expect(find(...many)?.keys).toHaveLength(5)
})
