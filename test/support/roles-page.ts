import { roleMeanings, roles } from '../../src/roles.ts'
import type { RoleRow } from '../../src/web/admin/role-table.ts'
import { apiOperations } from '../../src/web/api/contract/document.ts'

const intro = `# Roles

A person who runs the site has one of four roles. Each role includes the ones before it. An account
without a role can only report.

| role | what it permits |
|---|---|
${roles.map((role) => `| ${role} | ${roleMeanings[role]} |`).join('\n')}
`

/** The forms that are not actions, besides those of rules. */
const summaries: Readonly<Record<string, string>> = {
  '/admin/reports/export': 'export reports',
}

/** The document about roles: the table that the program checks, written by a test. */
export function rolesPage(table: readonly RoleRow[]): string {
  const pages = table.flatMap(({ method, path, role }) =>
    method === 'get' ? [`| \`${path}\` | ${role} |`] : [],
  )
  const forms = table.flatMap(({ method, path, permissions }) => {
    if (method === 'get') return []
    return Object.values(permissions ?? {}).map(({ role, action }) => {
      const asks = action?.asksPassword ? ' (asks for the password)' : ''
      const summary = action?.summary ?? summaries[path] ?? 'test and apply rules'
      return `| ${summary}${asks} | \`${path}\` | ${role} |`
    })
  })
  const operations = apiOperations.flatMap(({ method, path, need }) => {
    const role = roles.find((one) => one === need)
    return role ? [`| \`${method.toUpperCase()} ${path}\` | ${role} |`] : []
  })
  return `${intro}
## What each role may do

| action | form | role |
|---|---|---|
${unique(forms)}

## Pages

| page | role |
|---|---|
${unique(pages)}

## API

| operation | role |
|---|---|
${unique(operations)}
`
}

function unique(lines: readonly string[]): string {
  return [...new Set(lines)].sort().join('\n')
}
