import { readFile } from 'node:fs/promises'
import path from 'node:path'

const readme = path.join(import.meta.dirname, '../../README.md')

/**
 * A configuration as the README gives it, by the comment at its beginning. `changes` puts what holds
 * here in the place of what stands there: ports, folders, accounts.
 *
 * @throws Error where the README has no such configuration, or what is to be changed is not in it
 */
export async function recipe(
  name: string,
  changes: Readonly<Record<string, string | number>> = {},
): Promise<string> {
  const text = await readFile(readme, 'utf8')
  const blocks = [...text.matchAll(/^```\w*\n(.*?)^```$/gms)].map(([, block = '']) => block)
  const found = blocks.find((block) => {
    return block.split('\n', 2).some((line) => line === `# ${name}` || line === `; ${name}`)
  })
  if (found === undefined) throw new Error(`The README has no configuration "${name}".`)
  return Object.entries(changes).reduce((changed, [from, to]) => {
    if (!changed.includes(from)) throw new Error(`"${from}" does not stand in "${name}".`)
    return changed.replaceAll(from, String(to))
  }, found)
}
