const DAY_MS = 86_400_000

/** For how long something may be kept from our lists: what a form sends, in days, and says. */
export const exemptionTerms = [
  { value: '30', says: '30 days' },
  { value: '90', says: '90 days' },
  { value: '365', says: 'a year' },
  { value: 'good', says: 'for good' },
] as const

/** When such a term ends; null: never. Undefined when it is none of them. */
export function termOf(value: string | undefined, now: Date): Date | null | undefined {
  const term = exemptionTerms.find((one) => one.value === value)
  if (!term) return undefined
  return term.value === 'good' ? null : new Date(now.getTime() + Number(term.value) * DAY_MS)
}
