import type { CommandContext } from '../command.ts'

/** `signalpost rules`, for the table of commands; what it needs is loaded when it is run. */
export const rulesCommand = {
  usage:
    'rules list | history | show [VERSION] | facts | check FILE | diff FILE |\n' +
    '    dry-run FILE [--last N] | apply FILE [--note TEXT] | rollback VERSION',
  summary: 'look at the rules that judge, try others on past reports, put them into force',
  async run({ args, config, log }: CommandContext) {
    const { parseRules } = await import('./rules-request.ts')
    const request = parseRules(args)
    const { runRules } = await import('./rules.ts')
    const { withDatabase } = await import('../open-app.ts')
    return runRules(request, (chore) => withDatabase(config, log, chore), process)
  },
}
