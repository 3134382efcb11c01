import { factDefinitions } from '../../src/verdict/facts/facts.ts'

const opening = `# Facts

The facts that rules and models can use, written as \`group.name\`. \`factsOf\` computes them from
the features of a message (\`src/pieces/features\`), from the statement of a reporter or the
envelope of a mail server, and from counters and reputations. Numbers are doubles. An unknown
fact is false, 0, an empty text or an empty list. So before a rule requires that something is
absent, it must check whether there was a lookup (\`authentication.checked\`,
\`blacklists.is_asked\`).

- \`report\` is empty when a mail server checks a message, and \`envelope\` when a message was
  reported. \`sender\` is about the user of the mail server who sends a message; it is empty for
  incoming mail. Only mail of before the one that is judged counts.
- \`reputation\` is based on reports weighted by karma. If a message has several subjects of a
  kind, the worst one counts.
- \`pages\` is based on pages that people or independent reporters confirmed and whose URL is
  nobody's token. Models do not use it.
- \`seen\` contains plain counts of the most informative pieces. If a group has several pieces,
  the largest count is used. Accounts are free, so counts alone prove little. \`copies\` counts
  the messages that mail servers checked, regardless of the verdicts: it is volume, not
  evidence. \`checked_spam_share\` is made of our own verdicts on these messages: a rule must not
  judge by it alone, or its verdicts confirm themselves. The shape of a day
  (\`busy_periods_day\`, \`peak_share_day\`) tells a machine that always sends from a burst. The
  report that is being judged is not counted.

Names are permanent, because rules, models and stored analyses refer to them. A fact whose
meaning changes gets a new name. This page is generated from \`factDefinitions\` in \`facts.ts\`.
Write it with \`npx vitest run test/unit/verdict/facts -u\`.
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
