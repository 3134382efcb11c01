/** The network an address belongs to, as far as the imported tables know. */
export type Network = {
  cidr: string
  asn: number | null
  name: string | null
  /** ISO 3166-1 alpha-2. */
  country: string | null
  /** The addresses of its abuse desk, the best first. */
  contacts: string[]
  /** The first of them. */
  abuse: string | null
}
