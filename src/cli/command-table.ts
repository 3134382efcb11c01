import type { App } from '../app.ts'
import type { Config } from '../config.ts'
import { BusyError, UsageError } from '../errors.ts'
import type { Logger } from '../log.ts'
import type { Described, Operations } from './command.ts'

type CommandContext = { args: readonly string[]; config: Config; log: Logger }

/**
 * A command in the table of `main.ts`. Resolves to the exit code; throws UsageError. A command that
 * runs alone reads no settings, so invalid ones do not stop it, and it starts faster.
 */
export type Command = (Described | { describe: () => Promise<readonly Described[]> }) &
  (
    | { run: (context: CommandContext) => Promise<number> }
    | { runAlone: (args: readonly string[]) => Promise<number> }
  )

export async function describe(command: Command): Promise<readonly Described[]> {
  return 'describe' in command ? command.describe() : [command]
}

/** What a subject's module exports. */
type Subject = {
  operations: Operations
  /** Returns why no operation can run, for commands that must not wait for the database. */
  findObstacle?: (config: Config) => Promise<string | undefined>
}

/**
 * Creates a command from the actions and queries of a subject. These, and the code that runs them,
 * are loaded when the command runs: otherwise every command would take 0.1 s longer.
 */
export function operatorCommand(load: () => Promise<Subject>) {
  return {
    describe: async () => {
      const { describeAll } = await import('./command.ts')
      return describeAll((await load()).operations)
    },
    run: async ({ args, config, log }: CommandContext) => {
      const { runOperation } = await import('./command.ts')
      const { operations, findObstacle } = await load()
      const open = async (work: (app: App) => Promise<number>) => {
        const obstacle = await findObstacle?.(config)
        if (obstacle !== undefined) throw new BusyError(obstacle, 0)
        const { withDatabase } = await import('../processes/open-app.ts')
        return withDatabase(config, log, work)
      }
      return runOperation(operations, args, open, process)
    },
  }
}

/** Rejects arguments of a command that takes none. */
export function refuseArguments([first]: readonly string[]): void {
  if (first !== undefined) throw new UsageError([`Unexpected argument "${first}".`])
}
