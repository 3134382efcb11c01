import data from './platforms.json' with { type: 'json' }

/**
 * What a platform offers to the public: short links, links that count clicks, other redirections,
 * forms, documents, sites, storage, programs, tunnels to private machines, names for changing
 * addresses, and invitations of messengers.
 */
export type PlatformKind =
  | 'shortener'
  | 'tracker'
  | 'redirector'
  | 'form'
  | 'document'
  | 'site'
  | 'storage'
  | 'app'
  | 'tunnel'
  | 'dns'
  | 'messenger'

/** A service under whose names unrelated people publish pages. */
export type Platform = {
  /** Undefined for a platform of which only the names are known. */
  key?: string
  name: string
  kind: PlatformKind
  /** Where it accepts reports; absent when not known. */
  email?: string
  form?: string
  /** Where the contact is documented. */
  source?: string
  /** Whether the source is weak, so that no mail is sent until somebody confirms the address. */
  unconfirmed?: boolean
}

/** `host`: each host name belongs to a customer. `path`: customers share the host. */
type Match = { platform: Platform; scope: 'host' | 'path' }

type Entry = Match & { path: string; isBelow: boolean }

const entries = new Map<string, Entry[]>()

function add(pattern: string, platform: Platform): void {
  const isBelow = pattern.startsWith('*.')
  const [host = '', ...segments] = (isBelow ? pattern.slice(2) : pattern).split('/')
  const path = segments.join('/')
  const scope = isBelow ? 'host' : 'path'
  entries.getOrInsertComputed(host, () => []).push({ platform, scope, path, isBelow })
}

for (const { hosts, ...platform } of data.platforms) {
  for (const pattern of hosts) add(pattern, platform as Platform)
}
for (const kind of ['shortener', 'site'] as const) {
  for (const host of data.others[kind].names.flatMap((line) => line.split(' '))) {
    if (!entries.has(host)) add(host, { name: host, kind })
  }
}

/**
 * The platform on which a page is published, from its address alone. Its host is in lower case. The
 * longest name counts. Undefined for other hosts, and for the pages of the platform itself.
 */
export function findPlatform({ hostname, pathname }: Pick<URL, 'hostname' | 'pathname'>) {
  const host = hostname.replace(/^www\.(?=[^.]+\.[^.]+$)/, '')
  for (let from = 0; from >= 0; from = nextLabel(host, from)) {
    const found = (from === 0 ? [hostname, host] : [host.slice(from)])
      .flatMap((name) => entries.get(name) ?? [])
      .find(({ isBelow, path }) => {
        if (isBelow) return from > 0
        return from === 0 && pathname.length > 1 && pathname.startsWith(`/${path}`)
      })
    if (found) return { platform: found.platform, scope: found.scope } satisfies Match
  }
  return undefined
}

/** Finds a platform by its name, in upper or lower case. */
export function findPlatformNamed(name: string): Platform | undefined {
  const key = name.toLowerCase()
  const all = entries.values().flatMap((its) => its)
  return all.find(({ platform }) => platform.name.toLowerCase() === key)?.platform
}

/** The position after the next dot; -1 when there is none. */
function nextLabel(host: string, from: number): number {
  const dot = host.indexOf('.', from)
  return dot < 0 ? -1 : dot + 1
}
