import { massEffectOf, massKinds } from '../../src/search/mass-effects.ts'
import { basisOf, symbolsOfMessage } from '../../src/verdict/verdict.ts'
import { shippedRules } from '../../test/support/shipped-rules.ts'

/** The texts whose English is in the effects of mass actions, by code. */
export const declaredTexts: Readonly<Record<string, string>> = Object.fromEntries(
  massKinds.flatMap((kind) => {
    const { label, meaning, undoMeaning } = massEffectOf(kind)
    return [
      [`effects.${kind}`, label],
      [`effects.${kind}.meaning`, meaning],
      ...(undoMeaning ? [[`effects.${kind}.undo`, undoMeaning]] : []),
    ]
  }),
)

/** Returns the names of the shipped symbols that reporters see; the rules have the English. */
export function symbolNames(): string[] {
  const symbols = shippedRules().rules.map(({ symbol, weight, meaning, facts }) => {
    const basis = basisOf(facts.map((fact) => fact.split('.')[0] ?? ''))
    return { name: symbol, weight, meaning, basis }
  })
  return symbolsOfMessage(symbols).map(({ name }) => name)
}
