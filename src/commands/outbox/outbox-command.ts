import type { CommandContext } from '../command.ts'

/** `signalpost outbox`, for the table of commands; what it needs is loaded when it is run. */
export const outboxCommand = {
  usage: 'outbox list [STATE] | release|resend [--to ADDRESS | --letters]',
  summary:
    'the newest mail that leaves, as JSON lines; let held mail leave; send refused mail again',
  async run({ args, config, log }: CommandContext) {
    const { parseOutbox, runOutbox } = await import('./outbox.ts')
    const request = parseOutbox(args)
    const { withDatabase } = await import('../open-app.ts')
    const { told, isDone } = await withDatabase(config, log, (app) => runOutbox(request, app))
    process.stdout.write(told)
    return isDone ? 0 : 1
  },
}
