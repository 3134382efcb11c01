import type { CommandContext } from '../command.ts'

/** `signalpost suppressions`, for the table of commands; what it needs is loaded when it is run. */
export const suppressionsCommand = {
  usage: 'suppressions list [PART] | add ADDRESS --why TEXT [--days N] | remove ADDRESS',
  summary: 'the addresses that we do not write to',
  async run({ args, config, log }: CommandContext) {
    const { parseSuppressions, runSuppressions } = await import('./suppressions.ts')
    const request = parseSuppressions(args)
    const { withDatabase } = await import('../open-app.ts')
    const { told, isDone } = await withDatabase(config, log, (app) => runSuppressions(request, app))
    process.stdout.write(told)
    return isDone ? 0 : 1
  },
}
