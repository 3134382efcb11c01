import { roles } from '../../src/roles.ts'
import { textsIn } from '../../src/texts/messages.ts'
import type { RoleRow } from '../../src/web/admin/role-table.ts'
import { apiOperations } from '../../src/web/api/contract/document.ts'

const intro = `# Roles

A person who runs the site has one of four roles. Each role includes the ones before it. An account
without a role can only report.

| role | what it permits |
|---|---|
${roles.map((role) => `| ${role} | ${textsIn('en')(`roleMeanings.${role}`)} |`).join('\n')}
`

/** The forms that are not actions, besides those of rules. */
const summaries: Readonly<Record<string, string>> = {
  '/admin/reports/export': 'export reports',
  '/admin/rule-lists/:list/try': 'test list entries on past reports',
}

/** The document about roles: the table that the program checks, written by a test. */
export function rolesPage(table: readonly RoleRow[]): string {
  const pages = table.flatMap(({ method, path, role }) =>
    method === 'get' && role !== 'viewer' ? [`| \`${path}\` | ${role} |`] : [],
  )
  const operations = apiOperations.flatMap(({ method, path, need }) => {
    const role = roles.find((one) => one === need)
    return role ? [`| \`${method.toUpperCase()} ${path}\` | ${role} |`] : []
  })
  return `${intro}
## What each role may do

| action | role | forms |
|---|---|---|
${sorted(actionRows(table))}

## Pages

A viewer may read all pages of the administration except these:

| page | role |
|---|---|
${sorted(pages)}

## API

| operation | role |
|---|---|
${sorted(operations)}
`
}

/** One row for each action, with all its forms. */
function actionRows(table: readonly RoleRow[]): string[] {
  const forms = new Map<string, Set<string>>()
  for (const { method, path, permissions } of table) {
    if (method === 'get') continue
    for (const { role, action } of Object.values(permissions ?? {})) {
      const asks = action?.asksPassword ? ' (asks for the password)' : ''
      const summary = action?.summary ?? summaries[path] ?? 'test and apply rules'
      const row = `| ${summary}${asks} | ${role} |`
      forms.set(row, (forms.get(row) ?? new Set()).add(`\`${path}\``))
    }
  }
  return [...forms].map(([row, paths]) => `${row} ${[...paths].sort().join(', ')} |`)
}

function sorted(lines: readonly string[]): string {
  return lines.toSorted().join('\n')
}
