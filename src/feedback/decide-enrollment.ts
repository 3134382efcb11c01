import { z } from 'zod'
import { type Action, defineAction, isId } from '../actions.ts'
import { findEnrollmentById, moveEnrollment } from '../db/enrollment-requests.ts'
import { CallerError } from '../errors.ts'
import { addScopes } from './enroll.ts'

const AUDIT_CHARS_MAX = 1_000

/** Accepts the scope requested by a consumer who has confirmed the address. */
export const acceptEnrollment = defineDecision('accepted', {
  name: 'enrollments accept',
  summary: 'accept the scope that a consumer requested',
  audit: 'accept enrollment',
  role: 'operator',
})

export const refuseEnrollment = defineDecision('refused', {
  name: 'enrollments refuse',
  summary: 'refuse the scope that a consumer requested',
  audit: 'refuse enrollment',
  role: 'operator',
})

function defineDecision(
  state: 'accepted' | 'refused',
  about: Pick<Action, 'name' | 'summary' | 'audit' | 'role'>,
) {
  return defineAction({
    ...about,
    input: z.object({ id: z.string().meta({ argument: 'ID' }) }),
    messages: { [state]: `The request was ${state}.` } as Record<typeof state, string>,
    async run(tx, { id }, { at, reporterId }) {
      const request = isId(id) ? await findEnrollmentById(tx, id) : undefined
      const { wish, consumerId = null, address } = request ?? {}
      const isMoved =
        wish &&
        consumerId !== null &&
        (await moveEnrollment(tx, id, 'proven', { state, wish, consumerId, at, reporterId }))
      if (!isMoved) {
        throw new CallerError(404, 'No open request found. It may already have been decided.')
      }
      if (state === 'accepted') await addScopes(tx, consumerId, wish.scopes, at)
      const scopes = wish.scopes.map(({ value }) => value).join(', ')
      return { done: state, audit: `${address}: ${scopes}`.slice(0, AUDIT_CHARS_MAX) }
    },
  })
}
