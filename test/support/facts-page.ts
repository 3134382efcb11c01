import { factDefinitions } from '../../src/verdict/facts/facts.ts'

const opening = `# Facts

What rules and models may ask of a message: \`group.name\`. Made by \`factsOf\` from the
features of the message (\`src/analysis/features\`), from what a reporter or a mail server says,
and from what is known of its pieces. Numbers are doubles. What is not known is false, 0, an empty
text or an empty list, so a rule that asks for an absence asks first whether it was looked for
(\`authentication.checked\`, \`blacklists.is_asked\`).

- \`report\` is empty when a mail server asks, \`envelope\` when it was reported.
- \`reputation\` is what karma makes of reports; of several things of a kind the worst counts.
- \`seen\` are plain counts of the pieces that tell; of several pieces of a group the largest count
  is taken. Accounts cost nothing, so counts alone prove little. \`copies\` is what mail servers
  asked about: volume, no evidence, whatever was answered. A report that is judged does not count
  itself.

Names are kept, since rules, models and kept analyses are written in them: a fact whose meaning
changes gets another name. This page follows \`fact-list.ts\`:
\`npx vitest run test/unit/verdict/facts -u\` writes it.
`

/**
 * Composes the page that lists all facts, which is the content of `src/verdict/facts/README.md`.
 */
export function factsPage(): string {
  const groups = Map.groupBy(factDefinitions, ({ group }) => group)
  const tables = [...groups].map(([group, definitions]) => {
    const rows = definitions.map(
      ({ name, type, meaning }) => `| \`${name}\` | ${type} | ${meaning} |`,
    )
    return [`## ${group}`, '', '| fact | type | meaning |', '|---|---|---|', ...rows].join('\n')
  })
  return `${[opening, ...tables].join('\n\n').replaceAll('\n\n\n', '\n\n')}\n`
}
