import { codeBlocks, readDocuments } from '../support/documents.ts'

/**
 * Returns a configuration from the pages in `docs/mail-servers`, found by the comment at its
 * beginning. Replaces each key of `changes` by its value: ports, folders and accounts of the test.
 *
 * @throws Error when no page or several pages contain such a configuration, or a text to replace
 *   is missing
 */
export function recipe(
  name: string,
  changes: Readonly<Record<string, string | number>> = {},
): string {
  const found = readDocuments()
    .filter(({ path }) => path.startsWith('docs/mail-servers/'))
    .flatMap(codeBlocks)
    .map(({ text }) => text)
    .filter((text) =>
      text.split('\n', 2).some((line) => line === `# ${name}` || line === `; ${name}`),
    )
  const [configuration] = found
  if (configuration === undefined || found.length > 1) {
    throw new Error(`docs/mail-servers has ${found.length} configurations "${name}", not one.`)
  }
  return Object.entries(changes).reduce((changed, [from, to]) => {
    if (!changed.includes(from)) throw new Error(`"${from}" is not in "${name}".`)
    return changed.replaceAll(from, String(to))
  }, configuration)
}
