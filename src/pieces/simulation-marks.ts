import type { HeaderField } from '../mail/header.ts'

/** Vendors of simulated phishing whose messages have marks, with their names. */
export const markingVendors = {
  cofense: 'Cofense',
  gophish: 'GoPhish',
  knowbe4: 'KnowBe4',
  proofpoint: 'Proofpoint',
} as const

export type MarkingVendor = keyof typeof markingVendors

/**
 * What a header says about simulated phishing. Anybody can write a mark. A key proves that the
 * message belongs to the simulation for which an operator set it.
 */
export type SimulationTraces = {
  vendor: MarkingVendor | undefined
  /** Texts in the form of keys, as written. */
  keys: readonly string[]
}

/**
 * The fields by which vendors let their own programs recognize a simulation. GoPhish:
 * models/maillog.go (its X-Mailer is the name of the program unless the operator changed it).
 * KnowBe4: its guide to allow lists. Proofpoint and Cofense: as filters for these marks list them.
 * The simulations of Microsoft are put into mailboxes and have no documented mark.
 */
const vendorOfField: Readonly<Record<string, MarkingVendor>> = {
  'x-gophish-contact': 'gophish',
  'x-phishtest': 'knowbe4',
  'x-threatsim-header': 'proofpoint',
  'x-threatsim-id': 'proofpoint',
  'x-phishme': 'cofense',
  'x-phishmetracking': 'cofense',
}

const KEYS_MAX = 5
const VALUE_CHARS_MAX = 1_000
const keyShape = /spsim_[\w-]{43}(?![\w-])/g

/** Whether a text is a key in the form that `simulations key` makes. */
export function isSimulationKey(text: string): boolean {
  return /^spsim_[\w-]{43}$/.test(text)
}

/** Finds marks of vendors and keys in the fields of a header; undefined if there are none. */
export function findSimulationTraces(fields: readonly HeaderField[]): SimulationTraces | undefined {
  let vendor: MarkingVendor | undefined
  const keys: string[] = []
  for (const field of fields) {
    vendor ??= vendorOf(field)
    // The value is computed on demand, which costs more than the search.
    if (keys.length < KEYS_MAX && field.raw.includes('spsim_')) {
      keys.push(...(field.value.slice(0, VALUE_CHARS_MAX).match(keyShape) ?? []))
    }
  }
  if (vendor === undefined && keys.length === 0) return undefined
  return { vendor, keys: keys.slice(0, KEYS_MAX) }
}

function vendorOf(field: HeaderField): MarkingVendor | undefined {
  const { key } = field
  if (!key.startsWith('x-')) return undefined
  if (key === 'x-mailer')
    return field.value.trim().toLowerCase() === 'gophish' ? 'gophish' : undefined
  return Object.hasOwn(vendorOfField, key) ? vendorOfField[key] : undefined
}
