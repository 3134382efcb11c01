import type { Router } from 'express'
import { includesRole, type Role } from '../../roles.ts'
import { declaredRoles, lowestRole, type Permission, type Permissions } from './require-role.ts'

/** A page or form of the administration, and the roles that may use it. */
export type RoleRow = {
  method: string
  /** As in the router: `/admin/reports/:id`. */
  path: string
  /** The role that may open the address; undefined if the router forgot to require one. */
  role: Role | undefined
  /** What its form may do, by the value of the field `do`; undefined for a page. */
  permissions: Permissions | undefined
}

type Layer = {
  rawPath?: unknown
  handle: object & { stack?: readonly Layer[] }
  route?: { path: string; methods: Readonly<Record<string, boolean>>; stack: readonly Layer[] }
}

type Guard = { path: string; role: Role }

/** The path of the administration. The role of its first page does not count for other pages. */
const ROOT = '/admin'

/**
 * Lists the routes of the administration with the roles that they declare, read from the router
 * itself: a new route is in the table without being added anywhere.
 */
export function roleTable(router: Router): RoleRow[] {
  return rowsOf((router as unknown as { stack: readonly Layer[] }).stack, ROOT, [])
}

function rowsOf(stack: readonly Layer[], base: string, outer: readonly Guard[]): RoleRow[] {
  const guards = [...outer]
  const rows: RoleRow[] = []
  for (const { rawPath, handle, route } of stack) {
    const path = joined(base, route ? route.path : String(rawPath))
    const own = declaredRoles(handle)?.['']
    if (route) rows.push(...routeRows(route, path, guards.findLast(isOver(path))?.role))
    else if (handle.stack) rows.push(...rowsOf(handle.stack, path, guards))
    else if (own) guards.push({ path, role: own.role })
  }
  return rows
}

function isOver(path: string) {
  return (guard: Guard) =>
    path === guard.path || (guard.path !== ROOT && path.startsWith(`${guard.path}/`))
}

function routeRows(route: NonNullable<Layer['route']>, path: string, role: Role | undefined) {
  const permissions = route.stack.map(({ handle }) => declaredRoles(handle)).findLast(Boolean)
  const own = permissions && lowestRole(permissions)
  return Object.keys(route.methods).map((method): RoleRow => {
    return method === 'get'
      ? { method, path, role: own ?? role, permissions: undefined }
      : { method, path, role, permissions }
  })
}

function joined(base: string, path: string): string {
  return `${base}${path}`.replace(/\/+$/, '')
}

/** What a form that is sent to a path may do; undefined if it is not in the table. */
export type FormRoles = (path: string) => Permissions | undefined

/** Returns a function that finds the form of the table to which a path belongs. */
export function createFormRoles(table: readonly RoleRow[]): FormRoles {
  const forms = table.flatMap(({ method, path, permissions }) => {
    if (method !== 'post' || !permissions) return []
    const pattern = new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}/?$`)
    return [{ pattern, permissions }]
  })
  return (path) => forms.find(({ pattern }) => pattern.test(path))?.permissions
}

/**
 * Removes the buttons that a role may not use from the forms of a page. A form that is left without
 * a button keeps its fields, disabled, and its table, so that they can be read; without both it is
 * removed.
 */
export function withoutForbidden(
  html: string,
  { role, path, formRoles }: { role: Role | null; path: string; formRoles: FormRoles },
): string {
  return html.replaceAll(
    /<form\b([^>]*\bmethod="post"[^>]*)>([^]*?)<\/form>/g,
    (form, attributes: string, content: string) => {
      const target = /\baction="([^"?]*)/.exec(attributes)?.[1] ?? path
      const permissions = formRoles(target)
      if (!permissions) return form
      const isAllowed = (permission: Permission) => includesRole(role, permission.role)
      const fixed = /<input type="hidden" name="do" value="([^"]*)"/.exec(content)?.[1]
      const kept = content.replaceAll(
        /<button\b([^>]*)>[^]*?<\/button>/g,
        (button, given: string) => {
          const named = / name="do"/.test(given)
            ? (/ value="([^"]*)"/.exec(given)?.[1] ?? '')
            : fixed
          return isAllowed(permissions[named ?? ''] ?? strictest(permissions)) ? button : ''
        },
      )
      if (kept.includes('<button')) return `<form${attributes}>${kept}</form>`
      return /<(?:table|textarea|select|input (?!type="hidden"))/.test(kept)
        ? `<form${attributes}><fieldset disabled>${kept}</fieldset></form>`
        : ''
    },
  )
}

/** The permission that needs the highest role. */
function strictest(permissions: Permissions): Permission {
  return Object.values(permissions).reduce((one, other) => {
    return includesRole(one.role, other.role) ? one : other
  })
}
