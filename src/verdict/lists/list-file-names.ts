import { listNames, type ListName } from './list.ts'
import { zoneTypes } from './zone-file.ts'

/** The file that tells of all others; put in place last. */
export const MANIFEST = 'manifest.json'

/** The files of a list: `addresses.ip4set`, `addresses.ip6trie`, `addresses.json` … */
export function fileNamesOf(list: ListName): string[] {
  return [...zoneTypes[list], 'json', 'txt'].map((ending) => `${list}.${ending}`)
}

/** Every file that is given out. */
export const listFileNames: readonly string[] = [...listNames.flatMap(fileNamesOf), MANIFEST]

/** The zone of a list below that of the settings. */
export function zoneOf(list: ListName, { listsZone }: { listsZone: string }): string {
  return `${list}.${listsZone}`
}
