import { type Request, type Response, Router } from 'express'
import type { Action } from '../../actions.ts'
import type { Role } from '../../roles.ts'
import type { Code } from '../../texts/messages.ts'
import { type Visit, visitOf } from '../pages/visit.ts'
import type { Site } from '../site.ts'
import { type ActionPage, doneMessage, postAction, type RefusedForm } from './post-action.ts'
import { requireRole } from './require-role.ts'
import { sendAdminPage } from './send-admin-page.ts'

/** A request for a page; `refused` is the form that it shows again. */
export type PageCall = Visit & { req: Request; res: Response; refused: RefusedForm | undefined }

/** The data of a template. With problems, the status is 422. */
type PageData = object & { title?: string; problems?: readonly string[] }

/** A page for operators, and the form that belongs to it. */
export type AdminPage = {
  view: string
  /** Absent if `data` contains the title. */
  title?: Code
  /** The path below that of the area. */
  at?: string
  /** The role that may read the page, if a higher one than the area needs. */
  role?: Role
  /**
   * Returns what the template shows, besides `done` (the message of the action that led here), and
   * the `problems` and the fields (`form`) of a form that was refused.
   */
  data?: (call: PageCall) => PageData | Promise<PageData>
  /** By default, the form is sent to the path of the page and leads back there. */
  form?: Omit<ActionPage, 'back' | 'show'> & { at?: string; back?: ActionPage['back'] }
  /** Actions of other forms that lead to this page. */
  after?: readonly Action[]
}

/** Routes a page and its form. A form that is refused is shown again on the page. */
export function adminPage(site: Site, { view, title, at = '/', ...page }: AdminPage): Router {
  const router = Router()
  const { form, after = [] } = page
  const actions = [...(form ? actionsOf(form.actions) : []), ...after]
  const send = async (req: Request, res: Response, refused?: RefusedForm): Promise<void> => {
    const visit = visitOf(req)
    const data = {
      problems: refused?.problems ?? [],
      form: refused?.given ?? {},
      chosen: refused?.chosen ?? [],
      done: doneMessage(req, ...actions),
      ...(await page.data?.({ ...visit, req, res, refused })),
    }
    sendAdminPage(req, res, {
      view,
      title: 'title' in data ? String(data.title) : visit.texts(title ?? 'dashboard.title'),
      status: data.problems.length > 0 ? 422 : 200,
      data,
    })
  }
  const guards = page.role ? [requireRole(site, page.role)] : []
  router.get(at, ...guards, (req, res) => send(req, res))
  if (form) {
    // A form of a list is sent with the query of the list, and leads back to the same lines.
    const back = (req: Request) =>
      pathOf(req, form.at) + new URL(req.originalUrl, 'http://x').search
    router.post(form.at ?? at, postAction(site, { back, ...form, show: send, from: back }))
  }
  return router
}

/** The path of a page, from a request for it or for the form at its path `formAt`. */
export function pathOf(req: Request, formAt: string | undefined): string {
  return formAt === undefined || req.method !== 'POST' ? visitOf(req).path : req.baseUrl
}

function actionsOf(actions: ActionPage['actions']): Action[] {
  return 'run' in actions ? [actions as Action] : Object.values(actions)
}
