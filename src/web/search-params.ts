import type { Request } from 'express'

/** The query of the address. `get` returns one value, also of a parameter that occurs twice. */
export function searchParamsOf(req: Pick<Request, 'originalUrl'>): URLSearchParams {
  return new URL(req.originalUrl, 'http://site').searchParams
}
