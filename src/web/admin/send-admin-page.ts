import type { Request, Response } from 'express'
import { concealKeys } from '../../mail/conceal-keys.ts'
import { includesRole, type Role } from '../../roles.ts'
import { duration, fixed } from '../../texts/messages.ts'
import { type Page, sendPage } from '../pages/render.ts'
import { visitOf } from '../pages/visit.ts'
import { menuFor } from './menu.ts'
import { type FormRoles, withoutForbidden } from './role-table.ts'

/** What each page of the administration shows or hides, and the queues that are paused. */
type Frame = {
  formRoles: FormRoles
  /** The role that may read the page with this address. */
  roleOf: (href: string) => Role | undefined
  paused: readonly string[]
}

const frames = new WeakMap<Request, Frame>()

export function setFrame(req: Request, frame: Frame): void {
  frames.set(req, frame)
}

/** Whether a page below `/admin` is sent to a person with a role, who keeps its menu. */
export function hasFrame(req: Request): boolean {
  return frames.has(req) && (visitOf(req).reporter?.role ?? null) !== null
}

/**
 * Sends a page of the administration, with its navigation. Links of the menu and buttons that the
 * visitor's role does not permit are left out. Keys are masked in whatever the page shows, because
 * no key belongs to its reader.
 */
export function sendAdminPage(req: Request, res: Response, page: Page): void {
  const { reporter, language, path } = visitOf(req)
  const role = reporter?.role ?? null
  const { formRoles, roleOf, paused } = frames.get(req) ?? {}
  const isShown = (href: string) => includesRole(role, roleOf?.(href) ?? 'administrator')
  const { groups, current } = menuFor(req.originalUrl, isShown)
  sendPage(req, res, {
    ...page,
    isForOperators: true,
    adjust(html) {
      const shown = concealKeys(html)
      return formRoles ? withoutForbidden(shown, { role, path, formRoles }) : shown
    },
    data: {
      ...page.data,
      isAdminArea: true,
      paused,
      menu: groups,
      section: current,
      fixed: (value: number, digits: number) => fixed(language, value, digits),
      duration: (seconds: number) => duration(language, seconds),
    },
  })
}
