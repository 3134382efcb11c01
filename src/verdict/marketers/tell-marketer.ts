import type { RecognizedMarketer } from '../../analysis/marketer.ts'

/** One more who is told of a report: a marketer that asked for complaints about its mail. */
export type ToldMarketer = {
  address: string
  source: 'marketer'
  format: 'arf'
  /** Its own tokens say whom to take off; who is proven by a signature alone keeps them. */
  keepsTokens: boolean
  why: string
}

/** Who is told of a message because of whose it is: the marketer, if it asked for it. */
export function tellMarketer(marketer: RecognizedMarketer | null): ToldMarketer[] {
  if (!marketer || marketer.feedback === null) return []
  const { feedback: address, name, by, why } = marketer
  const told = { source: 'marketer', format: 'arf', keepsTokens: by === 'signature' } as const
  return [{ address, ...told, why: `${name} asked for complaints about its mail. ${why}` }]
}
