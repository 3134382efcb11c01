import pg from 'pg'

type Prototype = { query: (...args: unknown[]) => unknown }

/**
 * Makes the database refuse statements of all connections, with an error that quotes a text in each
 * of its fields, as errors about values do. Returns the function that ends this.
 */
export function refuseStatements(isRefused: (text: string) => boolean, quote: string): () => void {
  const prototype = pg.Client.prototype as unknown as Prototype
  const { query } = prototype
  prototype.query = function refusing(this: unknown, ...args: unknown[]) {
    const text = textOf(args[0])
    if (text === undefined || !isRefused(text)) return Reflect.apply(query, this, args)
    const about = { code: '22P02', detail: quote, where: quote, hint: quote }
    const error = Object.assign(new Error(`invalid input syntax: "${quote}"`), about)
    const done = args.at(-1)
    if (typeof done !== 'function') return Promise.reject(error)
    queueMicrotask(() => void (done as (given: Error) => unknown)(error))
    return undefined
  }
  return () => void (prototype.query = query)
}

function textOf(query: unknown): string | undefined {
  if (typeof query === 'string') return query
  if (typeof query !== 'object' || query === null || !('text' in query)) return undefined
  return typeof query.text === 'string' ? query.text : undefined
}
