import type { App } from '../app.ts'
import { createCounterReader } from '../counters/reader.ts'
import { factDefinitions } from '../verdict/facts/fact-list.ts'
import { createJudge, type Judge } from './judge.ts'
import { openModel } from './live-model.ts'
import { type LiveRules, openRules } from './rules/live-rules.ts'
import { createReputationReader, type ReputationReader } from './reputation-reader.ts'

/** What one process judges with. */
export type OpenJudge = {
  judge: Judge
  reputations: ReputationReader
  rules: Pick<LiveRules, 'state'>
  /** Stops following rules and models. */
  close: () => Promise<void>
}

/** How much of the counters is remembered. */
const KEYS_REMEMBERED_MAX = 200_000

/**
 * Opens the judge of a process, which from then on follows the rules and the model that act. What
 * it asked it remembers for `freshMs`: a verdict may be from so long ago.
 *
 * @throws when the database is away
 */
export async function openJudge(
  app: Pick<App, 'pool' | 'clock' | 'log'> & { config: { listenUrl?: string | undefined } },
  { name, freshMs }: { name: string; freshMs: number },
): Promise<OpenJudge> {
  const { listenUrl } = app.config
  const rules = await openRules({ ...app, listenUrl, name, definitions: factDefinitions })
  const model = await openModel(app).catch(async (error: unknown) => {
    // Who tries again would leave a connection behind each time.
    await rules.close()
    throw error
  })
  const memory = { keysMax: KEYS_REMEMBERED_MAX, freshMs }
  const reputations = createReputationReader(app, memory)
  const counters = createCounterReader(app, memory)
  return {
    judge: createJudge({ counters, reputations, rules, model, clock: app.clock }),
    reputations,
    rules,
    async close() {
      await Promise.all([rules.close(), model.close()])
    },
  }
}
