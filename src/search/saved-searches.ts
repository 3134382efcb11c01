import { z } from 'zod'
import { defineAction, textField } from '../actions.ts'
import { removeSavedSearch, saveSearch } from '../db/search.ts'
import { refusal } from '../phrase.ts'
import { parseSearch, SEARCH_CHARS_MAX } from './syntax.ts'

const NAME_CHARS_MAX = 80
/** Maximum number of searches that an operator saves. */
const SAVED_MAX = 50

const nameField = textField(NAME_CHARS_MAX, refusal('refused.search-name'))

/** Saves a search of the signed-in operator under a name, in place of one of the same name. */
export const keepSearch = defineAction({
  name: 'reports save-search',
  summary: 'save a search under a name',
  role: 'viewer',
  audit: 'save search',
  input: z.object({ name: nameField, q: textField(SEARCH_CHARS_MAX, refusal('refused.search')) }),
  async run(tx, { name, q }, { at, reporterId }) {
    const parsed = parseSearch(q)
    if ('problems' in parsed) {
      return { problems: parsed.problems.map((message) => ({ message, field: 'q' })) }
    }
    const search = { reporterId: reporterId ?? '', name, query: q, at }
    if (await saveSearch(tx, search, SAVED_MAX)) return { done: 'saved' }
    return { problems: [{ message: refusal('refused.searches', { max: SAVED_MAX }) }] }
  },
})

/** Deletes a saved search of the signed-in operator. */
export const forgetSearch = defineAction({
  name: 'reports forget-search',
  summary: 'delete a saved search',
  role: 'viewer',
  audit: 'save search',
  input: z.object({ name: nameField }),
  async run(tx, { name }, { reporterId }) {
    const isThere = await removeSavedSearch(tx, reporterId ?? '', name)
    return isThere ? { done: 'forgotten' } : { unchanged: 'unknown' }
  },
})
