/** For each folder in the table "Who imports whom" of `src/README.md`, what it may import. */
export type AllowedImports = ReadonlyMap<string, { folders: readonly string[]; onlyTypes: boolean }>

/** Reads the table "Who imports whom" from the text of `src/README.md`. */
export function allowedImports(readme: string): AllowedImports {
  const [, chapter = ''] = readme.split('## Who imports whom')
  const rows = [...chapter.matchAll(/^\| `([a-z]+)` \| (types of )?(.+) \|$/gm)]
  return new Map(
    rows.map(([, folder = '', types, cell = '']) => {
      const folders = [...cell.matchAll(/`([a-z]+)`/g)].map(([, name = '']) => name)
      return [folder, { folders, onlyTypes: types !== undefined }]
    }),
  )
}

/** One import from one folder of `src` to another, or to `../` and a path outside `src`. */
type Crossing = { from: string; to: string; isType: boolean; names: readonly string[] }

const knowledge = ['mail', 'origin', 'pieces', 'verdict']

/** Whether the table, and the sentences below it in `src/README.md`, allow an import. */
export function isAllowed(table: AllowedImports, { from, to, isType, names }: Crossing): boolean {
  if (to.startsWith('../')) return false
  if (from === 'processes' && to === 'cli') return false
  if (['processes', 'cli', 'main'].includes(from)) return true
  if (['durations', 'errors', 'key-ring', 'phrase', 'roles'].includes(to)) return true
  const isPure = knowledge.includes(from)
  if (isType && ['world', 'log', 'app'].includes(to)) return !(isPure && to === 'app')
  // Every folder except those of pure knowledge may create ids and random bytes; only the system
  // clock is passed as a parameter.
  if (to === 'world') return !isPure && !names.includes('systemClock')
  const allowed = table.get(from)
  return allowed !== undefined && allowed.folders.includes(to) && (isType || !allowed.onlyTypes)
}
