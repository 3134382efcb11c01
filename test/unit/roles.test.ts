import { expect, test } from 'vitest'
import { usableRole } from '../../src/roles.ts'

const now = new Date('2026-11-30T12:00:00Z')
const [before, after] = [new Date('2026-11-30T11:59:00Z'), new Date('2026-11-30T12:01:00Z')]
const oidc = { localAccounts: ['emergency@example.org'] }
const plain = { isSecondStepRequired: false, oidc: undefined }
const strict = { isSecondStepRequired: true, oidc: undefined }
const byProvider = { isSecondStepRequired: true, oidc }

test.for([
  ['given here', plain, null, 'ann@example.org', 'password', 'administrator'],
  ['given here, without the second step', strict, null, 'ann@example.org', 'token', 'analyst'],
  ['given here, beside a provider', byProvider, null, 'ann@example.org', 'password', null],
  [
    'given here, with a token beside a provider',
    byProvider,
    null,
    'ann@example.org',
    'token',
    null,
  ],
  ['of the emergency account', byProvider, null, 'emergency@example.org', 'password', 'analyst'],
  ['of the provider', byProvider, after, 'ann@example.org', 'provider', 'administrator'],
  ['of the provider, with a token', byProvider, after, 'ann@example.org', 'token', 'administrator'],
  ['of the provider, with a password', byProvider, after, 'ann@example.org', 'password', null],
  ['of the provider, not confirmed', byProvider, before, 'ann@example.org', 'provider', null],
  ['of a provider that was removed', plain, after, 'ann@example.org', 'password', null],
] as const)('a role %s', ([, rules, roleUntil, email, proof, usable]) => {
  const account = { email, role: 'administrator', roleUntil, hasTotp: false } as const
  expect(usableRole(account, rules, { proof, now })).toBe(usable)
})
