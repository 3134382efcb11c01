import { expect, test } from 'vitest'
import { declaredTexts } from '../../../scripts/texts/declared.ts'
import { message } from '../../../src/texts/messages.ts'

test('no catalog has the English of declarations', () => {
  expect(Object.keys(declaredTexts).filter((code) => message('en', code))).toEqual([])
})
