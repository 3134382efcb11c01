import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Site } from '../site.ts'
import { admit } from './admit.ts'
import { clientAddress, proxiesOf } from './client-address.ts'

/**
 * Admits one look at the password of a name; rejects with a ProblemError when it is too often. What
 * it gives is called when the password was right.
 */
export type PasswordGuard = (name: string) => Promise<() => Promise<void>>

const guards = new WeakMap<IncomingMessage, PasswordGuard>()

/**
 * Lets `authenticate` count the passwords that requests bring: wrong ones with those of the sign-in
 * page, and every look, because each costs work.
 */
export function guardPasswords(site: Pick<Site, 'limits' | 'config'>) {
  return (req: IncomingMessage, res: ServerResponse, next: () => void): void => {
    guards.set(req, async (name) => {
      await admit(req, res, site, 'sign-in', { name })
      await admit(req, res, site, 'password', { name })
      const address = clientAddress(req, proxiesOf(site.config.trustedProxies))
      return () => site.limits.giveBack('sign-in', { name, address })
    })
    next()
  }
}

/** What counts the passwords of a request; undefined where nobody does. */
export function passwordGuard(req: IncomingMessage): PasswordGuard | undefined {
  return guards.get(req)
}
