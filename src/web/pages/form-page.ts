import { type Request, type Response, Router } from 'express'
import type { Reporter } from '../../db/reporters.ts'
import type { Code } from '../../texts/messages.ts'
import { type Form, type FormReader, readShortForm } from './form.ts'
import { sendPage } from './render.ts'
import { requireReporter } from './signed-in.ts'
import { type Visit, visitOf } from './visit.ts'

export type PageCall = Visit & { req: Request; res: Response }

/** A request of a signed-in reporter for a page. */
export type OwnCall = PageCall & { reporter: Reporter }

/** Error messages by field. */
type Faults = Readonly<Record<string, string>>

/** What a page shows, besides its usual data, after its form: such as `faults`, and the input. */
type Shown = object & { faults?: Faults | readonly string[]; status?: number }

/** Returns the path to which a form leads, or what its page shows; undefined if it has answered. */
type TakeForm<Call> = (call: Call & { form: Form }) => Promise<string | Shown | undefined>

type FormPage<Call> = {
  at: string
  view: string
  title: Code
  /** What the template shows. With faults, the status is 422 unless it is given. */
  data: (call: Call, shown: Shown | undefined) => Shown | Promise<Shown>
  take: TakeForm<Call>
  /** Further forms of the page, by their paths. */
  others?: Readonly<Record<string, TakeForm<Call>>>
}

export function formPage(site: FormReader, page: FormPage<PageCall>): Router {
  return routesOf(site, page, (call) => call)
}

export function ownFormPage(site: FormReader, page: FormPage<OwnCall>): Router {
  return routesOf(site, page, (call) => ({ ...call, reporter: requireReporter(call.req) }))
}

function routesOf<Call>(
  site: FormReader,
  { at, view, title, data, take, others }: FormPage<Call>,
  callOf: (call: PageCall) => Call,
): Router {
  const router = Router()
  const open = (req: Request, res: Response) => callOf({ ...visitOf(req), req, res })
  const show = async (req: Request, res: Response, shown?: Shown): Promise<void> => {
    const all = { faults: {}, ...(await data(open(req, res), shown)), ...shown }
    const usual = Object.keys(all.faults).length > 0 ? 422 : 200
    const texts = visitOf(req).texts
    sendPage(req, res, { view, title: texts(title), status: all.status ?? usual, data: all })
  }
  router.get(at, (req, res) => show(req, res))
  for (const [path, takeForm] of Object.entries({ [at]: take, ...others })) {
    router.post(path, async (req, res) => {
      const form = await readShortForm(req, res, site)
      const result = await takeForm({ ...open(req, res), form })
      if (typeof result === 'string') res.redirect(303, result)
      else if (result) await show(req, res, result)
    })
  }
  return router
}
