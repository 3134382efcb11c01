import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Site } from '../site.ts'
import { admit } from './admit.ts'

/** Admits one look at the password of a name; rejects with a ProblemError when it is too often. */
export type PasswordGuard = (name: string) => Promise<void>

const guards = new WeakMap<IncomingMessage, PasswordGuard>()

/** Lets `authenticate` count the passwords that requests bring. */
export function guardPasswords(site: Pick<Site, 'limits' | 'config'>) {
  return (req: IncomingMessage, res: ServerResponse, next: () => void): void => {
    guards.set(req, async (name) => {
      await admit(req, res, site, 'password', { name })
    })
    next()
  }
}

/** What counts the passwords of a request; undefined where nobody does. */
export function passwordGuard(req: IncomingMessage): PasswordGuard | undefined {
  return guards.get(req)
}
