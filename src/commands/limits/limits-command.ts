import type { CommandContext } from '../command.ts'

/** `signalpost limits`, for the table of commands; what it needs is loaded when it is run. */
export const limitsCommand = {
  usage: 'limits list | set NAME [--attempts N] [--seconds N] [--behavior refuse|shadow|off]',
  summary: 'how often anybody may do something',
  async run({ args, config, log }: CommandContext) {
    const { parseLimits, runLimits } = await import('./limits.ts')
    const request = parseLimits(args)
    const { withDatabase } = await import('../open-app.ts')
    const { told, isDone } = await withDatabase(config, log, (app) => runLimits(request, app))
    process.stdout.write(told)
    return isDone ? 0 : 1
  },
}
