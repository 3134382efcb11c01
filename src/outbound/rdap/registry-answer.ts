/** A network as its registry has it; where none is known, the address alone. */
export type RegisteredNetwork = {
  /** At least one, and one of them holds the address that was asked about. */
  cidrs: readonly string[]
  name: string | null
  /** ISO 3166-1 alpha-2. */
  country: string | null
  /** Host name of the registry that answered; null when none is in charge. */
  registry: string | null
}

/**
 * What a registry says to a question. `none`: nobody is named for abuse. `later`: it could not be
 * asked, or its answer is of no use now. `why` is a sentence for people.
 */
export type RegistryAnswer =
  | { is: 'found'; network: RegisteredNetwork; contacts: readonly string[] }
  | { is: 'none'; network: RegisteredNetwork; why: string }
  | { is: 'later'; retryAt: Date; why: string }

/** The answer when nothing is known of an address: it holds for that address alone. */
export function unknownNetwork(ip: string, registry: string | null, why: string): RegistryAnswer {
  const network = { cidrs: [`${ip}/${ip.includes(':') ? 128 : 32}`], name: null, country: null }
  return { is: 'none', network: { ...network, registry }, why }
}
