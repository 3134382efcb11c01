import type { Config } from '../config.ts'
import type { Logger } from '../log.ts'

/** What a command is given. */
export type CommandContext = { args: readonly string[]; config: Config; log: Logger }

/** A command as `main.ts` lists it. It resolves to the exit code, and throws UsageError. */
export type Command = {
  usage: string
  summary: string
  run: (context: CommandContext) => Promise<number>
}
