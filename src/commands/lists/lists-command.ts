import type { CommandContext } from '../command.ts'

/** `signalpost lists`, for the table of commands; what it needs is loaded when it is run. */
export const listsCommand = {
  usage: 'lists publish | show NAME',
  summary: 'write the lists for others; tell whether an address, domain or host is listed',
  async run({ args, config, log }: CommandContext) {
    const { parseLists, runLists } = await import('./lists.ts')
    const request = parseLists(args)
    const { withDatabase } = await import('../open-app.ts')
    const told = await withDatabase(config, log, (app) => runLists(request, app))
    process.stdout.write(`${told}\n`)
    return 0
  },
}
