import type { Request, Response } from 'express'
import { ProblemError } from '../problem.ts'

/**
 * Answers whatever method an address does not take: OPTIONS with what it takes, all others with 405
 * and the same (RFC 9110 §15.5.6).
 */
export function otherMethods(...taken: readonly string[]) {
  const allow = [...taken.flatMap((one) => (one === 'GET' ? ['GET', 'HEAD'] : [one])), 'OPTIONS']
  return (req: Request, res: Response): void => {
    const header = allow.join(', ')
    if (req.method === 'OPTIONS') {
      res.statusCode = 204
      res.setHeader('allow', header)
      return void res.end()
    }
    throw new ProblemError('wrong-method', `This address takes ${taken.join(', ')}.`, {
      allow: header,
    })
  }
}
