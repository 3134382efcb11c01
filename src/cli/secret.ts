import { dateOf } from '../durations.ts'
import { rotateSecret } from '../people/rotate-secret.ts'
import {
  codeOf,
  type Dependence,
  readSecretState,
  type SecretState,
} from '../people/secret-state.ts'
import { textsIn } from '../texts/messages.ts'
import { defineQuery, type Operations } from './command.ts'

const state = defineQuery({
  name: 'secret',
  summary: 'show what depends on SECRET, what was encrypted again, and what needs the previous one',
  print: async (_, app) => describeState(await readSecretState(app)),
})

function describeState({ secrets, isPrepared, change, dependences }: SecretState): string {
  const texts = textsIn('en')
  const known = secrets.map(({ name, inForceAt, endedAt, isHeld }) => {
    const ended = endedAt ? `, ended ${endedAt.toISOString()}` : ''
    return `${name} in force since ${inForceAt.toISOString()}${ended}${isHeld ? '' : ', not set'}`
  })
  const lines = dependences.map((one) => {
    return `${texts(`secret.uses.${codeOf(one)}`)}: ${needOf(one, change !== null)}`
  })
  const changed = change
    ? [
        change.convertedAt
          ? `Encrypted again: ${change.converted.secondSteps} second steps, ` +
            `${change.converted.letters} letters, complete ${change.convertedAt.toISOString()}.`
          : 'Not everything is encrypted again. Run "signalpost secret rotate".',
        ...(change.isLeaked ? ['The previous secret was ended: nobody can use it.'] : []),
        `It can go on ${dateOf(change.fadedAt)}. Before, what is listed with a date would be lost.`,
      ]
    : ['The secret was never changed.']
  const prepared = isPrepared ? ['SECRET is not in force. Run "signalpost secret rotate".'] : []
  return [...known, ...prepared, ...changed, '', ...lines].join('\n')
}

/** What needs the previous secret, in a few words. */
function needOf({ need, until, count, lastUsedAt }: Dependence, isChanged: boolean): string {
  const texts = textsIn('en')
  const word = texts(`secret.needs.${need}`)
  if (!isChanged) return word
  const parts = [
    until ? `until ${dateOf(until)}` : word,
    ...(count ? [`${count} from before the change`] : []),
    ...(lastUsedAt ? [`last used ${lastUsedAt.toISOString()}`] : []),
  ]
  return parts.join(', ')
}

export const operations: Operations = [state, rotateSecret]
