import type { ConsumerChange } from '../../../feedback/change-consumer.ts'
import { readScopes } from '../../../verdict/consumers/consumer-scope.ts'
import { readLimits } from '../../../verdict/consumers/consumer-settings.ts'
import { tellingOf } from '../../consumers/telling-form.ts'
import type { Form } from '../../pages/form.ts'

const DAY_MS = 86_400_000
const DAYS_MAX = 3_650

/** What an administrator asks for by the form of a consumer, or what is wrong with it. */
export function readChange(form: Form, now: Date): ConsumerChange | { fault: string } {
  const asked = form.text('do')
  if (asked === 'resume' || asked === 'stop' || asked === 'enroll') return { do: asked }
  if (asked === 'pause') return readPause(form.text('days') ?? '', now)
  if (asked !== 'set') return { fault: 'Say what is to be done.' }
  const telling = tellingOf(form)
  const scopes = readScopes(form.text('scopes') ?? '')
  const limits = readLimits({
    hourlyMax: form.text('hourlyMax') ?? '',
    connectionsMax: form.text('connectionsMax') ?? '',
    note: form.text('note') ?? '',
  })
  if (!telling) return { fault: 'Choose how it is told, and at least one kind.' }
  if ('faults' in scopes) {
    return { fault: `Neither a block, an AS number nor a domain: ${scopes.faults.join(' ')}` }
  }
  if (!limits) return { fault: 'The limits are whole numbers: 1 to 1000000, and 1 to 50.' }
  return { do: 'set', ...telling, ...limits, scopes }
}

function readPause(days: string, now: Date): ConsumerChange | { fault: string } {
  if (days === '') return { do: 'pause', until: null }
  const count = /^\d{1,4}$/.test(days) ? Number(days) : 0
  if (count < 1 || count > DAYS_MAX) return { fault: 'A pause has 1 to 3650 days.' }
  return { do: 'pause', until: new Date(now.getTime() + count * DAY_MS) }
}
