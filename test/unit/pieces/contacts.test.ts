import { describe, expect, test } from 'vitest'
import {
  findBankAccounts,
  findMailAddresses,
  findTelephones,
} from '../../../src/pieces/body-view.ts'

describe('telephone numbers', () => {
  test.for([
    ['Call +44 20 7946 0000 now', '442079460000'],
    ['Call +44 (0)20 7946 0000', '442079460000'],
    ['Call 0044-20-7946-0000', '442079460000'],
    ['(+44) 20.7946.0000', '442079460000'],
    ['(555) 201-0199', '15552010199'],
    ['555.201.0199', '15552010199'],
    ['1-555-201-0199', '15552010199'],
    ['+1 555 201 0199', '15552010199'],
    ['1-8OO-555-Ol99', '18005550199'],
    ['Tel. 030 1234 5678!', '03012345678'],
  ] as const)('%s', ([text, number]) => {
    expect(findTelephones(text)).toEqual([number])
  })

  test.for([
    ['2026-11-20 10:00'],
    ['20.11.2026'],
    ['11/20/2026 10:00'],
    ['192.0.2.177'],
    ['$1,000,000.00'],
    ['1 000 000 000'],
    ['4111 1111 1111 1111'],
    ['12345678901234'],
    ['Order 5552010199'],
    ['id-555-201-0199'],
    ['a555 201 0199'],
    ['Olololololol'],
  ] as const)('%s is not a telephone number', ([text]) => {
    expect(findTelephones(text)).toEqual([])
  })
})

describe('mail addresses', () => {
  test.for([
    ['to a.b+c@shop.example.', 'a.b+c@shop.example'],
    ['to <A@Shop.Example>', 'a@shop.example'],
    ['a (at) shop (dot) example', 'a@shop.example'],
    ['a[at]shop[.]example', 'a@shop.example'],
  ] as const)('%s', ([text, address]) => {
    expect(findMailAddresses(text)).toEqual([address])
  })

  test.for([
    ['@shop.example'],
    ['a@shop'],
    ['p@yment'],
    ['a@ shop.example'],
    ['a@shop.1'],
  ] as const)('%s is not a mail address', ([text]) => {
    expect(findMailAddresses(text)).toEqual([])
  })
})

describe('bank accounts', () => {
  test('are found only with valid check digits, with or without spaces', () => {
    const text = 'GB82 WEST 1234 5698 7654 32, DE89370400440532013000, GB82 WEST 1234 5698 7654 33'
    expect(findBankAccounts(text)).toEqual(['GB82WEST12345698765432', 'DE89370400440532013000'])
  })
})
