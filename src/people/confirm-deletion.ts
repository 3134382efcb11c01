import { z } from 'zod'
import {
  type Action,
  type ActionContext,
  auditDetails,
  defineAction,
  messageOf,
  readInput,
} from '../actions.ts'
import type { App } from '../app.ts'
import { holdProposedDeletion, removeProposedDeletion } from '../db/proposed-deletions.ts'
import { roles } from '../roles.ts'

const idInput = z.object({ id: z.uuid({ error: 'Unknown proposal.' }) })
const over = 'This proposal has been confirmed or withdrawn, or it has expired.'

/**
 * Declares the actions that end the proposal of one of the `deleting` actions. `confirm` runs it in
 * the name of a second person, who has the same right; `withdraw` drops it.
 */
export function proposalActions(deleting: readonly Action[]) {
  const role = roles.findLast((one) => deleting.some((action) => action.role === one))
  const common = { role: role ?? 'administrator', input: idInput }
  const confirm = defineAction({
    ...common,
    name: 'deletions confirm',
    summary: 'confirm a deletion that another person proposed',
    audit: 'confirm deletion',
    asksPassword: true,
    messages: {
      confirmed: 'Confirmed. The deletion has begun.',
      over,
      own: 'A second person must confirm what you propose.',
    },
    async run(tx, { id }, context: ActionContext<keyof App>) {
      const proposal = await holdProposedDeletion(tx, id, context.at)
      const action = deleting.find(({ name }) => name === proposal?.action)
      if (!proposal || !action) return { unchanged: 'over' }
      if (proposal.reporterId === context.reporterId) return { unchanged: 'own' }
      const input = readInput(action.input, proposal.given)
      if ('problems' in input) return input
      const step = await action.run(tx, input.data, context)
      if ('problems' in step) return step
      if ('unchanged' in step) return { problems: [{ message: messageOf(action, step.unchanged) }] }
      if (step.isPartial !== true) await removeProposedDeletion(tx, id)
      const who = proposal.reporterId ?? 'the command line'
      const detail = `${id}, ${action.name}, proposed by ${who}`
      return { ...step, done: 'confirmed', audit: [detail, ...auditDetails(action, step)] }
    },
  })
  const withdraw = defineAction({
    ...common,
    name: 'deletions withdraw',
    summary: 'withdraw a deletion that waits for a second person',
    audit: 'withdraw deletion',
    messages: { withdrawn: 'Withdrawn. Nothing is deleted.', over },
    async run(tx, { id }, { at }) {
      const proposal = await holdProposedDeletion(tx, id, at)
      if (!proposal) return { unchanged: 'over' }
      await removeProposedDeletion(tx, id)
      return { done: 'withdrawn', audit: id }
    },
  })
  return { confirm, withdraw }
}
