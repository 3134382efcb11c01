import type { Request, Response } from 'express'
import { includesRole } from '../../roles.ts'
import { duration } from '../../texts/messages.ts'
import { type Page, sendPage } from '../pages/render.ts'
import { visitOf } from '../pages/visit.ts'
import { areaRoleOf } from './area-roles.ts'
import { menuFor } from './menu.ts'
import { type FormRoles, withoutForbidden } from './role-table.ts'

/** What each page of the administration shows or hides: what forms may do, and paused queues. */
type Frame = { formRoles: FormRoles; paused: readonly string[] }

const frames = new WeakMap<Request, Frame>()

export function setFrame(req: Request, frame: Frame): void {
  frames.set(req, frame)
}

/** Formats seconds in the two largest units that fit: `3 h 5 min`, `0 s`. */
export const shownDuration = (seconds: number) => duration('en', seconds)

/**
 * Sends a page of the administration, with its navigation. Links of the menu and buttons that the
 * visitor's role does not permit are left out.
 */
export function sendAdminPage(req: Request, res: Response, page: Page): void {
  const role = visitOf(req).reporter?.role ?? null
  const isShown = (href: string) => includesRole(role, areaRoleOf(href) ?? 'administrator')
  const { formRoles, paused } = frames.get(req) ?? {}
  const { groups, current } = menuFor(req.originalUrl, isShown)
  sendPage(req, res, {
    ...page,
    isForOperators: true,
    adjust: (html) => {
      const { path } = visitOf(req)
      return formRoles ? withoutForbidden(html, { role, path, formRoles }) : html
    },
    data: {
      ...page.data,
      isAdminArea: true,
      paused,
      menu: groups,
      section: current,
      duration: shownDuration,
    },
  })
}
