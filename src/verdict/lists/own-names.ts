import type { OwnNames } from './spare.ts'

/** The names under which an installation is met, from its settings. */
export function ownNamesOf(config: {
  mailFrom: string
  publicUrl: string
  returnPathDomain: string
  listsZone: string
}): OwnNames {
  const sender = config.mailFrom.slice(config.mailFrom.lastIndexOf('@') + 1)
  const { hostname } = new URL(config.publicUrl)
  return [hostname, sender, config.returnPathDomain, config.listsZone].map((name) =>
    name.toLowerCase(),
  )
}
