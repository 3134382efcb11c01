import { Router } from 'express'

type Layer = {
  route?: { path: string | readonly string[]; methods: Readonly<Record<string, boolean>> }
  handle?: unknown
}
type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'
type Stack = { stack: readonly Layer[] }
type Mount = { parent: object; path: string; child: Stack }

/**
 * Records the routers that are composed from now on. The returned function lists the addresses that
 * answer a method, as the routes were written: `/reports/:id`. (Express keeps the path of a mounted
 * router only as a compiled pattern.)
 */
export function watchRoutes(): (method: Method) => string[] {
  const mounts: Mount[] = []
  const prototype = Router.prototype as { use: (...args: unknown[]) => unknown }
  const { use } = prototype
  prototype.use = function watched(this: object, ...args: unknown[]) {
    const path = typeof args[0] === 'string' ? args[0] : ''
    for (const child of args.flat().filter(isStack)) mounts.push({ parent: this, path, child })
    return use.apply(this, args)
  }
  return (method) => {
    prototype.use = use
    const children = new Set<object>(mounts.map(({ child }) => child))
    const roots = mounts.map(({ parent }) => parent).filter((parent) => !children.has(parent))
    const found = [...new Set(roots)].flatMap((root) => routesOf(root, '', { method, mounts }))
    return [...new Set(found)].sort()
  }
}

type Search = { method: Method; mounts: readonly Mount[] }

function routesOf(router: object, base: string, search: Search): string[] {
  const own = isStack(router) ? router.stack.flatMap((layer) => pathsOf(layer, search.method)) : []
  const inner = search.mounts
    .filter(({ parent }) => parent === router)
    .flatMap(({ path, child }) => routesOf(child, base + path, search))
  return [
    ...own.map((path) => (base + path).replace(/\/+/g, '/').replace(/(?<=.)\/$/, '')),
    ...inner,
  ]
}

function pathsOf({ route }: Layer, method: Method): string[] {
  if (route?.methods[method] !== true && route?.methods['_all'] !== true) return []
  return [route.path].flat()
}

function isStack(value: unknown): value is Stack {
  return typeof value === 'function' && Array.isArray((value as Partial<Stack>).stack)
}
