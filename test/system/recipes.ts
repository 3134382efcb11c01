import { readFile } from 'node:fs/promises'
import path from 'node:path'

const readme = path.join(import.meta.dirname, '../../README.md')

/**
 * A configuration as the README gives it, found by the comment at its beginning. Each key of
 * `changes` is replaced by its value: ports, folders and accounts that differ here.
 *
 * @throws Error where the README has no such configuration, or a text to replace is not in it
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
