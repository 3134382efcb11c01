import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { registrableDomain } from '../../../../src/mail/address.ts'
import { whySpared } from '../../../../src/verdict/lists/spare.ts'
import { readMarketers, shippedServices } from '../../../../src/verdict/marketers/marketer-file.ts'

const file = new URL('../../../../src/verdict/marketers/services.json', import.meta.url)

const domains = shippedServices.flatMap(({ signers, hosts }) => [
  ...signers.filter((name) => !name.startsWith('*.')),
  ...hosts,
])

test('the shipped services are a file that can be imported', () => {
  expect(readMarketers(readFileSync(file, 'utf8'), [])).toEqual({ marketers: shippedServices })
  expect(shippedServices.length).toBeGreaterThanOrEqual(60)
})

test('each shipped service has a signer with its subdomains, and a source read on a day', () => {
  for (const { key, kind, state, signers, sources } of shippedServices) {
    expect([key, kind, state]).toEqual([key, 'service', 'confirmed'])
    const names = signers.filter((name) => !name.startsWith('*.'))
    expect([...signers].sort(), key).toEqual([...names, ...names.map((name) => `*.${name}`)].sort())
    expect(Object.keys(sources).length, key).toBeGreaterThan(0)
    for (const page of Object.keys(sources)) expect(page).toMatch(/^https:/)
  }
})

test('each domain is registrable, belongs to one shipped service and is never listed', () => {
  expect(domains.filter((name, at) => domains.indexOf(name) !== at)).toEqual([])
  for (const name of domains) {
    expect(registrableDomain(name)).toBe(name)
    expect([name, whySpared('domains', name, [])]).toEqual([name, 'shared platform'])
  }
})
