import type { Config } from '../config.ts'
import type { Logger } from '../log.ts'

/** The input of a command. */
export type CommandContext = { args: readonly string[]; config: Config; log: Logger }

/** A command in the table of `main.ts`. Resolves to the exit code; throws UsageError. */
export type Command = {
  usage: string
  summary: string
  run: (context: CommandContext) => Promise<number>
}
