import { z } from 'zod'
import {
  type Action,
  type ActionContext,
  auditDetails,
  defineAction,
  readInput,
} from '../actions.ts'
import type { App } from '../app.ts'
import { holdProposedDeletion, removeProposedDeletion } from '../db/proposed-deletions.ts'
import { refusal } from '../phrase.ts'
import { roles } from '../roles.ts'

const idInput = z.object({ id: z.uuid({ error: refusal('refused.no-proposal') }) })

/**
 * Declares the actions that end the proposal of one of the `proposable` actions. `confirm` runs it
 * in the name of a second person, who has the same right; `withdraw` drops it.
 */
export function proposalActions(proposable: readonly Action[]) {
  const role = roles.findLast((one) => proposable.some((action) => action.role === one))
  const find = (name: string | undefined) => proposable.find((action) => action.name === name)
  const common = { role: role ?? 'administrator', input: idInput }
  const confirm = defineAction({
    ...common,
    name: 'deletions confirm',
    summary: 'confirm what another person proposed',
    audit: 'confirm deletion',
    asksPassword: true,
    async run(tx, { id }, context: ActionContext<keyof App>) {
      const proposal = await holdProposedDeletion(tx, id, context.at)
      const action = find(proposal?.action)
      if (!proposal || !action) return { unchanged: 'over' }
      if (proposal.reporterId === context.reporterId) return { unchanged: 'own' }
      const input = readInput(action.input, proposal.given)
      if ('problems' in input) return input
      const step = await action.run(tx, input.data, context)
      if ('problems' in step) return step
      if ('unchanged' in step) return { problems: [{ message: refusal('refused.no-effect') }] }
      if (step.isPartial !== true) await removeProposedDeletion(tx, id)
      const who = proposal.reporterId ?? 'the command line'
      const name = action.needsSecond ? 'confirm action' : 'confirm deletion'
      const entry = { action: name, detail: `${id}, ${action.name}, proposed by ${who}` } as const
      return { ...step, done: 'confirmed', audit: [entry, ...auditDetails(action, step)] }
    },
  })
  const withdraw = defineAction({
    ...common,
    name: 'deletions withdraw',
    summary: 'withdraw what waits for a second person',
    audit: 'withdraw deletion',
    async run(tx, { id }, { at }) {
      const proposal = await holdProposedDeletion(tx, id, at)
      const proposed = find(proposal?.action)
      if (!proposed) return { unchanged: 'over' }
      await removeProposedDeletion(tx, id)
      const action = proposed.needsSecond !== true ? 'withdraw deletion' : 'withdraw action'
      return { done: 'withdrawn', audit: [{ action, detail: id }] }
    },
  })
  return { confirm, withdraw }
}
