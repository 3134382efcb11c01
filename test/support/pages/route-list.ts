import { Router } from 'express'

type Layer = {
  route?: { path: string | readonly string[]; methods: Readonly<Record<string, boolean>> }
  handle?: unknown
}
type Stack = { stack: readonly Layer[] }
type Mount = { parent: object; path: string; child: Stack }

/**
 * Watches routers being put together, from now on. The answer lists, of all that was put together
 * since, the addresses that answer GET, as the routes were written: `/reports/:id`. (Express keeps
 * the path of a mounted router as a compiled pattern only.)
 */
export function watchRoutes(): () => string[] {
  const mounts: Mount[] = []
  const prototype = Router.prototype as { use: (...args: unknown[]) => unknown }
  const { use } = prototype
  prototype.use = function watched(this: object, ...args: unknown[]) {
    const path = typeof args[0] === 'string' ? args[0] : ''
    for (const child of args.flat().filter(isStack)) mounts.push({ parent: this, path, child })
    return use.apply(this, args)
  }
  return () => {
    prototype.use = use
    const children = new Set<object>(mounts.map(({ child }) => child))
    const roots = mounts.map(({ parent }) => parent).filter((parent) => !children.has(parent))
    const found = [...new Set(roots)].flatMap((root) => routesOf(root, '', mounts))
    return [...new Set(found)].sort()
  }
}

function routesOf(router: object, base: string, mounts: readonly Mount[]): string[] {
  const own = isStack(router) ? router.stack.flatMap((layer) => getPaths(layer)) : []
  const inner = mounts
    .filter(({ parent }) => parent === router)
    .flatMap(({ path, child }) => routesOf(child, base + path, mounts))
  return [
    ...own.map((path) => (base + path).replace(/\/+/g, '/').replace(/(?<=.)\/$/, '')),
    ...inner,
  ]
}

function getPaths({ route }: Layer): string[] {
  if (route?.methods['get'] !== true && route?.methods['_all'] !== true) return []
  return [route.path].flat()
}

function isStack(value: unknown): value is Stack {
  return typeof value === 'function' && Array.isArray((value as Partial<Stack>).stack)
}
