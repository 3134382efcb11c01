/** The network an address belongs to, as far as all that we were told of it goes. */
export type Network = {
  /** The block whose contact it is, else the most specific one that is known. */
  cidr: string
  asn: number | null
  name: string | null
  /** ISO 3166-1 alpha-2. */
  country: string | null
  /** The address of its abuse desk: the first of `contacts`, or null. */
  abuse: string | null
  /** All addresses of its abuse desk, the best first. */
  contacts: string[]
  /** An administrator said that nobody is to be written to: there is no contact to look for. */
  isMuted?: true
}
